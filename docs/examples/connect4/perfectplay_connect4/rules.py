"""Connect Four in plain Python, on boards of any size that two 32-bit halves can hold.

The lower half has a bit for each stone of the player to move, the upper half one for each of the opponent's.
Cells are numbered up the columns, with one cell above each column that is never filled (here for 4×4):

     4  9 14 19    never filled, so that lines cannot run on into the next column
     3  8 13 18
     2  7 12 17
     1  6 11 16
     0  5 10 15    the bottom row
"""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

HALF = 32
LOW = (1 << HALF) - 1
LETTERS = ".XO"


class ConnectFour:
    """One size of board. A move is the number of a column."""

    def __init__(self, width: int, height: int, mirror: bool) -> None:
        self.width, self.height, self.mirror = width, height, mirror
        self.step = height + 1  # from a cell to its right neighbour
        if width * self.step > HALF:
            raise ValueError(f"{width} columns of {height} are too many: width × (height + 1) must be at most {HALF}")
        self.columns = [((1 << height) - 1) << column * self.step for column in range(width)]
        self.full = sum(self.columns)
        self.shifts = (1, self.step, self.step + 1, self.step - 1)  # up, right, and the two diagonals

    def has_four(self, stones: int) -> bool:
        for shift in self.shifts:
            pairs = stones & stones >> shift
            if pairs & pairs >> 2 * shift:
                return True
        return False

    @hookimpl
    def start(self) -> int:
        return 0

    @hookimpl
    def valid(self, position: int) -> bool:
        mine, theirs = position & LOW, position >> HALF
        stones = mine | theirs
        gaps = any(stones + (column & -column) & stones & column for column in self.columns)
        turns = theirs.bit_count() - mine.bit_count() in (0, 1)
        return not (mine & theirs or stones & ~self.full or gaps) and turns and not self.has_four(mine)

    @hookimpl
    def status(self, position: int) -> Status:
        if self.has_four(position >> HALF):
            return Status.LOST  # the opponent has just completed a line
        return Status.DRAWN if (position | position >> HALF) & LOW == self.full else Status.ONGOING

    @hookimpl
    def moves(self, position: int) -> list[int]:
        if self.has_four(position >> HALF):
            return []
        stones = position | position >> HALF
        return [number for number, column in enumerate(self.columns) if stones & column != column]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        mine, theirs = position & LOW, position >> HALF
        column = self.columns[move]
        # Adding one at the bottom of a column carries to its lowest empty cell.
        stone = (mine | theirs) + (column & -column) & column
        return theirs | (mine | stone) << HALF

    @hookimpl
    def undo(self, position: int, move: int) -> int:
        mine, theirs = position >> HALF, position & LOW  # of the player who made the move
        top = 1 << ((mine | theirs) & self.columns[move]).bit_length() - 1
        return (mine ^ top) | theirs << HALF

    @hookimpl
    def canonicalize(self, position: int) -> int:
        if not self.mirror:
            return position
        mirrored = 0
        column = self.columns[0] | self.columns[0] << HALF
        for number in range(self.width):
            mirrored |= (position >> number * self.step & column) << (self.width - 1 - number) * self.step
        return min(position, mirrored)

    @hookimpl
    def tier(self, position: int) -> int:
        return position.bit_count()  # every move adds a stone

    @hookimpl
    def encode(self, text: str) -> int:
        rows = text.strip().split("/")
        if len(rows) != self.height or any(len(row) != self.width for row in rows):
            raise ValueError(f"{self.height} rows of {self.width} are wanted, like {self.decode(0)}")
        if strange := set(text.strip()) - set(LETTERS + "/"):
            raise ValueError(f"{min(strange)!r} is none of {' '.join(LETTERS)}")
        crosses = self._stones(rows, "X")
        noughts = self._stones(rows, "O")
        if crosses.bit_count() == noughts.bit_count():
            return crosses | noughts << HALF
        return noughts | crosses << HALF

    def _stones(self, rows: list[str], letter: str) -> int:
        cells = [(x, y) for y in range(self.height) for x in range(self.width) if rows[-1 - y][x] == letter]
        return sum(1 << x * self.step + y for x, y in cells)

    @hookimpl
    def decode(self, position: int) -> str:
        return "/".join("".join(LETTERS[owner] for owner in row) for row in self._rows(position))

    def _rows(self, position: int) -> list[list[int]]:
        """From the top: 0 empty, 1 the first player's, 2 the second's."""
        mine, theirs = position & LOW, position >> HALF
        first, second = (mine, theirs) if self._to_move(position) == 0 else (theirs, mine)
        cells = [[x * self.step + y for x in range(self.width)] for y in reversed(range(self.height))]
        return [[(first >> cell & 1) + 2 * (second >> cell & 1) for cell in row] for row in cells]

    def _to_move(self, position: int) -> int:
        return position.bit_count() % 2

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return "abcdefghij"[move]

    @hookimpl
    def board(self, position: int) -> Board:
        pieces = ((), (Piece(0, "X"),), (Piece(1, "O"),))
        cells = [
            Cell(f"{'abcdefghij'[x]}{self.height - y}", y, x, pieces[owner])
            for y, row in enumerate(self._rows(position))
            for x, owner in enumerate(row)
        ]
        clicks = []
        for move in self.moves(position):
            stones = (position | position >> HALF) & self.columns[move]
            clicks.append(Click(move, f"{'abcdefghij'[move]}{stones.bit_count() + 1}"))
        return Board(self.height, self.width, tuple(cells), self._to_move(position), clicks=tuple(clicks))
