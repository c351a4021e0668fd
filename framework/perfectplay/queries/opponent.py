"""An opponent that plays from a table: perfectly, or with slips."""

from __future__ import annotations

import random
from enum import StrEnum
from typing import TYPE_CHECKING

from perfectplay.queries.moves import best_moves, rate_moves

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.tables.table import Table


class Strength(StrEnum):
    """How well an opponent plays: how often it makes any move at all instead of a best one."""

    PERFECT = "perfect"
    STRONG = "strong"
    CASUAL = "casual"
    RANDOM = "random"

    @property
    def slips(self) -> float:
        """The chance of a move at random."""
        return {"perfect": 0.0, "strong": 0.1, "casual": 0.35, "random": 1.0}[self.value]


def choose_move(game: Game, table: Table, position: int, strength: Strength, chance: random.Random) -> int:
    """A move of an opponent of this strength: one of the best, or a slip; among equals chance decides."""
    if chance.random() < strength.slips:
        return chance.choice(game.moves(position))
    rated = rate_moves(game, table, position)
    return chance.choice([move for each in best_moves(game, position, rated) for move in each.moves])
