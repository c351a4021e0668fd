"""Builds the dots-and-boxes kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["dots_kernel"], header="dots.h")
