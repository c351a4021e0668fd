"""Outcomes as they are stored: two bits a slot, which is "width 0" where others have one, two or four bytes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib

Packed = memoryview | npt.NDArray[np.uint8]

SLOTS_A_BYTE = 4


def bytes_of_slots(slots: int, width: int) -> int:
    """What values take: `width` bytes each, or where that is 0 two bits."""
    return slots * width if width else -(-slots // SLOTS_A_BYTE)


def unpack_outcomes(packed: Packed, slots: int) -> npt.NDArray[np.uint16]:
    """Their value codes, in which the remoteness is all ones: not known."""
    codes = np.empty(slots, dtype=np.uint16)
    lib.pp_unpack_outcomes(ffi.from_buffer("uint8_t[]", packed), slots, ffi.from_buffer("uint16_t[]", codes))
    return codes


def count_outcomes(packed: Packed, slots: int) -> dict[int, int]:
    """How often each of these codes stands there, in ascending order."""
    counts = np.zeros(1 << 16, dtype=np.uint64)
    lib.pp_histogram(ffi.from_buffer(packed), 0, slots, ffi.from_buffer("uint64_t[]", counts))
    return {int(code): int(counts[code]) for code in np.flatnonzero(counts)}
