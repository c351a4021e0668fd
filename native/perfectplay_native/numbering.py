"""Positions numbered in the order in which they are met, in C: for games that keep something of their own about each.

A dict does the same in six times the memory, and one position at a time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Positions

Numbers = npt.NDArray[np.uint32]

NO_NUMBER = int(lib.PP_NO_NUMBER)


class Numbering:
    """The numbers of positions: 0, 1, 2 and so on. Not thread-safe.

    >>> numbering = Numbering()
    >>> numbers, fresh = numbering.enter(np.array([70, 30, 70, 50], dtype=np.uint64))
    >>> numbers.tolist(), fresh.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    >>> numbering.find(50), numbering.find(60), len(numbering)
    (2, None, 3)
    """

    __slots__ = ("_c",)

    def __init__(self) -> None:
        made = lib.pp_numbering_new()
        if made == ffi.NULL:
            raise MemoryError
        self._c = ffi.gc(made, lib.pp_numbering_free)

    def __len__(self) -> int:
        return int(lib.pp_numbering_count(self._c))

    def enter(self, positions: Positions) -> tuple[Numbers, Numbers]:
        """The number of each position, a new one where it has none; and where each new one first stands."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        numbers, fresh = np.empty(len(positions), dtype=np.uint32), np.empty(len(positions), dtype=np.uint32)
        new = lib.pp_numbering_enter(
            self._c,
            ffi.from_buffer("uint64_t[]", positions),
            len(positions),
            ffi.from_buffer("uint32_t[]", numbers),
            ffi.from_buffer("uint32_t[]", fresh),
        )
        if new > len(positions):
            raise MemoryError
        return numbers, fresh[:new]

    def find(self, position: int) -> int | None:
        """The number of a position; None if it has none."""
        number: int = lib.pp_numbering_find(self._c, position)
        return None if number == NO_NUMBER else number

    def find_many(self, positions: Positions) -> Numbers:
        """The number of each position; NO_NUMBER for one that has none."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        numbers = np.empty(len(positions), dtype=np.uint32)
        lib.pp_numbering_find_many(
            self._c,
            ffi.from_buffer("uint64_t[]", positions),
            len(positions),
            ffi.from_buffer("uint32_t[]", numbers),
        )
        return numbers

    def position(self, number: int) -> int:
        """The position of a number that was given; IndexError for any other."""
        if not 0 <= number < len(self):
            raise IndexError(f"{number} is not the number of a position: {len(self):,} have been given")
        return int(lib.pp_numbering_keys(self._c)[number])

    def positions(self, numbers: npt.NDArray[np.integer]) -> Positions:
        """The position of each number; all of them must have been given, IndexError otherwise."""
        given = ffi.buffer(lib.pp_numbering_keys(self._c), 8 * len(self)) if len(self) else b""
        found: Positions = np.frombuffer(given, dtype=np.uint64)[numbers]
        return found
