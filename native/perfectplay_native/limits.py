"""The limits of positions, moves, tiers and scores. The C headers define them; Python code imports them from here."""

from __future__ import annotations

from perfectplay_native._engine import lib

ABI = int(lib.PP_ABI)
"""The version of perfectplay.h that this engine was built with."""

NO_POSITION = int(lib.PP_NO_POSITION)
"""The 64-bit value that means "no position"."""
MAX_POSITION = NO_POSITION - 1
MAX_MOVE = (1 << 32) - 1

MAX_EDGES = int(lib.PP_MAX_EDGES)
"""The largest number of moves or parents of one position that a kernel may declare."""
MAX_SCORE = int(lib.PP_MAX_SCORE)
"""Scores range from -MAX_SCORE to MAX_SCORE."""

INDEX_BITS = int(lib.PP_INDEX_BITS)
MAX_TIER_SIZE = (1 << INDEX_BITS) - 1
"""The largest number of slots in one tier."""
MAX_TIERS = int(lib.PP_MAX_TIERS)
"""The largest number of tiers."""
MAX_TIER = MAX_TIERS - 1
"""The largest tier number."""

BLOCK_BITS = int(lib.PP_BLOCK_BITS)
BLOCK_SLOTS = 1 << BLOCK_BITS
"""Values and keys are stored in blocks of this many positions; the last block of a tier may be shorter."""

# A game in plain Python has lower limits, because the engine allocates memory for every tier and every move.
MAX_PYTHON_TIERS = 1 << 16
MAX_PYTHON_MOVES = 4096
