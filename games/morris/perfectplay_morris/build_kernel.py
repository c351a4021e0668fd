"""Builds the Morris kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["morris_kernel"], header="morris.h")
