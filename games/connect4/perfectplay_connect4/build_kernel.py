"""Builds the kernel against the header that perfectplay ships."""

from pathlib import Path

from perfectplay_native.build import game_ffi

PACKAGE = Path("games/connect4/perfectplay_connect4")

ffi = game_ffi(
    "perfectplay_connect4._kernel",
    sources=[str(PACKAGE / "kernel.c")],
    kernels=["connect4_kernel"],
    cdef=(PACKAGE / "connect4.h").read_text(encoding="utf-8"),
    include_dirs=[str(PACKAGE)],
    depends=[str(PACKAGE / "connect4.h")],
)
