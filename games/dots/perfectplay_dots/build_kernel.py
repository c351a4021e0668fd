"""Builds the dots-and-boxes kernel."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_dots._kernel",
    sources=[str(HERE / "kernel.c")],
    kernels=["dots_kernel"],
    cdef=(HERE / "dots.h").read_text(encoding="utf-8"),
    include_dirs=[str(HERE)],
    depends=[str(HERE / "dots.h")],
)
