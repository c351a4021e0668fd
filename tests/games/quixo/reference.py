"""The rules of Quixo in plain Python, written for clarity.

The C kernel and the plugin are tested against this file, so it shares no code with them and takes no shortcuts. A board
is a tuple of rows of characters, and a line is pushed by removing a character and adding one.
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
    source: tuple[int, int]
    """Row and column of the cube; (0, 0) is the top left."""
    target: tuple[int, int]


def start(width: int, height: int) -> Position:
    return Position((BLANK * width,) * height, MARKS[0])


def transpose(rows: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("".join(column) for column in zip(*rows, strict=True))


@cache
def lines(width: int, height: int) -> list[list[tuple[int, int]]]:
    """Return the lines in all directions, each as long as the shorter side."""
    length = min(width, height)
    result = []
    for row in range(height):
        for column in range(width):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + i * down, column + i * right) for i in range(length)]
                if all(0 <= cell[0] < height and 0 <= cell[1] < width for cell in cells):
                    result.append(cells)
    return result


def has_line(position: Position, mark: str) -> bool:
    all_lines = lines(position.width, position.height)
    return any(all(position.rows[row][column] == mark for row, column in line) for line in all_lines)


@cache
def status(position: Position) -> str:
    """Return the result for the side to move. Completing a line of the opponent loses, whatever else the move did."""
    if has_line(position, position.mover):
        return "WON"
    return "LOST" if has_line(position, position.opponent) else "ONGOING"


def push(line: str, source: int, target: int, mark: str) -> str:
    rest = line[:source] + line[source + 1 :]
    return mark + rest if target == 0 else rest + mark


def moves(position: Position) -> Iterator[Move]:
    if status(position) != "ONGOING":
        return
    last_row, last_column = position.height - 1, position.width - 1
    for row in range(position.height):
        for column in range(position.width):
            on_border = row in (0, last_row) or column in (0, last_column)
            if not on_border or position.rows[row][column] == position.opponent:
                continue
            for target in {(row, 0), (row, last_column), (0, column), (last_row, column)} - {(row, column)}:
                yield Move((row, column), target)


def apply(position: Position, move: Move) -> Position:
    (row, column), (to_row, to_column) = move
    rows = list(position.rows)
    if row == to_row:
        rows[row] = push(rows[row], column, to_column, position.mover)
    else:
        columns = list(transpose(position.rows))
        columns[column] = push(columns[column], row, to_row, position.mover)
        rows = list(transpose(tuple(columns)))
    return Position(tuple(rows), position.opponent)


def images(position: Position) -> list[Position]:
    """Return the images under all symmetries of the board."""
    boards = [position.rows]
    if position.width == position.height:
        boards.append(transpose(position.rows))
    boards += [tuple(reversed(rows)) for rows in boards]
    boards += [tuple(row[::-1] for row in rows) for rows in boards]
    return [Position(rows, position.mover) for rows in boards]


def swap_colours(position: Position) -> Position:
    """Return the position with the players exchanged, including the side to move."""
    other = str.maketrans(MARKS, MARKS[::-1])
    return Position(tuple(row.translate(other) for row in position.rows), position.opponent)


def text(position: Position) -> str:
    return "/".join(position.rows) + ":" + position.mover
