"""Builds the Quantik core."""

from perfectplay_native.build import game_ffi

ffi = game_ffi(
    "perfectplay_quantik._core",
    sources=["games/quantik/perfectplay_quantik/core.c"],
)
