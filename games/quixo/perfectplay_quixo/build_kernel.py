"""Builds the Quixo kernel."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_quixo._kernel",
    sources=[str(HERE / name) for name in ("index.c", "kernel.c", "lines.c")],
    kernels=["quixo_kernel"],
    cdef=(HERE / "quixo.h").read_text(encoding="utf-8"),
    include_dirs=[str(HERE)],
    depends=[str(HERE / "board.h"), str(HERE / "quixo.h")],
)
