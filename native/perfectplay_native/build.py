"""Builds kernels with cffi in API mode, for the bundled games and for third-party plugins alike.

The whole build script of a plugin:

    from perfectplay_native.build import game_ffi
    ffi = game_ffi("my_game._kernel", sources=["my_game/kernel.c"], kernels=["my_kernel"])

This module imports only cffi, so it also runs before the engine is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).with_name("include")

# The result must run on any machine of the architecture, so there is no -march=native.
COMPILE_ARGS = ["-O3", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-fno-semantic-interposition"]


def read_declarations(header: Path) -> str:
    """Return the declarations of a header as cffi reads them.

    cffi has no preprocessor: of a constant it needs the name only, and other directives are left out. So are inline
    functions, each of which must be on one line.
    """
    lines = []
    for line in header.read_text().splitlines():
        words = line.split()
        if words[:1] == ["#define"] and len(words) > 2:
            lines.append(f"#define {words[1]} ...")
        elif not line.startswith(("#", "static inline ")):
            lines.append(line)
    return "\n".join(lines) + "\n"


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
    """Return an FFI that builds `module` from C `sources`, with the named `kernels` (`const pp_kernel`) in its lib.

    `cdef` declares additional C functions for Python. The same text is compiled as C, so the compiler checks it.
    `compile_args` follow the default arguments of the compiler.
    """
    declarations = cdef + "".join(f"extern const pp_kernel {name};\n" for name in kernels)
    return _module_ffi(
        module,
        cdef=read_declarations(INCLUDE / "perfectplay.h") + declarations,
        source=f'#include "perfectplay.h"\n{declarations}',
        sources=list(sources),
        include_dirs=[str(INCLUDE), *include_dirs],
        depends=[str(INCLUDE / "perfectplay.h"), *depends],
        extra_compile_args=[*COMPILE_ARGS, *compile_args],
    )


def engine_ffi(module: str, directory: Path, *, compile_args: Sequence[str] = ()) -> FFI:
    """Return an FFI that builds the engine in `directory`, with the functions of its `*_api.h` headers in its lib."""
    # engine_api.h first, because the others use its types.
    headers = sorted(directory.glob("*_api.h"), key=lambda path: (path.name != "engine_api.h", path.name))
    return _module_ffi(
        module,
        cdef="".join(map(read_declarations, [INCLUDE / "perfectplay.h", *headers])),
        source="".join(f'#include "{header.name}"\n' for header in headers),
        sources=sorted(str(path) for path in directory.glob("*.c")),
        include_dirs=[str(INCLUDE), str(directory)],
        depends=sorted(str(path) for path in [INCLUDE / "perfectplay.h", *directory.glob("*.h")]),
        extra_compile_args=[*COMPILE_ARGS, *compile_args],
    )


def _module_ffi(module: str, *, cdef: str, source: str, **options: list[str]) -> FFI:
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.set_source(module, source, **options)
    return ffi
