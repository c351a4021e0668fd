"""Text for the terminal: colours, wrapped lines and lists of rated moves.

Wins are green, losses red and draws yellow. `click.echo` removes colours for pipes and NO_COLOR.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import click

from perfectplay.game.board import Board, player_colours
from perfectplay.game.board_text import Paint
from perfectplay.game.wording import worth
from perfectplay.values import Outcome, Value

if TYPE_CHECKING:
    from perfectplay.analysis.moves import RatedMoves
    from perfectplay.game.game import Game

_COLOURS = {Outcome.WIN: "green", Outcome.DRAW: "yellow", Outcome.LOSS: "red"}
# Numbers in the palette of 256 colours that nearly every terminal has. Black and white are left out, because one of
# them is the background.
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


# ---- colours ----


def coloured(text: str, outcome: Outcome | None, *, bold: bool = False) -> str:
    """Return the text in the colour of an outcome for the side to move; None gives plain text."""
    return click.style(text, fg=None if outcome is None else _COLOURS[outcome], bold=bold or None)


def headline(verdict: str, value: Value | None) -> str:
    """Return the verdict on a position in bold, in the colour of its value."""
    return coloured(verdict, None if value is None else value.outcome, bold=True)


def painter(board: Board | None) -> Paint:
    """Return a function that colours text for a player of this board; without a board or an owner it stays plain."""

    def paint(text: str, owner: int | None) -> str:
        if board is None or owner is None or not text.strip():
            return text
        colour = _PLAYERS.get(player_colours(board)[owner])
        return text if colour is None else click.style(text, fg=colour)

    return paint


# ---- lines that fit the terminal ----


def terminal_width() -> int:
    """Return the number of columns, 80 by default."""
    return shutil.get_terminal_size().columns


def wrapped(words: Iterable[str], width: int, *, gap: str = " ") -> list[str]:
    """Wrap words into lines of at most this width. A longer word gets a separate line.

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
    """Wrap words beside a heading, which may be coloured, with all lines indented to the first word.

    >>> print(hanging("win in 5  ", ["a3", "b3,", "c3"], width=16))
    win in 5  a3 b3,
              c3
    """
    margin = len(click.unstyle(head))
    lines = wrapped(words, (width or terminal_width()) - margin)
    return (head + f"\n{'':{margin}}".join(lines)).rstrip()


# ---- rated moves ----


def rated_lines(game: Game, position: int, rated: Sequence[RatedMoves], *, width: int | None = None) -> list[str]:
    """Format each value with its moves, best first. Commas separate groups of moves that are equivalent by symmetry.

    `width` is by default that of the terminal.
    """
    margin = max((len(worth(game, each.value)) for each in rated), default=0) + 2
    lines = []
    for value, classes in groupby(rated, key=lambda each: each.value):
        names = [[game.format_move(position, move) for move in each.moves] for each in classes]
        head = coloured(f"{worth(game, value):<{margin}}", value.outcome)
        lines += hanging(head, _join_classes(names), width=width).splitlines()
    return lines


def _join_classes(classes: Sequence[Sequence[str]]) -> list[str]:
    """Return the moves in order, with a comma after each class but the last."""
    ends = [[*moves[:-1], f"{moves[-1]},"] for moves in classes[:-1]]
    return [word for moves in [*ends, classes[-1]] for word in moves]
