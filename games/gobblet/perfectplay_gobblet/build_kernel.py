"""Builds the Gobblet kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(
    "perfectplay_gobblet._kernel",
    sources=["games/gobblet/perfectplay_gobblet/kernel.c"],
    kernels=["gobblet_kernel"],
)
