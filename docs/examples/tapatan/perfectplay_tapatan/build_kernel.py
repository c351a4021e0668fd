"""Builds the kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["tapatan_kernel"])
