"""Arrays of positions: sorted sets, dense numbering, and kernel functions applied to many positions in one call.

All of it runs in C and releases the interpreter lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.errors import EngineOutOfMemory
from perfectplay_native.kernel import Kernel

Positions = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]
_Number = TypeVar("_Number", bound=np.integer[Any])

NO_NUMBER = int(lib.PP_NO_NUMBER)
_NO_ROOM = int(ffi.cast("size_t", -1))
_SHORT = 256  # below this average length, sorting everything is faster than merging pairs


def pointer(ctype: str, array: npt.NDArray[Any]) -> Any:
    """Return the memory of an array as a C array, for the modules of this package."""
    return ffi.from_buffer(ctype, array)


def _keys(array: Positions) -> Any:
    return ffi.from_buffer("uint64_t[]", array)


# ---- sorted sets ----


def sort_distinct(positions: Positions) -> Positions:
    """Sort an array in place and remove duplicates. The result is a view of the array.

    >>> sort_distinct(np.array([7, 3, 7, 2**63], dtype=np.uint64)).tolist()
    [3, 7, 9223372036854775808]
    """
    buffer = np.empty_like(positions)
    return positions[: lib.pp_sort_distinct(_keys(positions), len(positions), _keys(buffer))]


def union(sets: Sequence[Positions]) -> Positions:
    """Return the union of sorted sets: a new array, unless only one set is not empty.

    >>> union([np.array(each, dtype=np.uint64) for each in ([1, 4], [2, 4], [3])]).tolist()
    [1, 2, 3, 4]
    """
    rest = [each for each in sets if len(each)]
    if len(rest) > 1 and sum(map(len, rest)) < _SHORT * len(rest):
        return sort_distinct(np.concatenate(rest))
    if len(rest) < 2:
        return rest[0] if rest else np.empty(0, dtype=np.uint64)
    # In pairs, so that each position is copied only log2(len(sets)) times, back and forth between two buffers, because
    # the system has to clear the pages of a new one.
    target, source = np.empty(sum(map(len, rest)), dtype=np.uint64), np.empty(0, dtype=np.uint64)
    while len(rest) > 1:
        merged, place = [], 0
        for a, b in zip_longest(rest[::2], rest[1::2], fillvalue=source[:0]):
            count = lib.pp_union(_keys(a), len(a), _keys(b), len(b), _keys(target[place:]))
            merged.append(target[place : place + count])
            place += count
        rest = merged
        target, source = source if len(source) else np.empty(place, dtype=np.uint64), target
    return rest[0]


def difference(positions: Positions, others: Sequence[Positions]) -> Positions:
    """Return a sorted set without the members of other sorted sets: a new array, if there are others.

    >>> difference(np.array([1, 2, 3, 4], dtype=np.uint64), [np.array(each, dtype=np.uint64) for each in ([0, 2], [4])])
    array([1, 3], dtype=uint64)
    """
    others = [other for other in others if len(other)]
    if others:
        positions = positions.copy()
    for other in others:
        positions = positions[: lib.pp_difference(_keys(positions), len(positions), _keys(other), len(other))]
    return positions


# ---- numbering ----


class Numbering:
    """Numbers positions 0, 1, 2 … in the order in which they are added. Not thread-safe.

    A dict needs six times the memory, and handles one position at a time.

    >>> numbering = Numbering()
    >>> numbers, first = numbering.add(np.array([70, 30, 70, 50], dtype=np.uint64))
    >>> numbers.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    >>> numbering.find(50), numbering.find(60), len(numbering)
    (2, None, 3)
    """

    __slots__ = ("_c",)

    def __init__(self) -> None:
        numbering = lib.pp_numbering_new()
        if numbering == ffi.NULL:
            raise MemoryError
        self._c = ffi.gc(numbering, lib.pp_numbering_free)

    def __len__(self) -> int:
        return int(lib.pp_numbering_count(self._c))

    def add(self, positions: Positions) -> tuple[Numbers, Numbers]:
        """Number the positions that have no number yet.

        Returns the number of each position, and the index in `positions` of each new one. Raises MemoryError.
        """
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        numbers, first = np.empty(len(positions), dtype=np.uint32), np.empty(len(positions), dtype=np.uint32)
        count = lib.pp_numbering_add(
            self._c, _keys(positions), len(positions), pointer("uint32_t[]", numbers), pointer("uint32_t[]", first)
        )
        if count == _NO_ROOM:
            raise MemoryError
        return numbers, first[:count]

    def find(self, position: int) -> int | None:
        """Return the number of a position, or None if it has none."""
        number: int = lib.pp_numbering_find(self._c, position)
        return None if number == NO_NUMBER else number

    def find_many(self, positions: Positions) -> Numbers:
        """Return the number of each position, NO_NUMBER if it has none."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        numbers = np.empty(len(positions), dtype=np.uint32)
        lib.pp_numbering_find_many(self._c, _keys(positions), len(positions), pointer("uint32_t[]", numbers))
        return numbers

    def position(self, number: int) -> int:
        """Return the position with a number. Raises IndexError if there is none."""
        if not 0 <= number < len(self):
            raise IndexError(f"no position has the number {number}; {len(self):,} positions are numbered")
        return int(lib.pp_numbering_keys(self._c)[number])

    def positions(self, numbers: npt.NDArray[np.integer]) -> Positions:
        """Return the position of each number. Raises IndexError if there is none."""
        keys = ffi.buffer(lib.pp_numbering_keys(self._c), 8 * len(self)) if len(self) else b""
        found: Positions = np.frombuffer(keys, dtype=np.uint64)[numbers]
        return found


