"""Positions packed into integers: `Grid` for boards of rows and columns, `Fields` for any named numbers.

The cells of a grid are numbered row by row from the top left. Their names are those of chess squares:

    0 1 2      a3 b3 c3
    3 4 5      a2 b2 c2
    6 7 8      a1 b1 c1
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping, Sequence
from typing import Any

from perfectplay.authoring.groups import Group, Symmetry
from perfectplay.game.board import Board, Cell, Click, Piece

POSITION_BITS = 64


class Grid:
    """A board whose cells contain numbers below `values`, such as 0 for empty, 1 and 2 for the players' pieces.

    >>> grid = Grid(3, 3, values=3)
    >>> position = grid.pack([1, 0, 0, 0, 2, 0, 0, 0, 0])
    >>> grid.unpack(position)
    [1, 0, 0, 0, 2, 0, 0, 0, 0]
    >>> grid.write(position, ".XO")
    'X../.O./...'
    >>> len(grid.lines(3)), len(grid.d4()), grid.names[0]
    (8, 8, 'a3')
    """

    def __init__(self, rows: int, columns: int, *, values: int) -> None:
        self.rows, self.columns, self.values = rows, columns, values
        self.size = rows * columns
        self.bits = (values - 1).bit_length()
        """Bits per cell. The grid is in the lowest `size * bits` bits of a position."""
        if self.size * self.bits > POSITION_BITS:
            raise ValueError(f"{self.size} cells of {self.bits} bits do not fit the {POSITION_BITS} bits of a position")
        self.names = [f"{chr(97 + column)}{rows - row}" for row in range(rows) for column in range(columns)]
        self._shifts = [cell * self.bits for cell in range(self.size)]
        self._mask = (1 << self.bits) - 1

    # ---- packing ----

    def pack(self, cells: Sequence[int]) -> int:
        """Return a list of cells as an integer."""
        return sum([number << shift for number, shift in zip(cells, self._shifts, strict=True)])

    def unpack(self, position: int) -> list[int]:
        """Return the list of cells. Bits above the grid are ignored."""
        mask = self._mask
        return [(position >> shift) & mask for shift in self._shifts]

    # ---- symmetries and lines ----

    def d4(self) -> Group:
        """Return the group of the eight rotations and reflections of a square board."""
        if self.rows != self.columns:
            raise ValueError(f"a board of {self.rows}×{self.columns} has no quarter turns; use d2()")
        side = range(self.rows)
        quarter_turn = tuple((self.rows - 1 - column) * self.columns + row for row in side for column in side)
        return Group([Symmetry(quarter_turn), self._mirror()])

    def d2(self) -> Group:
        """Return the group of the half turn and the two reflections of a rectangle."""
        return Group([Symmetry(tuple(range(self.size))[::-1]), self._mirror()])

    def mirror(self) -> Group:
        """Return the group of the left-right reflection, the only symmetry of a game with gravity."""
        return Group([self._mirror()])

    def _mirror(self) -> Symmetry:
        columns = range(self.columns)[::-1]
        return Symmetry(tuple(row * self.columns + column for row in range(self.rows) for column in columns))

    def lines(self, length: int) -> list[tuple[int, ...]]:
        """Return the cells of every row, column and diagonal of this length."""
        lines = []
        for row in range(self.rows):
            for column in range(self.columns):
                for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                    last_row, last_column = row + (length - 1) * down, column + (length - 1) * right
                    if last_row < self.rows and 0 <= last_column < self.columns:
                        step = down * self.columns + right
                        lines.append(tuple(row * self.columns + column + i * step for i in range(length)))
        return lines

    # ---- notation and drawing ----

    def write(self, position: int, letters: str) -> str:
        """Return the rows from the top, separated by `/`. `letters` has one letter for each value."""
        text = "".join([letters[number] for number in self.unpack(position)])
        return "/".join(text[first : first + self.columns] for first in range(0, self.size, self.columns))

    def read(self, text: str, letters: str) -> int:
        """Return the position of a text that `write` returns. Raises ValueError with the reason for any other text."""
        rows = text.strip().split("/")
        if len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise ValueError(f"expected {self.rows} rows of {self.columns}, such as {self.write(0, letters)}")
        for number, row in enumerate(rows, 1):
            for letter in row:
                if letter not in letters:
                    raise ValueError(f"{letter!r} in row {number} is not one of {' '.join(letters)}")
        return self.pack([letters.index(letter) for row in rows for letter in row])

    def board(self, position: int, pieces: Mapping[int, Piece], *, to_move: int, clicks: Sequence[Click] = ()) -> Board:
        """Return the board to draw. `pieces` has the piece for each value; values without one are empty cells."""
        cells = tuple(
            Cell(name, *divmod(i, self.columns), (pieces[number],) if number in pieces else ())
            for i, (name, number) in enumerate(zip(self.names, self.unpack(position), strict=True))
        )
        return Board(self.rows, self.columns, cells, to_move, clicks=tuple(clicks))


class Fields:
    """A layout of named fields in an integer. A field has a number of values, or a tuple (numbers, values of each).

    For `Fields(ring=(8, 3), centre=3)`, eight numbers below 3 and then one number below 3, the layout is::

                    17 16 15 14        3  2  1  0
        position = [ctr ][ring 7] … [ring 1][ring 0]      the first field is lowest

    >>> fields = Fields(ring=(8, 3), centre=3)
    >>> position = fields.pack(ring=[1, 1, 1, 1, 2, 2, 2, 2], centre=0)
    >>> fields.unpack(position)
    Fields(ring=(1, 1, 1, 1, 2, 2, 2, 2), centre=0)
    >>> fields.bits
    18
    """

    def __init__(self, **sizes: int | tuple[int, int]) -> None:
        self.bits = 0
        self._sizes = sizes
        self._shifts: list[
            tuple[tuple[int, ...], int, bool]
        ] = []  # shifts, mask and whether it is a tuple, for each field
        for name, size in sizes.items():
            count, values = size if isinstance(size, tuple) else (1, size)
            if values < 1 or count < 1:
                raise ValueError(f"field '{name}' must have at least one value")
            width = (values - 1).bit_length()
            shifts = tuple(self.bits + width * i for i in range(count))
            self._shifts.append((shifts, (1 << width) - 1, isinstance(size, tuple)))
            self.bits += width * count
        if self.bits > POSITION_BITS:
            raise ValueError(f"the fields need {self.bits} bits, but a position has {POSITION_BITS}")
        record: Any = namedtuple("Fields", list(sizes))  # type: ignore[misc]  # the names are known only at run time
        self._record = record

    def pack(self, **values: Any) -> int:
        """Return these values as an integer. Raises ValueError if one is missing, unknown or out of range."""
        if values.keys() != self._sizes.keys():
            raise ValueError(f"expected the fields {', '.join(self._sizes)}, not {', '.join(values) or 'none'}")
        position = 0
        for (name, size), (shifts, _, many) in zip(self._sizes.items(), self._shifts, strict=True):
            numbers = tuple(values[name]) if many else (values[name],)
            limit = size[1] if isinstance(size, tuple) else size
            if len(numbers) != len(shifts):
                raise ValueError(f"field '{name}' has {len(shifts)} numbers, not {len(numbers)}")
            for number, shift in zip(numbers, shifts, strict=True):
                if not 0 <= number < limit:
                    raise ValueError(f"field '{name}' contains numbers from 0 to {limit - 1}, not {number}")
                position |= number << shift
        return position

    def unpack(self, position: int) -> Any:
        """Return the values as a named tuple, in the order of the fields."""
        values: list[int | tuple[int, ...]] = []
        for shifts, mask, many in self._shifts:
            if many:
                values.append(tuple([(position >> shift) & mask for shift in shifts]))
            else:
                values.append((position >> shifts[0]) & mask)
        return self._record(*values)

    def fits(self, position: int) -> bool:
        """Return whether all fields are in range and no higher bits are set. Useful for the hook `valid`."""
        if position >> self.bits:
            return False
        limits = [size[1] if isinstance(size, tuple) else size for size in self._sizes.values()]
        fields = zip(self.unpack(position), limits, strict=True)
        return all(max(value) < limit if isinstance(value, tuple) else value < limit for value, limit in fields)
