"""Arrays of value codes. Outcomes alone are stored in two bits per slot, which is "width 0" where other values have a
width of one, two or four bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib

PackedOutcomes = memoryview | npt.NDArray[np.uint8]

Codes = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
"""Value codes: 32 bits each for a game with scores, otherwise 16."""

OUTCOMES_PER_BYTE = 4


def stored_bytes(slots: int, width: int) -> int:
    """Return the size of the values of `slots` slots: `width` bytes each, or two bits each if `width` is 0."""
    return slots * width if width else -(-slots // OUTCOMES_PER_BYTE)


def unpack_outcomes(packed: PackedOutcomes, slots: int) -> npt.NDArray[np.uint16]:
    """Return the value codes of packed outcomes. Their remoteness is all ones, which means unknown."""
    codes = np.empty(slots, dtype=np.uint16)
    lib.pp_unpack_outcomes(ffi.from_buffer("uint8_t[]", packed), slots, ffi.from_buffer("uint16_t[]", codes))
    return codes


def count_outcomes(packed: PackedOutcomes, slots: int) -> dict[int, int]:
    """Count the value codes of packed outcomes, in ascending order of the codes."""
    return _count(packed, 0, slots)


def count_codes(values: npt.NDArray[Any]) -> dict[int, int]:
    """Count the codes in an array of one-, two- or four-byte codes, in ascending order of the codes."""
    if values.dtype.itemsize < 4:
        return _count(values, values.dtype.itemsize, values.size)
    codes, times = np.unique(values, return_counts=True)
    return dict(zip(codes.tolist(), times.tolist(), strict=True))


def _count(values: Any, width: int, slots: int) -> dict[int, int]:
    counts = np.zeros(1 << 16, dtype=np.uint64)
    lib.pp_histogram(ffi.from_buffer(values), width, slots, ffi.from_buffer("uint64_t[]", counts))
    return {int(code): int(counts[code]) for code in np.flatnonzero(counts)}
