"""Rated moves as a terminal shows them: moves of equal worth joined, lines that fit, and no move broken in two."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from perfectplay.cli.colours import coloured
from perfectplay.cli.wrapping import hanging
from perfectplay.verdicts import worth

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.queries.moves import RatedMoves


def rated_lines(game: Game, position: int, rated: Sequence[RatedMoves], *, width: int | None = None) -> list[str]:
    """Each worth with its moves, the best first. Moves that are the same up to symmetry stand together, before a comma.

    `width` is that of the terminal unless it is given.
    """
    margin = max((len(worth(game, each.value)) for each in rated), default=0) + 2
    lines = []
    for value, classes in groupby(rated, key=lambda each: each.value):
        names = [[game.format_move(position, move) for move in each.moves] for each in classes]
        head = coloured(f"{worth(game, value):<{margin}}", value.outcome)
        lines += hanging(head, _words(names), width=width).splitlines()
    return lines


def _words(classes: Sequence[Sequence[str]]) -> list[str]:
    """The moves in order; the last of each class but the last has a comma."""
    ends = [[*moves[:-1], f"{moves[-1]},"] for moves in classes[:-1]]
    return [word for moves in [*ends, classes[-1]] for word in moves]
