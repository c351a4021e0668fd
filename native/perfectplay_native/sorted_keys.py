"""Sets of positions as sorted arrays, in C. All of it lets other threads run meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Positions

SHORT = 256
"""Arrays that are shorter than this on average are joined sooner by sorting than pair by pair."""


def _pointer(array: Positions) -> Any:
    return ffi.from_buffer("uint64_t[]", array)


def sort_distinct(positions: Positions) -> Positions:
    """The positions sorted, each once. The array given is sorted in place, and is the memory of the answer.

    >>> sort_distinct(np.array([7, 3, 7, 2**63], dtype=np.uint64)).tolist()
    [3, 7, 9223372036854775808]
    """
    room = np.empty_like(positions)
    return positions[: lib.pp_sort_distinct(_pointer(positions), len(positions), _pointer(room))]


def union(sets: Sequence[Positions]) -> Positions:
    """What is in any of some sorted arrays, sorted, each once: a new array, unless there is only one.

    >>> union([np.array(each, dtype=np.uint64) for each in ([1, 4], [2, 4], [3])]).tolist()
    [1, 2, 3, 4]
    """
    rest = [each for each in sets if len(each)]
    if len(rest) > 1 and sum(map(len, rest)) < SHORT * len(rest):
        return sort_distinct(np.concatenate(rest))
    while len(rest) > 1:  # pairs of neighbours, so that each position is copied no more often than need be
        pairs = zip(rest[::2], rest[1::2], strict=False)
        rest = [*(_union(a, b) for a, b in pairs), *(rest[-1:] if len(rest) % 2 else [])]
    return rest[0] if rest else np.empty(0, dtype=np.uint64)


def _union(a: Positions, b: Positions) -> Positions:
    both = np.empty(len(a) + len(b), dtype=np.uint64)
    return both[: lib.pp_union(_pointer(a), len(a), _pointer(b), len(b), _pointer(both))]


def without(positions: Positions, known: Sequence[Positions]) -> Positions:
    """A sorted array but for what is in others: a new array, if there are others.

    >>> without(np.array([1, 2, 3, 4], dtype=np.uint64), [np.array(each, dtype=np.uint64) for each in ([0, 2], [4])])
    array([1, 3], dtype=uint64)
    """
    if known:
        positions = positions.copy()
    for each in known:
        kept = lib.pp_without(_pointer(positions), len(positions), _pointer(each), len(each))
        positions = positions[:kept]
    return positions
