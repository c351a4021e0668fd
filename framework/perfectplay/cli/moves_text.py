"""Rated moves as a terminal shows them: moves of equal worth joined, lines that fit, and no move broken in two."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from perfectplay.cli.colours import coloured
from perfectplay.verdicts import worth

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.queries.moves import RatedMoves


def rated_lines(game: Game, position: int, rated: Sequence[RatedMoves], *, width: int | None = None) -> list[str]:
    """Each worth with its moves, the best first. Moves that are the same up to symmetry stand together, before a comma.

    `width` is that of the terminal unless it is given.
    """
    width = width or shutil.get_terminal_size().columns
    margin = max((len(worth(game, each.value)) for each in rated), default=0) + 2
    lines = []
    for value, classes in groupby(rated, key=lambda each: each.value):
        names = [[game.format_move(position, move) for move in each.moves] for each in classes]
        first, *rest = wrapped(_words(names), width - margin)
        lines.append(coloured(f"{worth(game, value):<{margin}}", value.outcome) + first)
        lines += [" " * margin + line for line in rest]
    return lines


def _words(classes: Sequence[Sequence[str]]) -> list[str]:
    """The moves in order; the last of each class but the last has a comma."""
    ends = [[*moves[:-1], f"{moves[-1]},"] for moves in classes[:-1]]
    return [word for moves in [*ends, classes[-1]] for word in moves]


def wrapped(words: Iterable[str], width: int) -> list[str]:
    """Words on lines of at most this width; one that is longer has a line to itself.

    >>> wrapped(["a3", "b3,", "c3"], 6)
    ['a3 b3,', 'c3']
    """
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
