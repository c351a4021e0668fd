"""A position as a board to draw and to click: what the terminal and the browser show."""

from __future__ import annotations

from perfectplay.board import Board, Cell, Click, Piece, Spelling, Tray
from perfectplay_gobblet.layout import (
    CELLS,
    PLAYERS,
    SIZE_LETTERS,
    SIZES,
    cell_name,
    lines,
    reserve,
    side,
    stack,
)
from perfectplay_gobblet.notation import RESERVE, make_move, piece_letter
from perfectplay_gobblet.reasons import game_over, lift_warning, why_not_lift, why_not_place, why_not_slide

_DRAWN_SIZES = (0.4, 0.65, 0.9)


def board(position: int) -> Board:
    """Return the board: both reserves, a click for each legal move, a reason against each other one."""
    clicks, blocked = _choices(position)
    return Board(
        rows=3,
        columns=3,
        cells=tuple(
            Cell(cell_name(cell), *divmod(cell, 3), tuple(_piece(*piece) for piece in stack(position, cell)))
            for cell in CELLS
        ),
        to_move=side(position),
        players=PLAYERS,
        trays=tuple(
            Tray(_tray_name(player, size), _piece(player, size), reserve(position, player, size))
            for player in (0, 1)
            for size in SIZES
        ),
        clicks=tuple(clicks),
        blocked=blocked,
        warnings={cell_name(cell): text for cell in CELLS if (text := lift_warning(position, cell))},
        spelling=_SPELLING,
        highlight=tuple(cell_name(cell) for line in lines(position, 1 - side(position)) for cell in line),
    )


def _choices(position: int) -> tuple[list[Click], dict[str, dict[str, str]]]:
    """Every piece the mover can take hold of, over every cell: legal moves, and why the others are not."""
    clicks: list[Click] = []
    blocked: dict[str, dict[str, str]] = {}
    if game_over(position):
        return clicks, blocked

    def judge(size: int, source: int, source_name: str, target: int, reason: str | None) -> None:
        if reason:
            blocked.setdefault(source_name, {})[cell_name(target)] = reason
        else:
            clicks.append(Click(make_move(size, source, target), cell_name(target), source_name))

    mover = side(position)
    for size in SIZES:
        if reserve(position, mover, size):
            for target in CELLS:
                judge(size, RESERVE, _tray_name(mover, size), target, why_not_place(position, size, target))
    for source in CELLS:
        if not why_not_lift(position, source):
            _, size = stack(position, source)[-1]
            for target in CELLS:
                judge(size, source, cell_name(source), target, why_not_slide(position, source, target))
    return clicks, blocked


def _piece(player: int, size: int) -> Piece:
    return Piece(player, piece_letter(player, size), _DRAWN_SIZES[size])


def _tray_name(player: int, size: int) -> str:
    return f"{PLAYERS[player].lower()}-{SIZE_LETTERS[size]}"


_SPELLING = Spelling(
    pieces=tuple(_piece(player, size) for player in (0, 1) for size in SIZES),
    between_cells=",",
    ending=(":orange", ":blue"),
)
