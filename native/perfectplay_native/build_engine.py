"""Builds the engine: every C file in src/, with the functions declared in the headers src/*_api.h."""

from pathlib import Path

from perfectplay_native.build import engine_ffi

ffi = engine_ffi("perfectplay_native._engine", Path("native/perfectplay_native/src"))

# The kernel of a game in plain Python consists of callbacks; python_kernel.py implements them.
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
        void pp_python_expand_many(const pp_kernel *, const pp_position *, size_t);
        int pp_python_tiers_of_many(const pp_kernel *, const pp_position *, size_t, uint32_t *);
    }
""")
