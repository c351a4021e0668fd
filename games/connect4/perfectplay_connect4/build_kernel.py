"""Builds the Connect Four kernel."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_connect4._kernel",
    sources=[str(HERE / "kernel.c")],
    kernels=["connect4_kernel"],
    cdef=(HERE / "connect4.h").read_text(encoding="utf-8"),
    include_dirs=[str(HERE)],
    depends=[str(HERE / "connect4.h")],
)
