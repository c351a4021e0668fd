"""The rules of Gobblet Gobblers in plain Python, written for clarity.

The C kernel and the plugin are tested against this file, so it shares no code with them and takes no shortcuts. A
board is a dict from (row, column) to a stack of pieces, and moves are judged by making them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

SMALL, MEDIUM, LARGE = SIZES = (0, 1, 2)
COPIES = 2
"""Pieces of each size that a player has."""

Coordinates = tuple[int, int]

CELLS: list[Coordinates] = [(row, column) for row in range(3) for column in range(3)]
LINES: list[list[Coordinates]] = [
    *([(row, column) for column in range(3)] for row in range(3)),
    *([(row, column) for row in range(3)] for column in range(3)),
    [(i, i) for i in range(3)],
    [(i, 2 - i) for i in range(3)],
]


class Piece(NamedTuple):
    owner: int
    """1 for the first player, 2 for the second."""
    size: int


Stack = tuple[Piece, ...]
"""From the bottom to the visible top."""


class Move(NamedTuple):
    size: int
    source: Coordinates | None
    """None for a piece from the reserve."""
    target: Coordinates


@dataclass(frozen=True)
class Position:
    stacks: dict[Coordinates, Stack]
    mover: int

    @property
    def opponent(self) -> int:
        return 3 - self.mover

    def visible(self, cell: Coordinates) -> Piece | None:
        stack = self.stacks[cell]
        return stack[-1] if stack else None

    def on_board(self, piece: Piece) -> int:
        return sum(stack.count(piece) for stack in self.stacks.values())

    def has_line(self, player: int) -> bool:
        visible = {cell for cell, stack in self.stacks.items() if stack and stack[-1].owner == player}
        return any(visible.issuperset(line) for line in LINES)


START = Position(dict.fromkeys(CELLS, ()), mover=1)


# ---- moves ----


def apply(position: Position, move: Move) -> Position:
    """Lift the piece if it is on the board, then put it down. The turn passes, even after a win."""
    stacks = dict(position.stacks)
    if move.source is not None:
        stacks[move.source] = stacks[move.source][:-1]
    stacks[move.target] += (Piece(position.mover, move.size),)
    return Position(stacks, position.opponent)


def undo(position: Position, move: Move) -> Position:
    stacks = dict(position.stacks)
    piece = stacks[move.target][-1]
    stacks[move.target] = stacks[move.target][:-1]
    if move.source is not None:
        stacks[move.source] += (piece,)
    return Position(stacks, position.opponent)


def candidates(position: Position) -> Iterator[Move]:
    """Yield every piece that the mover may pick up, over every cell."""
    for target in CELLS:
        for size in SIZES:
            if position.on_board(Piece(position.mover, size)) < COPIES:
                yield Move(size, None, target)
        for source in CELLS:
            piece = position.visible(source)
            if piece and piece.owner == position.mover and source != target:
                yield Move(piece.size, source, target)


def fits(position: Position, move: Move) -> bool:
    """Return whether the target is empty or shows a smaller piece."""
    covered = position.visible(move.target)
    return covered is None or covered.size < move.size


def moves(position: Position) -> list[Move]:
    """Return the legal moves: none after a win, and none that leaves the opponent with a visible line."""
    if position.has_line(position.opponent):
        return []
    return [
        move
        for move in candidates(position)
        if fits(position, move) and not apply(position, move).has_line(position.opponent)
    ]


def status(position: Position) -> str:
    """Return LOST if the opponent has a line or the mover cannot move. The rules end no position as won or drawn."""
    return "ONGOING" if moves(position) else "LOST"


# ---- the 64-bit encoding ----


def encode(position: Position) -> int:
    """Nine cells of six bits, row by row; in each, two bits per size, small lowest; bit 54 is the side to move."""
    code = 0
    for number, cell in enumerate(CELLS):
        for owner, size in position.stacks[cell]:
            code += owner * 4**size * 64**number
    return code + (position.mover - 1) * 2**54


def decode(code: int) -> Position:
    """Return the position that `code` encodes, legal or not. Raise ValueError if it encodes none."""
    cells_code, rest = code % 2**54, code // 2**54
    if rest not in (0, 1):
        raise ValueError("bits 55 to 63 must be zero")
    stacks: dict[Coordinates, Stack] = {}
    for number, cell in enumerate(CELLS):
        owners = [(cells_code // 64**number // 4**size % 4, size) for size in SIZES]
        if any(owner == 3 for owner, _ in owners):
            raise ValueError(f"owner 3 at {cell}")
        stacks[cell] = tuple(Piece(owner, size) for owner, size in owners if owner)
    return Position(stacks, rest + 1)


def is_valid(code: int) -> bool:
    """Return whether these 64 bits are a position: no third copy of a piece, and no line of the mover."""
    try:
        position = decode(code)
    except ValueError:
        return False
    kinds = (Piece(owner, size) for owner in (1, 2) for size in SIZES)
    return all(position.on_board(kind) <= COPIES for kind in kinds) and not position.has_line(position.mover)


# ---- symmetry ----


def images(position: Position) -> list[Position]:
    """Return the eight images under rotation and reflection, some of which may be equal."""
    result = []
    for mirror in (False, True):
        for quarter_turns in range(4):
            stacks = {}
            for (row, column), stack in position.stacks.items():
                if mirror:
                    row, column = column, row
                for _ in range(quarter_turns):
                    row, column = column, 2 - row
                stacks[row, column] = stack
            result.append(Position(stacks, position.mover))
    return result


def canonical(position: Position) -> int:
    return min(encode(image) for image in images(position))


# ---- counting ----


def perft(position: Position, plies: int) -> int:
    """Return the number of sequences of `plies` moves. A finished game has none."""
    if plies == 0:
        return 1
    legal = moves(position)
    if plies == 1:
        return len(legal)
    return sum(perft(apply(position, move), plies - 1) for move in legal)


def new_classes(plies: int) -> list[int]:
    """Return the numbers of canonical positions first reached after 0, 1, … `plies` moves."""
    seen = {canonical(START)}
    frontier = list(seen)
    counts = [1]
    for _ in range(plies):
        reached: set[int] = set()
        for code in frontier:
            position = decode(code)
            reached.update(canonical(apply(position, move)) for move in moves(position))
        frontier = list(reached - seen)
        seen |= reached
        counts.append(len(frontier))
    return counts
