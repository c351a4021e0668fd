"""What a table says about the moves of a position: for every command and page that shows or picks moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.tables import Table
    from perfectplay.values import Value


@dataclass(frozen=True, slots=True)
class RatedMoves:
    """Moves that are the same up to symmetry, and what they are worth to the player who makes them."""

    moves: list[int]
    value: Value


def rate_moves(game: Game, table: Table, position: int) -> list[RatedMoves]:
    """Every legal move with its worth, the best first."""
    rated = [
        RatedMoves(moves, table.probe(game.apply(position, moves[0])).for_parent())
        for moves in game.move_classes(position)
    ]
    return sorted(rated, key=lambda each: each.value.preference())
