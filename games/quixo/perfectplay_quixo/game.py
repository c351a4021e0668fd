"""One size of Quixo: rules from the C kernel, texts and board from here.

A position is a number: a bit for each mark of X (bits 0 to 24), one for each mark of O (bits 32 to 56), cells row by
row from the top left, and bit 63 is set when O is to move. A move is the cell where the cube is put back (bits 0 to 4),
the cell where it is taken (bits 5 to 9), and whether it bore the mover's mark (bit 10).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from perfectplay import About, Board, Cell, Click, Piece, hookimpl
from perfectplay.authoring import Grid
from perfectplay.game.board import Spelling
from perfectplay_native.kernel import Kernel
from perfectplay_quixo._kernel import ffi, lib

PLAYERS = "XO"
LETTERS = "." + PLAYERS
PIECES = (Piece(0, "X", size=0.8, shape="cross"), Piece(1, "O", size=0.8))
_ENDINGS = (":X", ":O")
_HALF, _SIDE_BIT = 32, 63
_CELL_BITS, _CELL_MASK = 5, 31
_MOVE = re.compile(r"([a-z]\d)\s*(?:→|->|-|\s)\s*([a-z]\d)", re.IGNORECASE)


_RULES = """
Take a cube from the border of the board that is blank or shows your mark, push the rest of its row or column over, and
put it back, with your mark, at an end of that row or column other than where it was.

{goal} of your marks in a row, a column or a diagonal win. Making such a line of your opponent's marks loses, even if
the same move makes one of your own.
"""


class Quixo:
    """The game on one board."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = width * height
        self.grid = Grid(height, width, values=3)
        self.names = self.grid.names
        self._ends = [self._ends_of(cell) for cell in range(self.cells)]
        self._barred = [self._why_not_put(cell) for cell in range(self.cells)]
        tables = lib.quixo_board_new(width, height)
        if tables == ffi.NULL:
            raise MemoryError(f"there is no room for the tables of a board of {width}×{height}")
        self._kernel = Kernel(
            ffi,
            lib.quixo_kernel,
            context=ffi.gc(tables, lib.quixo_board_free),
            tier_count=(self.cells + 1) * (self.cells + 2) // 2,
        )

    @hookimpl
    def kernel(self) -> Kernel:
        return self._kernel

    @hookimpl
    def about(self) -> About:
        goal = ("Two", "Three", "Four", "Five")[min(self.width, self.height) - 2]
        return About(f"Quixo {self.width}×{self.height}", _RULES.format(goal=goal))

    # ---- positions ----

    @hookimpl
    def encode(self, text: str) -> int:
        """The position of `X.../..../..../...O:X`; ValueError says what is wrong."""
        text = text.strip()
        if re.fullmatch(r"[0-9]{1,20}", text):
            if self._kernel.valid(int(text)):
                return int(text)
            raise ValueError(f"{text} is not a position of Quixo on {self.width}×{self.height}")
        board, _, player = text.rpartition(":")
        if player.upper() not in tuple(PLAYERS):
            raise ValueError(f"who is to move? end the text with :X or :O, like {self.decode(0)}")
        owners = self.grid.unpack(self.grid.read(board.upper(), LETTERS))
        marks = (1 << cell + _HALF * (owner - 1) for cell, owner in enumerate(owners) if owner)
        return sum(marks) | PLAYERS.index(player.upper()) << _SIDE_BIT

    @hookimpl
    def decode(self, position: int) -> str:
        owners = (self._owner(position, cell) for cell in range(self.cells))
        text = "".join(LETTERS[0 if owner is None else owner + 1] for owner in owners)
        rows = (text[first : first + self.width] for first in range(0, self.cells, self.width))
        return "/".join(rows) + _ENDINGS[_side(position)]

    def _owner(self, position: int, cell: int) -> int | None:
        marks = (position >> cell & 1, position >> cell + _HALF & 1)
        return marks.index(1) if any(marks) else None

    @hookimpl
    def colour_swapped(self, positions: Any) -> Any:
        """X and O exchanged, the side to move too."""
        side, half = np.uint64(1 << _SIDE_BIT), np.uint64(_HALF)
        marks = positions & ~side
        return marks << half | marks >> half | ~positions & side

    # ---- moves ----

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return f"{self.names[move >> _CELL_BITS & _CELL_MASK]}→{self.names[move & _CELL_MASK]}"

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        """The move `a4→a1` (`a4-a1` will do); ValueError says why it is none, or not legal here."""
        match = _MOVE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a move: write the cell to take from and the end to put in, like a1-a4")
        for name in match.groups():
            if name.lower() not in self.names:
                corners = f"{self.names[-self.width]} to {self.names[self.width - 1]}"
                raise ValueError(f"there is no cell {name}: the board is {corners}")
        source, target = (self.names.index(name.lower()) for name in match.groups())
        over = None if self._kernel.moves(position) else "the game is over"
        if reason := over or self._why_not_take(position, source) or self._barred[source].get(self.names[target]):
            raise ValueError(f"{self.names[source]}→{self.names[target]} is not legal: {reason}")
        return self._move(position, source, target)

    def _move(self, position: int, source: int, target: int) -> int:
        marked = self._owner(position, source) is not None
        return marked << 2 * _CELL_BITS | source << _CELL_BITS | target

    def _ends_of(self, cell: int) -> list[int]:
        """Where a cube taken from a cell may be put in: the ends of its row and of its column."""
        row, column = divmod(cell, self.width)
        first_of_row, last_row = row * self.width, (self.height - 1) * self.width
        ends = (first_of_row, first_of_row + self.width - 1, column, last_row + column)
        return [end for end in ends if end != cell]

    def _why_not_take(self, position: int, cell: int) -> str | None:
        if len(self._ends[cell]) == 4:
            return f"{self.names[cell]} is not on the border"
        if self._owner(position, cell) == 1 - _side(position):
            return f"the cube at {self.names[cell]} shows the opponent's mark"
        return None

    def _why_not_put(self, source: int) -> dict[str, str]:
        """For a cube from one cell, the names of all cells where it cannot be put in, each with the reason."""
        ends = [self.names[end] for end in self._ends[source]]
        reason = f"a cube from {self.names[source]} can be put in at {', '.join(ends)}"
        barred = {name: reason for name in self.names if name not in ends}
        return barred | {self.names[source]: "a cube must not go back to where it was taken"}

    # ---- the board ----

    @hookimpl
    def board(self, position: int) -> Board:
        """A click on the cube to take, then one on the end to put it in."""
        owners = [self._owner(position, cell) for cell in range(self.cells)]
        stacks = [() if owner is None else (PIECES[owner],) for owner in owners]
        clicks: list[Click] = []
        blocked: dict[str, dict[str, str]] = {}
        for source in range(self.cells) if self._kernel.moves(position) else ():
            if self._why_not_take(position, source):
                continue
            here = self.names[source]
            clicks += [Click(self._move(position, source, end), self.names[end], here) for end in self._ends[source]]
            blocked[here] = self._barred[source]
        return Board(
            rows=self.height,
            columns=self.width,
            cells=tuple(Cell(self.names[i], *divmod(i, self.width), stack) for i, stack in enumerate(stacks)),
            to_move=_side(position),
            players=("X", "O"),
            clicks=tuple(clicks),
            blocked=blocked,
            spelling=Spelling(PIECES, ending=_ENDINGS),
        )


def _side(position: int) -> int:
    """0 if X is to move, 1 if O is."""
    return position >> _SIDE_BIT
