"""Builds the engine: every C file in src/, with the functions declared in src/api.h for Python."""

from pathlib import Path

from perfectplay_native.build import game_ffi

HERE = Path("native/perfectplay_native/src")
API = (HERE / "api.h").read_text()

ffi = game_ffi(
    "perfectplay_native._engine",
    sources=sorted(str(path) for path in HERE.glob("*.c")),
    cdef=API[API.index("/* cdef */") : API.index("/* end cdef */")],
    include_dirs=[str(HERE)],
    depends=sorted(str(path) for path in HERE.glob("*.h")),
)
