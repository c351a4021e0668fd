"""Declares the C extension, which pyproject.toml cannot do."""

from setuptools import setup

setup(cffi_modules=["perfectplay_tapatan/build_kernel.py:ffi"])
