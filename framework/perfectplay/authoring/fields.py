"""Packs named fields into the one integer that a position is.

fields = Fields(ring=(8, 3), centre=3)     # eight numbers below 3, then one number below 3

            17 16 15 14        3  2  1  0
position = [ctr ][ring 7] … [ring 1][ring 0]      the first field is lowest
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

POSITION_BITS = 64


class Fields:
    """A layout: for each field how many values it has, or (how many numbers, how many values each).

    >>> fields = Fields(ring=(8, 3), centre=3)
    >>> position = fields.pack(ring=[1, 1, 1, 1, 2, 2, 2, 2], centre=0)
    >>> fields.unpack(position)
    Fields(ring=(1, 1, 1, 1, 2, 2, 2, 2), centre=0)
    >>> fields.bits
    18
    """

    def __init__(self, **sizes: int | tuple[int, int]) -> None:
        self.bits = 0
        self._sizes = sizes
        self._shifts: list[tuple[tuple[int, ...], int, bool]] = []  # of each field: shifts, mask, whether it is many
        for name, size in sizes.items():
            count, values = size if isinstance(size, tuple) else (1, size)
            if values < 1 or count < 1:
                raise ValueError(f"field '{name}' needs at least one value")
            width = (values - 1).bit_length()
            shifts = tuple(self.bits + width * i for i in range(count))
            self._shifts.append((shifts, (1 << width) - 1, isinstance(size, tuple)))
            self.bits += width * count
        if self.bits > POSITION_BITS:
            raise ValueError(f"the fields need {self.bits} bits, and a position has {POSITION_BITS}")
        record: Any = namedtuple("Fields", list(sizes))  # type: ignore[misc]  # known at run time only
        self._record = record

    def pack(self, **values: Any) -> int:
        """The integer of these values; ValueError where one is missing, unknown or out of range."""
        if values.keys() != self._sizes.keys():
            raise ValueError(f"the fields are {', '.join(self._sizes)}; given were {', '.join(values) or 'none'}")
        position = 0
        for (name, size), (shifts, _, many) in zip(self._sizes.items(), self._shifts, strict=True):
            numbers = tuple(values[name]) if many else (values[name],)
            limit = size[1] if isinstance(size, tuple) else size
            if len(numbers) != len(shifts):
                raise ValueError(f"field '{name}' has {len(shifts)} numbers, not {len(numbers)}")
            for number, shift in zip(numbers, shifts, strict=True):
                if not 0 <= number < limit:
                    raise ValueError(f"field '{name}' holds numbers from 0 to {limit - 1}, not {number}")
                position |= number << shift
        return position

    def unpack(self, position: int) -> Any:
        """The values as a named tuple, in the order of the fields."""
        values: list[int | tuple[int, ...]] = []
        for shifts, mask, many in self._shifts:
            if many:
                values.append(tuple([(position >> shift) & mask for shift in shifts]))
            else:
                values.append((position >> shifts[0]) & mask)
        return self._record(*values)

    def fits(self, position: int) -> bool:
        """Whether every field of this integer is in range, and nothing lies above them: a start for `valid`."""
        if position >> self.bits:
            return False
        limits = [size[1] if isinstance(size, tuple) else size for size in self._sizes.values()]
        found = zip(self.unpack(position), limits, strict=True)
        return all(max(value) < limit if isinstance(value, tuple) else value < limit for value, limit in found)
