"""Builds the Dōbutsu shōgi kernels."""

from perfectplay_native.build import game_ffi

HERE = "games/dobutsu/perfectplay_dobutsu"

ffi = game_ffi(
    "perfectplay_dobutsu._kernel",
    sources=[f"{HERE}/{name}.c" for name in ("index", "kernel", "tables")],
    kernels=["dobutsu_kernel", "dobutsu_enumerated_kernel"],
    include_dirs=[HERE],
    depends=[f"{HERE}/{name}.h" for name in ("board", "index", "steps")],
)
