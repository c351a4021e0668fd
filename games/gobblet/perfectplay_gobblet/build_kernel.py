"""Builds the Gobblet kernel."""

from perfectplay_native.build import game_ffi

HERE = "games/gobblet/perfectplay_gobblet"

ffi = game_ffi(
    "perfectplay_gobblet._kernel",
    sources=[f"{HERE}/kernel.c", f"{HERE}/layers.c"],
    kernels=["gobblet_kernel"],
    include_dirs=[HERE],
    depends=[f"{HERE}/layers.h"],
)
