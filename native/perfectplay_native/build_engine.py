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

# A game in plain Python is a kernel whose functions call back; python_kernel.py implements them.
ffi.cdef("""
    extern "Python" {
        int pp_python_valid(const pp_kernel *, pp_position);
        pp_position pp_python_start(const pp_kernel *);
        size_t pp_python_moves(const pp_kernel *, pp_position, pp_move *);
        pp_position pp_python_apply(const pp_kernel *, pp_position, pp_move);
        pp_position pp_python_undo(const pp_kernel *, pp_position, pp_move);
        pp_position pp_python_canonicalize(const pp_kernel *, pp_position);
        int pp_python_status(const pp_kernel *, pp_position);
        int pp_python_mover(const pp_kernel *, pp_position);
        int pp_python_score(const pp_kernel *, pp_position);
        uint32_t pp_python_tier(const pp_kernel *, pp_position);
        size_t pp_python_children(const pp_kernel *, pp_position, pp_position *);
        size_t pp_python_parents(const pp_kernel *, pp_position, pp_position *);
        void pp_python_study(const pp_kernel *, const pp_position *, size_t);
        int pp_python_tiers(const pp_kernel *, const pp_position *, size_t, uint32_t *);
    }
""")
