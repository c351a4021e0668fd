"""What a table says about the moves of a position: for every command and page that shows or picks moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.tables.table import Table
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


def known_moves(game: Game, table: Table, position: int) -> list[RatedMoves]:
    """The same of an unfinished table: the moves whose worth it knows already."""
    found = [(moves, table.get(game.apply(position, moves[0]))) for moves in game.move_classes(position)]
    rated = [RatedMoves(moves, value.for_parent()) for moves, value in found if value is not None]
    return sorted(rated, key=lambda each: each.value.preference())


@dataclass(frozen=True, slots=True)
class Step:
    """One ply of a line: where it is played, what that is worth, and every best move; the line follows the first."""

    position: int
    value: Value
    best: list[RatedMoves]

    @property
    def move(self) -> int:
        return self.best[0].moves[0]


@dataclass(frozen=True, slots=True)
class Line:
    """Best play by both sides, from a position to the end."""

    steps: list[Step]
    end: int
    """The position after the last step."""
    end_value: Value
    repeats: int | None
    """Where play is endless, the step whose position has come again, up to symmetry; else None."""


def best_line(game: Game, table: Table, position: int, *, plies: int | None = None) -> Line:
    """Best play from a position: the winner hurries, the loser resists; a draw without end goes on until it repeats.

    With `plies` the line ends after so many at the latest.

    >>> from perfectplay import load_game, open_table
    >>> game = load_game("gobblet")
    >>> with open_table(game) as table:
    ...     line = best_line(game, table, game.start())
    >>> len(line.steps)
    13
    """
    steps: list[Step] = []
    seen: dict[int, int] = {}
    while True:
        value = table.probe(position)
        canonical = game.canonicalize(position)
        rated = rate_moves(game, table, position)
        if canonical in seen or not rated or len(steps) == plies:
            return Line(steps, position, value, seen.get(canonical))
        seen[canonical] = len(steps)
        steps.append(Step(position, value, [each for each in rated if each.value == rated[0].value]))
        position = game.apply(position, steps[-1].move)
