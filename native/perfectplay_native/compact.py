"""The parts of a compact table that run in C: finding the values to keep, and packing sorted keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import slot_of
from perfectplay_native.positions import Positions, pointer


def mark_kept(
    engine: Engine, tier: int, first: int, values: npt.NDArray[Any], positions: Positions | None
) -> tuple[npt.NDArray[np.bool_], int]:
    """Find the values that a compact table must keep because they do not follow from the rules.

    `values` are those of consecutive slots of a tier from `first` on, `positions` their positions; None for a ranked
    game. Returns a mask, and the number of values that differ from those by the rules. Threads may share the engine.
    """
    kept = np.empty(len(values), dtype=np.bool_)
    wrong = ffi.new("uint64_t *")
    result = lib.pp_mark_kept(
        engine.c,
        slot_of(tier, first),
        len(values),
        ffi.NULL if positions is None else pointer("pp_position[]", positions),
        pointer("char[]", values),
        values.dtype.itemsize,
        pointer("uint8_t[]", kept),
        wrong,
    )
    engine.check(result)
    return kept, wrong[0]


def count_kept(engine: Engine, tier: int, first: int, count: int, positions: Positions | None) -> int:
    """Count the values of consecutive slots that `mark_kept` keeps. Threads may share the engine."""
    kept = ffi.new("uint64_t *")
    with engine.kernel.callback_errors():
        result = lib.pp_count_kept(
            engine.c,
            slot_of(tier, first),
            count,
            ffi.NULL if positions is None else pointer("pp_position[]", positions),
            kept,
        )
    engine.check(result)
    return int(kept[0])


def pack_keys(keys: Positions) -> bytes:
    """Return the differences between ascending keys as bytes. The first key is not included.

    >>> keys = np.array([70, 73, 1000], dtype=np.uint64)
    >>> pack_keys(keys).hex(" ")
    '00 03 f9 9f 03'
    >>> unpack_keys(pack_keys(keys), 70, 3).tolist()
    [70, 73, 1000]
    """
    packed = np.empty(lib.PP_KEY_BYTES * len(keys), dtype=np.uint8)
    size = lib.pp_pack_keys(pointer("uint64_t[]", keys), len(keys), pointer("uint8_t[]", packed))
    return packed[:size].tobytes()


def unpack_keys(data: bytes | memoryview, first: int, count: int) -> Positions:
    """Return the `count` keys that `pack_keys` packed. Raises ValueError if `data` are not their differences."""
    keys = np.empty(count, dtype=np.uint64)
    if not lib.pp_unpack_keys(ffi.from_buffer("uint8_t[]", data), len(data), first, pointer("uint64_t[]", keys), count):
        raise ValueError("these are not the differences of keys")
    return keys
