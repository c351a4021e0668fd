"""Builds the Gobblet kernel."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent

ffi = game_ffi(
    "perfectplay_gobblet._kernel",
    sources=[f"{HERE}/kernel.c", f"{HERE}/index.c"],
    kernels=["gobblet_kernel"],
    include_dirs=[str(HERE)],
    depends=[f"{HERE}/index.h"],
)