# ---- kernel functions for many positions ----

DIGEST_FUNCTIONS = ("moves", "apply", "canonicalize", "status", "rank", "expand", "retract", "parents")
"""The kernel functions in the order of their digests."""


def children_of_many(kernel: Kernel, positions: Positions, *, room: int) -> tuple[Positions, int]:
    """Expand as many of the positions as `room` children allow.

    Returns the canonical children, and the number of positions expanded. Raises EngineOutOfMemory.
    """
    positions = np.ascontiguousarray(positions, dtype=np.uint64)
    children = np.empty(max(room, kernel.c.max_moves), dtype=np.uint64)
    used = ffi.new("size_t *")
    with kernel.callback_errors():
        count = lib.pp_children_of_many(
            kernel.c, _keys(positions), positions.size, used, _keys(children), children.size
        )
    if count == _NO_ROOM:
        raise EngineOutOfMemory("not enough memory for the moves of one position")
    return children[:count], used[0]


def tiers_of_many(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """Return the tier of each position."""
    return _map_positions(kernel, lib.pp_tiers_of_many, positions, "uint32_t[]", np.uint32)


def movers_of_many(kernel: Kernel, positions: Positions) -> npt.NDArray[np.int8] | None:
    """Return the player to move in each position, 0 for the first player, or None if the kernel has no `mover`."""
    if kernel.players == 1:
        return np.zeros(positions.shape, dtype=np.int8)
    if not kernel.has("mover"):
        return None
    return _map_positions(kernel, lib.pp_movers_of_many, positions, "int8_t[]", np.int8)


def canonicalize_many(kernel: Kernel, positions: Positions) -> Positions:
    """Return the canonical form of each valid position."""
    return _map_positions(kernel, lib.pp_canonicalize_many, positions, "pp_position[]", np.uint64)


def rule_codes(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """Return the code of each position that the rules alone settle (finished, won in one, no position), else 0."""
    return _map_positions(kernel, lib.pp_rule_codes, positions, "uint32_t[]", np.uint32)


def one_ply_codes(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """Return `rule_codes`, extended by the values of positions whose children the rules all settle."""
    return _map_positions(kernel, lib.pp_one_ply_codes, positions, "uint32_t[]", np.uint32)


def one_ply_code(kernel: Kernel, position: int) -> int:
    """Return the code of one position as `one_ply_codes` does, without the overhead of numpy."""
    codes = ffi.new("uint32_t[1]")
    with kernel.callback_errors():
        if lib.pp_one_ply_codes(kernel.c, ffi.new("pp_position[1]", (position,)), 1, codes):
            raise EngineOutOfMemory("not enough memory for the moves of one position")
    return int(codes[0])


def kernel_digests(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint64]:
    """Return a digest of the results of each of DIGEST_FUNCTIONS for each position. Thread-safe for a C kernel."""
    digests = np.empty((positions.size, lib.PP_DIGESTS), dtype=np.uint64)
    if lib.pp_digests(kernel.c, _keys(positions), positions.size, pointer("uint64_t[]", digests)):
        raise MemoryError
    return digests


def _map_positions(
    kernel: Kernel, function: Any, positions: Positions, ctype: str, dtype: type[_Number]
) -> npt.NDArray[_Number]:
    """Apply a function of the engine to all positions; `ctype` and `dtype` are the types of its results."""
    positions = np.ascontiguousarray(positions, dtype=np.uint64)
    results = np.empty(positions.shape, dtype=dtype)
    with kernel.callback_errors():
        failed = function(kernel.c, _keys(positions), positions.size, pointer(ctype, results))
    if failed:
        raise EngineOutOfMemory("not enough memory for the moves of one position")
    return results
