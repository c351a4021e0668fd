"""Builds the Quantik kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["quantik_kernel"], header="core.h")
