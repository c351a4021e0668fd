"""Connect Four in plain Python, on boards of any size that fit 63 bits, with lines of any length.

In a position, each column has `height + 1` bits: one for each stone from the bottom up, 1 for the mover's and 0 for the
opponent's, and a 1 above the topmost stone, the marker. Cells are numbered up the columns. For 4×4, this gives the
numbers on the left; on the right are the bits of a board with two stones:

     4  9 14 19      0 0 0 0
     3  8 13 18      0 0 0 0
     2  7 12 17      0 1 0 0    column b: the marker,
     1  6 11 16      0 0 0 0              a stone of the opponent,
     0  5 10 15      1 1 1 1              a stone of the mover; the other columns are empty
"""

from __future__ import annotations

from perfectplay import About, Board, Cell, Click, Piece, Status, hookimpl
from perfectplay.game.board import Spelling, grid_template

MAX_BITS = 63
COLUMNS = "abcdefghi"
LETTERS = ".XO"
PIECES = (Piece(0, "X", size=0.9, name="stone"), Piece(1, "O", size=0.9, name="stone"))
PLAYERS = ("X", "O")


_RULES = """
Players take turns to drop a stone into a column that is not full. It falls to the lowest empty cell. {connect} of your
stones in a vertical, horizontal or diagonal line win. A full board without such a line is a tie.
"""


