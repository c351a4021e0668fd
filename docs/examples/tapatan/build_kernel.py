"""Builds the kernel against perfectplay's header."""

from perfectplay_native.build import game_ffi

ffi = game_ffi("perfectplay_tapatan._kernel", sources=["perfectplay_tapatan/kernel.c"], kernels=["tapatan_kernel"])
