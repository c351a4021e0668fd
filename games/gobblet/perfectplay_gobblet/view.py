"""The board that the terminal and the browser show, with its clicks and the reasons against illegal moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from perfectplay.game.board import Board, Cell, Click, Piece, Spelling, Tray, grid_template
from perfectplay_gobblet.notation import RESERVE, make_move, piece_letter
from perfectplay_gobblet.rules import (
    CELLS,
    COPIES,
    PLAYERS,
    SAME_CELL,
    SIZE_LETTERS,
    SIZE_NAMES,
    SIZES,
    STACKS,
    cell_name,
    landing_obstacles,
    lift_warning,
    lines,
    reserve,
    revealed_lines,
    side,
    top,
    why_not_carry,
)

_DRAWN_SIZES = (0.4, 0.65, 0.9)


def board(position: int) -> Board:
    """Return the board with both reserves, a click for each legal move and a reason against every other."""
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
    """The moves of every piece that the mover can lift."""

    clicks: list[Click] = field(default_factory=list)
    blocked: dict[str, dict[str, str]] = field(default_factory=dict)
    warnings: dict[str, str] = field(default_factory=dict)

    def add(self, player: int, size: int, source: int, reasons: dict[str, str]) -> None:
        """Add a piece; `reasons` are those against each cell where it may not go."""
        name, clicks = _source_clicks(player, size, source, tuple(reasons))
        self.clicks += clicks
        if reasons:
            self.blocked[name] = reasons


def _choices(position: int) -> _Choices:
    """Return the moves of an unfinished game."""
    choices, mover = _Choices(), side(position)
    # Only the size decides where a piece fits, unless the piece hides a line of the opponent.
    obstacles = [landing_obstacles(position, size) for size in SIZES]
    for size in SIZES:
        if reserve(position, mover, size):
            choices.add(mover, size, RESERVE, obstacles[size])
    for source in CELLS:
        owner, size = top(position, source) or (None, 0)
        if owner != mover:
            continue
        name = cell_name(source)
        if revealed_lines(position, source):
            choices.warnings[name] = lift_warning(position, source) or ""
            reasons = {cell_name(target): why_not_carry(position, source, target) for target in CELLS}
            choices.add(mover, size, source, {target: reason for target, reason in reasons.items() if reason})
        else:
            choices.add(mover, size, source, {**obstacles[size], name: SAME_CELL})
    return choices


# Boards are made of few distinct parts. They are cached because a server draws a thousand boards per second.


_PIECES = {
    (player, size): Piece(player, piece_letter(player, size), _DRAWN_SIZES[size], name=SIZE_NAMES[size])
    for player in (0, 1)
    for size in SIZES
}


@cache
def _source_clicks(player: int, size: int, source: int, blocked: tuple[str, ...]) -> tuple[str, list[Click]]:
    """Return the name of a piece's cell or tray, and the clicks on every target that is not blocked."""
    name = cell_name(source) if source != RESERVE else _tray_name(player, size)
    return name, [click for target in CELLS if (click := _click(size, source, target, name)).target not in blocked]


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
"""The trays of each kind of piece, indexed by the number of pieces in it."""


_SPELLING = Spelling(
    pieces=tuple(_PIECES.values()),
    template=grid_template([[cell_name(cell) for cell in CELLS[row : row + 3]] for row in (0, 3, 6)], between_cells=",")
    + ":{}",
    movers=("orange", "blue"),
    stacks=True,
)
