"""The same game with a kernel: texts and readable rules from rules.py, and the functions for the engine in C."""

from perfectplay import hookimpl
from perfectplay_native.kernel import Kernel

from perfectplay_tapatan._kernel import ffi, lib
from perfectplay_tapatan.rules import apply, decode, encode, format_move, moves, start, status, tier, valid

__all__ = ["apply", "decode", "encode", "format_move", "kernel", "moves", "start", "status", "tier", "valid"]


@hookimpl
def kernel() -> Kernel:
    return Kernel(ffi, lib.tapatan_kernel)
