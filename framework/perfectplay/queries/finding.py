"""Positions worth looking at, found by chance: one of a given value, or one in which a single move wins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfectplay.queries.moves import rate_moves
from perfectplay.queries.sampling import random_positions
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.tables.table import Table

PUZZLE_MOVES = 4
"""A puzzle leaves at least so many moves, up to symmetry, to choose from."""
PUZZLE_DEPTH = 3
"""Its win takes at least so many plies, where the game has such wins: otherwise one sees it at once."""
_TRIES = 3_000


def random_of_value(table: Table, value: Value, seed: int) -> int | None:
    """A position of this value, another for another seed; None where there is none.

    Tiers are as likely as they have such positions; within a tier one block is searched.
    """
    tiers = [(tier, record.counts[value.code]) for tier, record in table.records.items() if value.code in record.counts]
    if not tiers:
        return None
    generator = np.random.default_rng(seed)
    counts = np.array([count for _, count in tiers], dtype=float)
    tier = tiers[int(generator.choice(len(tiers), p=counts / counts.sum()))][0]
    blocks = table.values(tier)
    sizes = np.cumsum([0, *map(len, blocks)])
    for number in generator.permutation(len(blocks)):
        hits = np.flatnonzero(blocks[number] == value.code)
        if len(hits):
            return int(table.positions(tier, int(sizes[number] + generator.choice(hits)), 1)[0])
    return None


def random_puzzle(table: Table, seed: int) -> int | None:
    """A won position in which exactly one move, up to symmetry, wins, and there are others to be tempted by.

    None where a few thousand random positions hold none. Where only outcomes are known, the win may be quick.
    """
    longest = table.statistics.longest_win or 0
    fallback = None
    for position in map(int, random_positions(table, _TRIES, seed)):
        value = table.get(position)
        if value is None or value.outcome is not Outcome.WIN:
            continue
        deep = value.remoteness is None or value.remoteness >= min(PUZZLE_DEPTH, longest)
        if not deep and fallback is not None:
            continue
        rated = rate_moves(table.game, table, position, known_only=True)
        if len(rated) >= PUZZLE_MOVES and sum(each.value.outcome is Outcome.WIN for each in rated) == 1:
            if deep:
                return position
            fallback = position
    return fallback
