"""Builds the Kalah kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["kalah_kernel"], header="kalah.h")
