"""Builds the Gobblet kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["gobblet_kernel"])
