"""The rules of Quixo in plain Python, written to be read and believed.

The C kernel and the plugin are tested against this file, so it shares nothing with them and takes no shortcut: a board
is a tuple of rows of characters, a line is pushed by removing a character and adding one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

BLANK, MARKS = ".", "XO"


class Position(NamedTuple):
    rows: tuple[str, ...]
    mover: str

    @property
    def opponent(self) -> str:
        return MARKS[1 - MARKS.index(self.mover)]

    @property
    def width(self) -> int:
        return len(self.rows[0])

    @property
    def height(self) -> int:
        return len(self.rows)


class Move(NamedTuple):
    taken: tuple[int, int]
    """Row and column of the cube; (0, 0) is the top left."""
    put: tuple[int, int]


def start(width: int, height: int) -> Position:
    return Position((BLANK * width,) * height, MARKS[0])


def transposed(rows: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("".join(column) for column in zip(*rows, strict=True))


@cache
def lines(width: int, height: int) -> list[list[tuple[int, int]]]:
    """As many cells in a row as the shorter side has, in any direction."""
    length = min(width, height)
    found = []
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(length)]
                if all(0 <= cell[0] < height and 0 <= cell[1] < width for cell in cells):
                    found.append(cells)
    return found


def has_line(position: Position, mark: str) -> bool:
    every = lines(position.width, position.height)
    return any(all(position.rows[row][column] == mark for row, column in line) for line in every)


@cache
def status(position: Position) -> str:
    """For the side to move: whoever completes a line of the opponent's has lost, whatever else the move did."""
    if has_line(position, position.mover):
        return "WON"
    return "LOST" if has_line(position, position.opponent) else "ONGOING"


def pushed(line: str, taken: int, put: int, mark: str) -> str:
    rest = line[:taken] + line[taken + 1 :]
    return mark + rest if put == 0 else rest + mark


def moves(position: Position) -> Iterator[Move]:
    if status(position) != "ONGOING":
        return
    last_row, last_column = position.height - 1, position.width - 1
    for row in range(position.height):
        for column in range(position.width):
            on_border = row in (0, last_row) or column in (0, last_column)
            if not on_border or position.rows[row][column] == position.opponent:
                continue
            for put in {(row, 0), (row, last_column), (0, column), (last_row, column)} - {(row, column)}:
                yield Move((row, column), put)


def apply(position: Position, move: Move) -> Position:
    (row, column), (to_row, to_column) = move
    rows = list(position.rows)
    if row == to_row:
        rows[row] = pushed(rows[row], column, to_column, position.mover)
    else:
        columns = list(transposed(position.rows))
        columns[column] = pushed(columns[column], row, to_row, position.mover)
        rows = list(transposed(tuple(columns)))
    return Position(tuple(rows), position.opponent)


def images(position: Position) -> list[Position]:
    """The position under every symmetry of its board."""
    boards = [position.rows]
    if position.width == position.height:
        boards.append(transposed(position.rows))
    boards += [tuple(reversed(rows)) for rows in boards]
    boards += [tuple(row[::-1] for row in rows) for rows in boards]
    return [Position(rows, position.mover) for rows in boards]


def colours_swapped(position: Position) -> Position:
    """The same for the other player: his marks, his turn."""
    other = str.maketrans(MARKS, MARKS[::-1])
    return Position(tuple(row.translate(other) for row in position.rows), position.opponent)


def text(position: Position) -> str:
    return "/".join(position.rows) + ":" + position.mover
