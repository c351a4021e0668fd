"""Builds the Dōbutsu shōgi kernels."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_dobutsu._kernel",
    sources=[f"{HERE}/{name}.c" for name in ("index", "kernel", "tables")],
    kernels=["dobutsu_kernel", "dobutsu_enumerated_kernel"],
    include_dirs=[str(HERE)],
    depends=[f"{HERE}/{name}.h" for name in ("board", "index", "steps")],
)
