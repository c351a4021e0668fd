"""A position as a board to draw and to click: what the terminal and the browser show."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from perfectplay.game.board import Board, Cell, Click, Piece, Spelling, Tray
from perfectplay_gobblet.layout import (
    CELLS,
    COPIES,
    PLAYERS,
    SIZE_LETTERS,
    SIZES,
    STACKS,
    cell_name,
    lines,
    reserve,
    side,
    top,
)
from perfectplay_gobblet.notation import RESERVE, make_move, piece_letter
from perfectplay_gobblet.reasons import BACK_TO_ITS_CELL, lift_warning, lines_under, why_not_carry, why_not_land_on_each

_DRAWN_SIZES = (0.4, 0.65, 0.9)


def board(position: int) -> Board:
    """Return the board: both reserves, a click for each legal move, a reason against each other one."""
    won = lines(position, 1 - side(position))
    choices = _Choices() if won else _choices(position)
    return Board(
        rows=3,
        columns=3,
        cells=tuple([_cell(cell, position >> 6 * cell & 63) for cell in CELLS]),
        to_move=side(position),
        players=PLAYERS,
        trays=tuple([drawn[reserve(position, *kind)] for kind, drawn in _DRAWN_TRAYS.items()]),
        clicks=tuple(choices.clicks),
        blocked=choices.blocked,
        warnings=choices.warnings,
        spelling=_SPELLING,
        highlight=tuple(cell_name(cell) for line in won for cell in line),
    )


@dataclass(slots=True)
class _Choices:
    """What the mover can do with every piece he can take hold of."""

    clicks: list[Click] = field(default_factory=list)
    blocked: dict[str, dict[str, str]] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)

    def add(self, player: int, size: int, source: int, refused: dict[str, str]) -> None:
        """A piece, and the names of the cells where it may not go, with the reasons."""
        name, clicks = _grasp(player, size, source, tuple(refused))
        self.clicks += clicks
        if refused:
            self.blocked[name] = refused


def _choices(position: int) -> _Choices:
    """The moves of a game that goes on."""
    found, mover = _Choices(), side(position)
    # Where a piece fits is a matter of its size; only one that hides a line of the opponent's has more to heed.
    unfitting = [why_not_land_on_each(position, size) for size in SIZES]
    for size in SIZES:
        if reserve(position, mover, size):
            found.add(mover, size, RESERVE, unfitting[size])
    for source in CELLS:
        owner, size = top(position, source) or (None, 0)
        if owner != mover:
            continue
        name = cell_name(source)
        if lines_under(position, source):
            found.warnings[name] = lift_warning(position, source) or ""
            reasons = {cell_name(target): why_not_carry(position, source, target) for target in CELLS}
            found.add(mover, size, source, {target: reason for target, reason in reasons.items() if reason})
        else:
            found.add(mover, size, source, {**unfitting[size], name: BACK_TO_ITS_CELL})
    return found


# The parts of boards are few, and made once each: a server draws a thousand boards a second.


_PIECES = {
    (player, size): Piece(player, piece_letter(player, size), _DRAWN_SIZES[size]) for player in (0, 1) for size in SIZES
}


@cache
def _grasp(player: int, size: int, source: int, refused: tuple[str, ...]) -> tuple[str, list[Click]]:
    """The place to take hold of a piece, a cell or the tray of its kind; and the clicks on every cell not refused."""
    name = cell_name(source) if source != RESERVE else _tray_name(player, size)
    return name, [click for target in CELLS if (click := _click(size, source, target, name)).target not in refused]


@cache
def _click(size: int, source: int, target: int, name: str) -> Click:
    return Click(make_move(size, source, target), cell_name(target), name)


@cache
def _cell(cell: int, bits: int) -> Cell:
    return Cell(cell_name(cell), *divmod(cell, 3), tuple(_PIECES[piece] for piece in STACKS[bits]))


def _tray_name(player: int, size: int) -> str:
    return f"{PLAYERS[player].lower()}-{SIZE_LETTERS[size]}"


_DRAWN_TRAYS = {
    kind: [Tray(_tray_name(*kind), piece, count) for count in range(COPIES + 1)] for kind, piece in _PIECES.items()
}
"""For every kind of piece, its tray by how many are in it."""


_SPELLING = Spelling(
    pieces=tuple(_PIECES.values()),
    between_cells=",",
    ending=(":orange", ":blue"),
)
