"""Tic-tac-toe: three in a row wins, a full board is a draw."""

from perfectplay import Status, hookimpl
from perfectplay.authoring import Grid

GRID = Grid(3, 3, values=3)  # 0 empty, 1 cross, 2 nought
LINES = GRID.lines(3)
LETTERS = ".XO"
smallest_image = GRID.d4().canonicalizer(bits=GRID.bits)


def next_mark(cells: list[int]) -> int:
    return 1 if cells.count(1) == cells.count(2) else 2


@hookimpl
def start() -> int:
    return 0


@hookimpl
def status(position: int) -> Status:
    cells = GRID.unpack(position)
    if any(cells[a] == cells[b] == cells[c] != 0 for a, b, c in LINES):
        return Status.LOST  # the opponent has just completed a line
    return Status.ONGOING if 0 in cells else Status.DRAWN


@hookimpl
def moves(position: int) -> list[int]:
    if status(position) is not Status.ONGOING:
        return []
    return [cell for cell, owner in enumerate(GRID.unpack(position)) if owner == 0]


@hookimpl
def apply(position: int, move: int) -> int:
    return position | next_mark(GRID.unpack(position)) << GRID.bits * move


@hookimpl
def canonicalize(position: int) -> int:
    return smallest_image(position)


@hookimpl
def encode(text: str) -> int:
    return GRID.read(text, LETTERS)


@hookimpl
def decode(position: int) -> str:
    return GRID.write(position, LETTERS)
