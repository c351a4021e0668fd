"""Builds the Kalah kernel."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_kalah._kernel",
    sources=[str(HERE / "kernel.c")],
    kernels=["kalah_kernel"],
    cdef=(HERE / "kalah.h").read_text(encoding="utf-8"),
    include_dirs=[str(HERE)],
    depends=[str(HERE / "kalah.h")],
)
