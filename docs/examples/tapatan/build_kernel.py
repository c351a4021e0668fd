"""Builds the kernel against the header that perfectplay ships."""

from perfectplay_native.build import game_ffi

ffi = game_ffi("perfectplay_tapatan._kernel", sources=["perfectplay_tapatan/kernel.c"], kernels=["tapatan_kernel"])
