"""Colours on the terminal: green wins, red loses, yellow is drawn, and players have the colours of the page.

Pipes and NO_COLOR get plain text (`click.echo`).
"""

from __future__ import annotations

import click

from perfectplay.board import Board, player_colours
from perfectplay.display.board_text import Paint
from perfectplay.values import Outcome, Value

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
