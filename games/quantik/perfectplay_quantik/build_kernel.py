"""Builds the Quantik kernel and the functions that core.h declares for Python."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent
API = (HERE / "core.h").read_text()

ffi = game_ffi(
    "perfectplay_quantik._kernel",
    sources=[str(HERE / name) for name in ("canonical384.c", "core.c", "kernel.c", "pairs.c")],
    kernels=["quantik_kernel"],
    cdef=API[API.index("/* cdef */") : API.index("/* end cdef */")],
    include_dirs=[str(HERE)],
    depends=sorted(str(path) for path in HERE.glob("*.h")),
)
