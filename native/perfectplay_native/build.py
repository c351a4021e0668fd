"""Builds kernels with cffi, in API mode: for our own games and for a third party's alike.

A plugin's whole build script:

    from perfectplay_native.build import game_ffi
    ffi = game_ffi("my_game._kernel", sources=["my_game/kernel.c"], kernels=["my_kernel"])

It imports nothing but cffi, so that it also runs before the engine itself is built.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).with_name("include")

# What ships must run on any machine of the architecture: no -march=native.
COMPILE_ARGS = ["-O3", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-fno-semantic-interposition"]


def kernel_cdef() -> str:
    """The declarations of perfectplay.h as cffi reads them: without inline functions, constants by name alone."""
    text = re.sub(r"/\*.*?\*/", "", (INCLUDE / "perfectplay.h").read_text(), flags=re.DOTALL)
    text = re.sub(r"^static inline (?:[^\n]*}|.*?^})\n", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^#(?!define PP_\w+ ).*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^(#define PP_\w+) .*", r"\1 ...", text, flags=re.MULTILINE)


def game_ffi(
    module: str,
    *,
    sources: Sequence[str],
    kernels: Sequence[str] = (),
    cdef: str = "",
    include_dirs: Sequence[str] = (),
    depends: Sequence[str] = (),
    compile_args: Sequence[str] = (),
) -> FFI:
    """An FFI that builds `module` from C `sources`, with the named `kernels` (of type `const pp_kernel`) in its lib.

    `cdef` declares whatever else Python should call; the same text is compiled as C, so it is checked. `compile_args`
    come after the compiler's usual arguments.
    """
    ffi = FFI()
    declarations = cdef + "".join(f"extern const pp_kernel {name};\n" for name in kernels)
    ffi.cdef(kernel_cdef() + declarations)
    ffi.set_source(
        module,
        f'#include "perfectplay.h"\n{declarations}',
        sources=list(sources),
        include_dirs=[str(INCLUDE), *include_dirs],
        depends=[str(INCLUDE / "perfectplay.h"), *depends],
        extra_compile_args=[*COMPILE_ARGS, *compile_args],
    )
    return ffi
