"""Colours on the terminal: green wins, red loses, yellow is drawn, and players have the colours of the page.

Pipes and NO_COLOR get plain text (`click.echo`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from perfectplay.display.boards import Paint
from perfectplay.game.board import Board, player_colours
from perfectplay.game.wording import worth
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.analysis.moves import RatedMoves
    from perfectplay.game.game import Game

_COLOURS = {Outcome.WIN: "green", Outcome.DRAW: "yellow", Outcome.LOSS: "red"}
# Of the 256 colours that nearly every terminal has. Black and white are left out: one of them would be invisible.
_PLAYERS = {
    "orange": 208,
    "blue": 33,
    "red": 160,
    "green": 34,
    "purple": 135,
    "teal": 37,
    "yellow": 178,
    "pink": 205,
    "brown": 137,
    "grey": 245,
}


def coloured(text: str, outcome: Outcome | None, *, bold: bool = False) -> str:
    """A text in the colour of an outcome for the side to move; None is plain."""
    return click.style(text, fg=None if outcome is None else _COLOURS[outcome], bold=bold or None)


def headline(verdict: str, value: Value | None) -> str:
    """The verdict on a position, to stand out."""
    return coloured(verdict, None if value is None else value.outcome, bold=True)


def painter(board: Board | None) -> Paint:
    """What gives a text the colour of a player of this board; without a board, and what is nobody's, it stays plain."""

    def paint(text: str, owner: int | None) -> str:
        if board is None or owner is None or not text.strip():
            return text
        colour = _PLAYERS.get(player_colours(board)[owner])
        return text if colour is None else click.style(text, fg=colour)

    return paint


# Text on lines that fit the terminal: they break between words, never inside a move or a number.


def terminal_width() -> int:
    """How many characters a line has; 80 where nobody says."""
    return shutil.get_terminal_size().columns


def wrapped(words: Iterable[str], width: int, *, gap: str = " ") -> list[str]:
    """Words on lines of at most this width; one that is longer has a line to itself.

    >>> wrapped(["a3", "b3,", "c3"], 6)
    ['a3 b3,', 'c3']
    """
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(gap) + len(word) <= width:
            lines[-1] += f"{gap}{word}"
        else:
            lines.append(word)
    return lines


def hanging(head: str, words: Iterable[str], *, width: int | None = None) -> str:
    """Words beside a heading, coloured or not; lines that follow begin where the first word does.

    >>> print(hanging("win in 5  ", ["a3", "b3,", "c3"], width=16))
    win in 5  a3 b3,
              c3
    """
    margin = len(click.unstyle(head))
    lines = wrapped(words, (width or terminal_width()) - margin)
    return (head + f"\n{'':{margin}}".join(lines)).rstrip()


# Rated moves as a terminal shows them: moves of equal worth joined, lines that fit, and no move broken in two.


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
