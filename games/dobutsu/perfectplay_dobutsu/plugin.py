"""Dōbutsu shōgi as a perfectplay plugin: rules from the C kernel, texts and board from here."""

from __future__ import annotations

from perfectplay import hookimpl
from perfectplay_dobutsu._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

_kernel = Kernel(ffi, lib.dobutsu_kernel)


@hookimpl
def kernel() -> Kernel:
    return _kernel
