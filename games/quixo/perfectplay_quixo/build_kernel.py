"""Builds the Quixo kernel."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(__file__, kernels=["quixo_kernel"], header="quixo.h")