class ConnectFour:
    """The game on one board size. A move is the number of a column."""

    TURNS_ALTERNATE = True

    def __init__(self, width: int, height: int, connect: int, mirror: bool) -> None:
        self.width, self.height, self.connect, self.mirror = width, height, connect, mirror
        self.step = height + 1  # from a cell to its right neighbour
        if width * self.step > MAX_BITS:
            raise ValueError(f"a {width}×{height} board is too large: width × (height + 1) must be at most {MAX_BITS}")
        self.columns = [((1 << self.step) - 1) << column * self.step for column in range(width)]
        self.empty = sum(column & -column for column in self.columns)
        self.tops = [1 << column * self.step + height for column in range(width)]  # the markers of full columns
        self.full = sum(self.tops)
        self.cells = self.full - self.empty
        # Shifting down by 1, 2, 4, ... cells fills all cells below a bit, but never the next column.
        downs = [1 << i for i in range(height.bit_length())]
        self.fills = [(down, self._lowest_rows(self.step - down)) for down in downs]
        # Three shifts combine the stones of a line of up to eight: pairs, then fours, then all.
        fours = min(4, connect)
        folds = (1, fours - 2, connect - fours)
        ways = (1, self.step, self.step + 1, self.step - 1)  # up, right, and the two diagonals
        self.folds = [tuple(fold * way for fold in folds) for way in ways]
        rows = [[f"{column}{row}" for column in COLUMNS[:width]] for row in range(height, 0, -1)]
        self._spelling = Spelling(PIECES, grid_template(rows))

    def _lowest_rows(self, rows: int) -> int:
        return sum(((1 << rows) - 1) << column * self.step for column in range(self.width))

    def marker(self, position: int, column: int) -> int:
        """Return the highest bit of a column, where the next stone falls."""
        return 1 << (position & self.columns[column]).bit_length() - 1

    def stones(self, position: int) -> int:
        """Return a bit for each stone of either player."""
        for down, cells in self.fills:
            position |= position >> down & cells
        return position >> 1 & self.cells

    def has_line(self, stones: int) -> bool:
        for to_pairs, to_fours, to_all in self.folds:
            pairs = stones & stones >> to_pairs
            fours = pairs & pairs >> to_fours
            if fours & fours >> to_all:
                return True
        return False

    def is_lost(self, position: int) -> bool:
        """Return whether the opponent has a line."""
        return self.has_line(self.stones(position) & ~position)

    @hookimpl
    def about(self) -> About:
        return About(f"Connect Four {self.width}×{self.height}", _RULES.format(connect=self.connect))

    @hookimpl
    def start(self) -> int:
        return self.empty

    @hookimpl
    def valid(self, position: int) -> bool:
        if position & ~sum(self.columns) or not all(position & column for column in self.columns):
            return False
        stones = self.stones(position)
        mine = stones & position
        return mine.bit_count() == stones.bit_count() // 2 and not self.has_line(mine)

    @hookimpl
    def status(self, position: int) -> Status:
        if self.is_lost(position):
            return Status.LOST  # the opponent has just completed a line
        return Status.DRAWN if position & self.full == self.full else Status.ONGOING

    @hookimpl
    def moves(self, position: int) -> list[int]:
        if self.is_lost(position):
            return []
        return [column for column, top in enumerate(self.tops) if not position & top]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        # The players swap roles, so every stone's bit flips. The marker moves up and leaves a 0, the new stone.
        return (position ^ self.stones(position)) + self.marker(position, move)

    @hookimpl
    def undo(self, position: int, move: int) -> int:
        before = position - (self.marker(position, move) >> 1)
        return before ^ self.stones(before)

    @hookimpl
    def canonicalize(self, position: int) -> int:
        if not self.mirror:
            return position
        mirrored = 0
        for number in range(self.width):
            mirrored = mirrored << self.step | position >> number * self.step & self.columns[0]
        return min(position, mirrored)

    @hookimpl
    def tier(self, position: int) -> int:
        return self.stones(position).bit_count()  # every move adds a stone

    @hookimpl
    def mover(self, position: int) -> int:
        return self.tier(position) % 2

    @hookimpl
    def encode(self, text: str) -> int:
        rows = text.strip().upper().split("/")
        if len(rows) != self.height or any(len(row) != self.width for row in rows):
            raise ValueError(f"write {self.height} rows of {self.width}, like {self.decode(self.empty)}")
        if unknown := set("".join(rows)) - set(LETTERS):
            raise ValueError(f"{min(unknown)!r} is not one of {' '.join(LETTERS)}")
        mover = LETTERS[1 + (text.upper().count("X") + text.upper().count("O")) % 2]
        position = 0
        for x in range(self.width):
            column = "".join(row[x] for row in reversed(rows)).rstrip(".")
            if "." in column:
                raise ValueError(f"column {COLUMNS[x]} has a gap below a stone")
            bits = sum(1 << y for y, letter in enumerate(column) if letter == mover)
            position |= (bits | 1 << len(column)) << x * self.step
        first, second = ("".join(rows).count(letter) for letter in LETTERS[1:])
        if first - second not in (0, 1):
            raise ValueError(f"X has {first} stones and O has {second}; X moves first, so X has as many or one more")
        return position

    @hookimpl
    def decode(self, position: int) -> str:
        return "/".join("".join(LETTERS[owner] for owner in row) for row in self._rows(position))

    def _rows(self, position: int) -> list[list[int]]:
        """Return the rows from the top: 0 for empty, 1 for the first player, 2 for the second."""
        stones = self.stones(position)
        first = position if self.mover(position) == 0 else ~position
        cells = [[x * self.step + y for x in range(self.width)] for y in reversed(range(self.height))]
        return [[(stones >> cell & 1) * (2 - (first >> cell & 1)) for cell in row] for row in cells]

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return COLUMNS[move]

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        column = COLUMNS[: self.width].find(text.strip().lower())
        if len(text.strip()) != 1 or column < 0:
            raise ValueError(f"{text!r} is not a move: write a column, {COLUMNS[0]} to {COLUMNS[self.width - 1]}")
        if column not in self.moves(position):
            reason = "the game is over" if self.is_lost(position) else "the column is full"
            raise ValueError(f"{text.strip()} is not legal: {reason}")
        return column

    @hookimpl
    def board(self, position: int) -> Board:
        """Return the board with a click for each column and the winning line."""
        cells = [
            Cell(f"{COLUMNS[x]}{self.height - y}", y, x, PIECES[owner - 1 : owner] if owner else (), shape="round")
            for y, row in enumerate(self._rows(position))
            for x, owner in enumerate(row)
        ]
        clicks = []
        for move in self.moves(position):
            stones = self.marker(position, move).bit_length() - 1 - move * self.step
            column = tuple(f"{COLUMNS[move]}{row}" for row in range(self.height, 0, -1))
            clicks.append(Click(move, column[-1 - stones], region=column))
        return Board(
            rows=self.height,
            columns=self.width,
            cells=tuple(cells),
            to_move=self.mover(position),
            players=PLAYERS,
            colours=("red", "yellow"),
            clicks=tuple(clicks),
            spelling=self._spelling,
            highlight=self._winning_cells(position),
            upright=True,
        )

    def _winning_cells(self, position: int) -> tuple[str, ...]:
        """Return the names of the cells in the opponent's lines, which end the game."""
        stones = self.stones(position) & ~position
        cells = 0
        for way in (1, self.step, self.step + 1, self.step - 1):
            first = stones
            for distance in range(1, self.connect):
                first &= stones >> distance * way
            for distance in range(self.connect):
                cells |= first << distance * way
        places = (divmod(cell, self.step) for cell in range(self.width * self.step) if cells >> cell & 1)
        return tuple(f"{COLUMNS[x]}{y + 1}" for x, y in places)
