"""Builds the Dōbutsu shōgi kernels."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["dobutsu_kernel", "dobutsu_enumerated_kernel"])
