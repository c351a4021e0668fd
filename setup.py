"""Only what pyproject.toml cannot say: the C extensions. Their build scripts run from this directory."""

import sys

from setuptools import setup

sys.path.insert(0, "native")  # so that build scripts can import perfectplay_native.build, as a third party's do

setup(
    cffi_modules=[
        "native/perfectplay_native/build_engine.py:ffi",
        "games/connect4/perfectplay_connect4/build_kernel.py:ffi",
        "games/dobutsu/perfectplay_dobutsu/build_kernel.py:ffi",
        "games/dots/perfectplay_dots/build_kernel.py:ffi",
        "games/gobblet/perfectplay_gobblet/build_kernel.py:ffi",
        "games/kalah/perfectplay_kalah/build_kernel.py:ffi",
        "games/morris/perfectplay_morris/build_kernel.py:ffi",
        "games/quantik/perfectplay_quantik/build_core.py:ffi",
        "games/quixo/perfectplay_quixo/build_kernel.py:ffi",
    ]
)
