"""Only what pyproject.toml cannot say: the C extension."""

from setuptools import setup

setup(cffi_modules=["build_kernel.py:ffi"])
