"""A board can be drawn and clicked: every move has its click, every piece an owner and a shape that exist."""

from __future__ import annotations

from perfectplay.board import Board, Piece
from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law

SHAPES = ("circle", "square", "triangle", "diamond", "cross", "star", "text")


def board(subject: GameUnderTest, position: int) -> str | None:
    drawn = subject.game.board(position)
    assert drawn is not None
    found = _wrong_clicks(drawn, subject.game.moves(position)) or _wrong_places(drawn) or _wrong_pieces(drawn)
    return found and f"'board' of {subject.name(position)} {found}"


def _wrong_clicks(drawn: Board, legal: list[int]) -> str | None:
    clicked = sorted(click.move for click in drawn.clicks)
    if legal and not clicked:
        return f"has no clicks, but there are {len(legal)} moves: give a Click for each, so that it can be played"
    if clicked != sorted(legal):
        return "must have one click for each legal move, and no other"
    places = {cell.id for cell in drawn.cells} | {tray.id for tray in drawn.trays}
    for click in drawn.clicks:
        for place in (click.target, click.source):
            if place is not None and place not in places:
                return f"has a click on {place!r}, which is neither a cell nor a tray"
    return None


def _wrong_places(drawn: Board) -> str | None:
    ids = [cell.id for cell in drawn.cells] + [tray.id for tray in drawn.trays]
    for name in ids:
        if ids.count(name) > 1:
            return f"has two places called {name!r}: a click could mean either"
    if drawn.to_move not in (0, 1):
        return f"has to_move {drawn.to_move!r}: it is 0 for the player who begins, or 1"
    return None


def _wrong_pieces(drawn: Board) -> str | None:
    for piece in [piece for cell in drawn.cells for piece in cell.stack] + [tray.piece for tray in drawn.trays]:
        if found := _wrong_piece(piece):
            return found
    return None


def _wrong_piece(piece: Piece) -> str | None:
    if piece.owner not in (0, 1, None):
        return f"has a piece {piece.label!r} of owner {piece.owner!r}: owners are 0, 1 and None"
    if piece.shape not in SHAPES:
        return f"has a piece {piece.label!r} of shape {piece.shape!r}: shapes are {', '.join(SHAPES)}"
    if not 0 < piece.size <= 1:
        return f"has a piece {piece.label!r} of size {piece.size}: sizes are above 0 up to 1"
    return None


BOARD_LAWS = (
    Law(
        "board", "a board has a click for each move, and pieces that can be drawn", board, lambda subject: subject.draws
    ),
)
