"""The game on one board size: rules from the C kernel, with texts, reasons and the drawn board.

A position has a bit for each mark of X (bits 0 to 24) and of O (bits 32 to 56), with the cells row by row from the top
left. Bit 63 is set when O is to move. A move is the cell where the cube is put back (bits 0 to 4), the cell where it is
taken (bits 5 to 9), and whether it has the mover's mark (bit 10).
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

from perfectplay import About, Board, Cell, Click, Piece, hookimpl
from perfectplay.authoring import Grid
from perfectplay.game.board import Spelling, grid_template
from perfectplay_native.kernel import Kernel
from perfectplay_quixo._kernel import ffi, lib

PLAYERS = "XO"
LETTERS = "." + PLAYERS
PIECES = (Piece(0, "X", size=0.8, shape="cross"), Piece(1, "O", size=0.8, shape="ring"))
_ENDINGS = (":X", ":O")
_HALF, _SIDE_BIT = 32, 63
_CELL_BITS, _CELL_MASK = 5, 31
_MOVE = re.compile(r"([a-z]\d)\s*(?:→|->|-|\s)\s*([a-z]\d)", re.IGNORECASE)


_RULES = """
Take a cube from the border of the board that is blank or shows your mark. Push it back in, with your mark, at another
end of its row or column, which shifts the cubes between.

{goal} of your marks in a row, a column or a diagonal win. Making such a line of your opponent's marks loses, even if
the same move also makes a line of yours.
"""


class Quixo:
    """The game on one board."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.cells = width * height
        self.grid = Grid(height, width, values=3)
        self.names = self.grid.names
        rows = [self.names[first : first + width] for first in range(0, width * height, width)]
        self._spelling = Spelling(PIECES, grid_template(rows) + "{}", _ENDINGS)
        self._ends = [self._ends_of(cell) for cell in range(self.cells)]
        self._blocked = [self._why_not_put(cell) for cell in range(self.cells)]
        self._shifts = {
            (cell, end): self._shifts_of(cell, end) for cell in range(self.cells) for end in self._ends[cell]
        }
        tables = lib.quixo_board_new(width, height)
        if tables == ffi.NULL:
            raise MemoryError(f"not enough memory for the tables of a {width}×{height} board")
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
        """Return the position of a text like `X.../..../..../...O:X`. Raise ValueError with the reason otherwise."""
        text = text.strip()
        if re.fullmatch(r"[0-9]{1,20}", text):
            if self._kernel.valid(int(text)):
                return int(text)
            raise ValueError(f"{text} is not a position of Quixo on {self.width}×{self.height}")
        board, _, player = text.rpartition(":")
        if player.upper() not in tuple(PLAYERS):
            raise ValueError(f"the side to move is missing; end the text with :X or :O, like {self.decode(0)}")
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
        """Exchange X and O, including the side to move."""
        side, half = np.uint64(1 << _SIDE_BIT), np.uint64(_HALF)
        marks = positions & ~side
        return marks << half | marks >> half | ~positions & side

    # ---- moves ----

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return f"{self.names[move >> _CELL_BITS & _CELL_MASK]}→{self.names[move & _CELL_MASK]}"

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        """Return the move of a text like `a4→a1` or `a4-a1`. Raise ValueError with the reason if it is not legal."""
        match = _MOVE.fullmatch(text.strip())
        if match is None:
            raise ValueError(
                f"{text!r} is not a move: write the cell to take from and the cell to put back, like a1-a4"
            )
        for name in match.groups():
            if name.lower() not in self.names:
                corners = f"{self.names[-self.width]} to {self.names[self.width - 1]}"
                raise ValueError(f"there is no cell {name}; the board is {corners}")
        source, target = (self.names.index(name.lower()) for name in match.groups())
        over = None if self._kernel.moves(position) else "the game is over"
        if reason := over or self._why_not_take(position, source) or self._blocked[source].get(self.names[target]):
            raise ValueError(f"{self.names[source]}→{self.names[target]} is not legal: {reason}")
        return self._move(position, source, target)

    def _move(self, position: int, source: int, target: int) -> int:
        marked = self._owner(position, source) is not None
        return marked << 2 * _CELL_BITS | source << _CELL_BITS | target

    def _ends_of(self, cell: int) -> list[int]:
        """Return where a cube taken from a cell may be put back: at the other ends of its row and column."""
        row, column = divmod(cell, self.width)
        first_of_row, last_row = row * self.width, (self.height - 1) * self.width
        ends = (first_of_row, first_of_row + self.width - 1, column, last_row + column)
        return [end for end in ends if end != cell]

    def _shifts_of(self, source: int, end: int) -> tuple[tuple[str, str], ...]:
        """Return how the cubes between source and end move by one place towards the source."""
        step = 1 if source // self.width == end // self.width else self.width
        cells = range(source, end + 1, step) if source < end else range(source, end - 1, -step)
        return tuple((self.names[cell], self.names[neighbour]) for neighbour, cell in pairwise(cells))

    def _why_not_take(self, position: int, cell: int) -> str | None:
        if len(self._ends[cell]) == 4:
            return f"{self.names[cell]} is not on the border"
        if self._owner(position, cell) == 1 - _side(position):
            return f"the cube at {self.names[cell]} shows the opponent's mark"
        return None

    def _why_not_put(self, source: int) -> dict[str, str]:
        """Return the reasons against all cells where a cube from `source` cannot be put back, by cell name."""
        ends = [self.names[end] for end in self._ends[source]]
        reason = f"a cube from {self.names[source]} can only be put back at {', '.join(ends)}"
        reasons = {name: reason for name in self.names if name not in ends}
        return reasons | {self.names[source]: "a cube must not be put back on its own cell"}

    # ---- the board ----

    @hookimpl
    def board(self, position: int) -> Board:
        """Return the board, with a click on the cube to take and one on the cell to put it back."""
        owners = [self._owner(position, cell) for cell in range(self.cells)]
        stacks = [() if owner is None else (PIECES[owner],) for owner in owners]
        clicks: list[Click] = []
        blocked: dict[str, dict[str, str]] = {}
        for source in range(self.cells) if self._kernel.moves(position) else ():
            if self._why_not_take(position, source):
                continue
            name = self.names[source]
            clicks += [
                Click(self._move(position, source, end), self.names[end], name, shifts=self._shifts[source, end])
                for end in self._ends[source]
            ]
            blocked[name] = self._blocked[source]
        return Board(
            rows=self.height,
            columns=self.width,
            cells=tuple(Cell(self.names[i], *divmod(i, self.width), stack) for i, stack in enumerate(stacks)),
            to_move=_side(position),
            players=("X", "O"),
            clicks=tuple(clicks),
            blocked=blocked,
            spelling=self._spelling,
            highlight=tuple(self.names[cell] for cell in self._winning_cells(owners)),
        )

    def _winning_cells(self, owners: list[int | None]) -> list[int]:
        """Return the cells of all complete lines."""
        lines = self.grid.lines(min(self.width, self.height))
        complete = [line for line in lines if owners[line[0]] is not None and len({owners[cell] for cell in line}) == 1]
        return sorted({cell for line in complete for cell in line})


def _side(position: int) -> int:
    """Return 0 if X is to move, 1 if O is."""
    return position >> _SIDE_BIT
