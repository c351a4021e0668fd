"""Random positions of a table: for looking around, for samples, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfectplay.errors import TableError
from perfectplay.values import NO_POSITION_CODE
from perfectplay_native.engine import NO_SLOT, Positions, canonicalize_many

if TYPE_CHECKING:
    from perfectplay.tables.table import Table


def random_positions(table: Table, count: int, seed: int | None = None) -> Positions:
    """`count` positions of the solved tiers, canonical, each position as likely as any other; the same for a seed.

    A position may come more than once. Where two positions share a slot, each is as likely. TableError if no tier
    is solved yet.
    """
    tiers = sorted(table.records)
    inhabited = [table.records[tier].size - table.records[tier].counts.get(NO_POSITION_CODE, 0) for tier in tiers]
    if not sum(inhabited):
        raise TableError(f"the table of {table.game.name} has no solved position yet")
    generator = np.random.default_rng(seed)
    share = np.array(inhabited) / sum(inhabited)
    picked = [_in_tier(table, tiers[place], generator) for place in generator.choice(len(tiers), size=count, p=share)]
    positions = np.array(picked, dtype=np.uint64)
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.where(generator.random(count) < 0.5, positions, swapped)
    return canonicalize_many(table.kernel, positions)


def _in_tier(table: Table, tier: int, generator: np.random.Generator) -> int:
    """A random position of a tier: slots are drawn until one holds a position."""
    size = table.records[tier].size
    while True:
        position = int(table.positions(tier, int(generator.integers(size)), 1)[0])
        if position != NO_SLOT:
            return position
