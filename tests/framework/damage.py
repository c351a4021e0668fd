"""Damage that no checksum shows: a value is changed and its tier written again, as a wrong solver would have done."""

from __future__ import annotations

import numpy as np

from perfectplay.game import Game
from perfectplay.tables.locations import table_path
from perfectplay.tables.opening import open_store
from perfectplay.tables.records import TierRecord


def change_value(game: Game, *, index: int, code: int, tier: int = 0) -> int:
    """Store another code in a slot of the game's table; return the one that was there."""
    store = open_store(game, table_path(game), writable=True)
    try:
        record = store.tier_records()[tier]
        blocks = [np.frombuffer(block, dtype=f"<u{record.width}") for block in store.value_blocks(record)]
        values = np.concatenate(blocks)
        before = int(values[index])
        values[index] = code
        store.write_values(TierRecord.of(tier, values), values)
    finally:
        store.close()
    return before
