"""Colours on the terminal: green wins, red loses, yellow is drawn. Pipes and NO_COLOR get plain text (`click.echo`)."""

from __future__ import annotations

import click

from perfectplay.values import Outcome, Value

_COLOURS = {Outcome.WIN: "green", Outcome.DRAW: "yellow", Outcome.LOSS: "red"}


def coloured(text: str, outcome: Outcome | None, *, bold: bool = False) -> str:
    """A text in the colour of an outcome for the side to move; None is plain."""
    return click.style(text, fg=None if outcome is None else _COLOURS[outcome], bold=bold or None)


def headline(verdict: str, value: Value | None) -> str:
    """The verdict on a position, to stand out."""
    return coloured(verdict, None if value is None else value.outcome, bold=True)
