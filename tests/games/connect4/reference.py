"""The rules of Connect Four in plain Python, written for clarity.

The plugin is tested against this file, so it shares no code with it. A board is a tuple of columns,
and a column is a string of stones from the bottom up.
"""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    columns: tuple[str, ...]
    height: int
    connect: int

    @property
    def mover(self) -> str:
        return "XO"[sum(map(len, self.columns)) % 2]

    @property
    def opponent(self) -> str:
        return "OX"[sum(map(len, self.columns)) % 2]


def start(width: int, height: int, connect: int) -> Position:
    return Position(("",) * width, height, connect)


def stone_at(position: Position, column: int, row: int) -> str:
    """Return the stone in a row counted from the bottom, or an empty string."""
    if not 0 <= column < len(position.columns) or not 0 <= row < len(position.columns[column]):
        return ""
    return position.columns[column][row]


def has_line(position: Position, player: str) -> bool:
    for column in range(len(position.columns)):
        for row in range(position.height):
            for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
                cells = ((column + i * right, row + i * up) for i in range(position.connect))
                if all(stone_at(position, *cell) == player for cell in cells):
                    return True
    return False


def status(position: Position) -> str:
    if has_line(position, position.opponent):
        return "LOST"
    return "DRAWN" if all(len(column) == position.height for column in position.columns) else "ONGOING"


def moves(position: Position) -> list[int]:
    if status(position) != "ONGOING":
        return []
    return [number for number, column in enumerate(position.columns) if len(column) < position.height]


def apply(position: Position, move: int) -> Position:
    columns = list(position.columns)
    columns[move] += position.mover
    return position._replace(columns=tuple(columns))


def mirror(position: Position) -> Position:
    return position._replace(columns=position.columns[::-1])


def text(position: Position) -> str:
    rows = range(position.height - 1, -1, -1)
    columns = range(len(position.columns))
    return "/".join("".join(stone_at(position, column, row) or "." for column in columns) for row in rows)
