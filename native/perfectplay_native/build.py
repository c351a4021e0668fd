"""Builds kernels with cffi in API mode, for the bundled games and for third-party plugins alike.

The whole build script of a plugin, build_kernel.py in its package beside kernel.c:

    from perfectplay_native.build import game_ffi
    ffi = game_ffi(__file__, kernels=["my_kernel"])

This module imports only cffi, so it also runs before the engine is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cffi import FFI

INCLUDE = Path(__file__).with_name("include")

# The functions of a kernel have fixed parameters, so an unused one is no mistake.
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wno-unused-parameter"]
# The result must run on any machine of the architecture, so there is no -march=native.
COMPILE_ARGS = ["-O3", "-std=c11", *WARNINGS, "-fno-semantic-interposition"]


def read_declarations(header: Path) -> str:
    """Return the declarations of a header as cffi reads them.

    cffi has no preprocessor: of a constant it needs the name only, and other directives are left out. So are inline
    functions, each of which must be on one line. A header with more than that marks the part for cffi by the comments
    "cdef" and "end cdef".
    """
    text = header.read_text(encoding="utf-8")
    if "/* cdef */" in text:
        text = text[text.index("/* cdef */") : text.index("/* end cdef */")]
    lines = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["#define"] and len(words) > 2:
            lines.append(f"#define {words[1]} ...")
        elif not line.startswith(("#", "static inline ")):
            lines.append(line)
    return "\n".join(lines) + "\n"


def game_ffi(script: str, *, kernels: Sequence[str], header: str = "", compile_args: Sequence[str] = ()) -> FFI:
    """Return an FFI that builds the module `_kernel` of the package that contains the build script.

    It compiles all C files of the package's directory. Its lib has the named `kernels` (`const pp_kernel`) and
    everything declared in `header`, a header of the package. `compile_args` follow the compiler's default arguments.
    """
    directory = Path(script).parent  # stays relative, as setuptools requires of sources
    package = directory.resolve()
    name = package.name
    while (package.parent / "__init__.py").exists():
        package = package.parent
        name = f"{package.name}.{name}"
    return kernel_ffi(
        f"{name}._kernel",
        sources=sorted(str(path) for path in directory.glob("*.c") if path.name != "_kernel.c"),
        kernels=kernels,
        header=directory / header if header else None,
        depends=sorted(str(path) for path in directory.glob("*.h")),
        compile_args=compile_args,
    )


def kernel_ffi(
    module: str,
    *,
    sources: Sequence[str],
    kernels: Sequence[str] = (),
    header: Path | None = None,
    depends: Sequence[str] = (),
    compile_args: Sequence[str] = (),
) -> FFI:
    """Return an FFI that builds `module` from C `sources`, with the named kernels and the `header` in its lib.

    The compiler includes the header, so it checks the declarations.
    """
    headers = [INCLUDE / "perfectplay.h", *([header] if header else [])]
    declarations = "".join(f"extern const pp_kernel {name};\n" for name in kernels)
    return _module_ffi(
        module,
        cdef="".join(map(read_declarations, headers)) + declarations,
        source="".join(f'#include "{header.name}"\n' for header in headers) + declarations,
        sources=list(sources),
        include_dirs=[str(header.parent) for header in headers],
        depends=[*sorted(map(str, INCLUDE.rglob("*.h"))), *depends],
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
        depends=sorted(map(str, [*INCLUDE.rglob("*.h"), *directory.glob("*.h")])),
        extra_compile_args=[*COMPILE_ARGS, *compile_args],
    )


def _module_ffi(module: str, *, cdef: str, source: str, **options: list[str]) -> FFI:
    ffi = FFI()
    ffi.cdef(cdef)
    ffi.set_source(module, source, **options)
    return ffi
