"""A board can be drawn and clicked: every move has its click, and every piece a shape that exists."""

from __future__ import annotations

from perfectplay.board import Board, board_fault
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law

SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "cross", "star", "block", "text")


def board(subject: GameUnderTest, position: int) -> str | None:
    drawn = subject.game.board(position)
    assert drawn is not None
    where = f"'board' of {subject.name(position)}"
    if fault := board_fault(drawn):
        return f"{where} cannot be drawn: {fault}"
    found = _wrong_clicks(drawn, subject.game.moves(position)) or _wrong_shape(drawn)
    return found and f"{where} {found}"


def _wrong_clicks(drawn: Board, legal: list[int]) -> str | None:
    clicked = sorted(click.move for click in drawn.clicks)
    if legal and not clicked:
        return f"has no clicks, but there are {len(legal)} moves: give a Click for each, so that it can be played"
    if clicked != sorted(legal):
        return "must have one click for each legal move, and no other"
    return None


def _wrong_shape(drawn: Board) -> str | None:
    for piece in [piece for cell in drawn.cells for piece in cell.stack] + [tray.piece for tray in drawn.trays]:
        if piece.shape not in SHAPES:
            return f"has a piece {piece.label!r} of shape {piece.shape!r}: shapes are {', '.join(SHAPES)}"
    return None


BOARD_LAWS = (
    Law(
        "board", "a board has a click for each move, and pieces that can be drawn", board, lambda subject: subject.draws
    ),
)
