"""Builds the Morris kernel, with the functions declared in morris.h for Python."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path(__file__).parent
API = (HERE / "morris.h").read_text()

ffi = game_ffi(
    "perfectplay_morris._kernel",
    sources=[str(HERE / name) for name in ("board.c", "index.c", "kernel.c")],
    kernels=["morris_kernel"],
    cdef=API[API.index("/* cdef */") : API.index("/* end cdef */")],
    include_dirs=[str(HERE)],
    depends=sorted(str(path) for path in HERE.glob("*.h")),
)
