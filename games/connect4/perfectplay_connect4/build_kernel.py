"""Builds the Connect Four kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["connect4_kernel"], header="connect4.h")
