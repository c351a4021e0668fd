"""`Index`: the declaration of cells and pieces from which a game without its own index gets one.

The position of such a game contains one small number per cell, 0 for an empty cell. That is data, not code, so
positions are ranked and unranked in C, for rules in Python as well (perfectplay_native/src/declared_index.c).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

if TYPE_CHECKING:
    from perfectplay_native.declared_index import Layout

MAX_CELLS = 64
MAX_KINDS = 8
MAX_CELL_BITS = 8
MAX_NUMBERS = 8
MAX_NUMBER_BITS = 16
POSITION_BITS = 64

ORDER_VERSION = 2
"""Raised when include/perfectplay/index.h numbers the slots in another order, because tables depend on it."""


class Cells(Protocol):
    """A board that has the bits and the names of its cells: a `Grid`."""

    @property
    def cell_bits(self) -> Sequence[Sequence[int]]: ...
    @property
    def names(self) -> Sequence[str]: ...


class Permutation(Protocol):
    """An element of a group: a `Symmetry`."""

    @property
    def places(self) -> tuple[int, ...]: ...
    @property
    def labels(self) -> tuple[int, ...]: ...


class SymmetryGroup(Protocol):
    """A symmetry group of the cells: a `Group`."""

    @property
    def generators(self) -> Iterable[Permutation]: ...


@dataclass(frozen=True, slots=True)
class Index:
    """The cells and pieces of a game, returned by the hook `index`.

    - `cells`: a `Grid`, or the bits of each cell, lowest first, as `Fields.bits_of` returns them. For one bitboard per
      player, cell c has the bits `(c, 9 + c)`, for example.
    - `kinds`: for each value of a cell with a piece, the number of such pieces on the board, or a pair (least, most).
    - `group`: the symmetries. A group of fewer places than there are cells leaves the other cells fixed.
    - `hands`: for kinds with pieces in hand, the bits of their number.
    - `turn`: the bits of the side to move, if positions contain it.
    - `swap`: kinds that exchange colours, such as `{1: 2}`, if exchanging them together with the turn is a symmetry.
    - `numbers`: the bits of other numbers in a position; each value is a separate tier.

    Bits that are in none of these must be the same in all positions. Raises ValueError for a declaration that
    contradicts itself.

    >>> from perfectplay.authoring import Grid, Index
    >>> grid = Grid(3, 3, values=3)
    >>> Index(grid, {1: (0, 5), 2: (0, 4)}, grid.d4()).fault(grid.pack([1, 1, 0, 0, 2, 0, 0, 0, 3]))
    'cell c1 has the value 3, but the kinds are 1 and 2'
    """

    cells: Cells | Sequence[Sequence[int]]
    kinds: Mapping[int, int | tuple[int, int]]
    group: SymmetryGroup | None = None
    hands: Mapping[int, Sequence[int]] = field(default_factory=dict, kw_only=True)
    turn: Sequence[int] = field(default=(), kw_only=True)
    swap: Mapping[int, int] = field(default_factory=dict, kw_only=True)
    numbers: Sequence[Sequence[int]] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for name, value in (("turn", self.turn), ("cells", self.cells), ("numbers", self.numbers)):
            if isinstance(value, int):
                raise ValueError(f"`{name}` must be a list of bits, not {value}")
        bits = [bit for cell in self.cell_bits for bit in cell]
        bits += [bit for number in self._number_bits() for bit in number]
        if not 1 <= len(self.cell_bits) <= MAX_CELLS:
            raise ValueError(f"an index has 1 to {MAX_CELLS} cells, not {len(self.cell_bits)}")
        if any(not 0 <= bit < POSITION_BITS for bit in bits):
            raise ValueError(f"the bits of a position are 0 to {POSITION_BITS - 1}, not {min(bits)} to {max(bits)}")
        if twice := {bit for bit in bits if bits.count(bit) > 1}:
            raise ValueError(f"bit {min(twice)} belongs to two cells or numbers")
        self._check_kinds()
        self._check_group()
        self._check_numbers()

    def _check_kinds(self) -> None:
        if not 1 <= len(self.kinds) <= MAX_KINDS:
            raise ValueError(f"an index has 1 to {MAX_KINDS} kinds of pieces, not {len(self.kinds)}")
        narrowest, widest = min(map(len, self.cell_bits)), max(map(len, self.cell_bits))
        if widest > MAX_CELL_BITS:
            raise ValueError(f"a cell has at most {MAX_CELL_BITS} bits, not {widest}")
        for value, (least, most) in self.counts.items():
            if not 0 < value < 1 << narrowest:
                raise ValueError(f"kind {value} must be from 1 to {(1 << narrowest) - 1}, the values of a cell")
            if not 0 <= least <= most <= len(self.cell_bits):
                raise ValueError(f"the board has {len(self.cell_bits)} cells, not {least} to {most} for kind {value}")

    def _check_group(self) -> None:
        for element in () if self.group is None else self.group.generators:
            if element.labels:
                raise ValueError("the group of an index only permutes cells; declare a swap of colours with `swap`")
            if len(element.places) > len(self.cell_bits):
                raise ValueError(
                    f"the group permutes {len(element.places)} places, but there are {len(self.cell_bits)} cells"
                )

    def _check_numbers(self) -> None:
        for bits in self._number_bits():
            if not bits or list(bits) != list(range(bits[0], bits[0] + len(bits))) or len(bits) > MAX_NUMBER_BITS:
                raise ValueError(f"a number has 1 to {MAX_NUMBER_BITS} adjacent bits, lowest first, not {list(bits)}")
        if len(self._number_bits()) > MAX_NUMBERS:
            raise ValueError(f"an index has at most {MAX_NUMBERS} numbers, hands and the turn included")
        if unknown := [value for value in (*self.hands, *self.swapped) if value not in self.kinds]:
            raise ValueError(f"`hands` and `swap` name kind {unknown[0]}, which is not one of the kinds")
        if self.swap and len(self.turn) != 1:
            raise ValueError("`swap` needs `turn`, the one bit of the side to move")
        for value, other in self.swapped.items():
            if self.counts[value] != self.counts[other] or (value in self.hands) != (other in self.hands):
                raise ValueError(f"`swap` exchanges kinds {value} and {other}, which must have equal counts and hands")
            if value in self.hands and len(self.hands[value]) != len(self.hands[other]):
                raise ValueError(f"the hands of kinds {value} and {other} must have equally many bits")

    # ---- parts ----

    @property
    def cell_bits(self) -> Sequence[Sequence[int]]:
        return self.cells if isinstance(self.cells, Sequence) else self.cells.cell_bits

    @property
    def counts(self) -> dict[int, tuple[int, int]]:
        """The least and the largest number of pieces of each kind on the board."""
        return {value: (n, n) if isinstance(n, int) else (n[0], n[1]) for value, n in self.kinds.items()}

    @property
    def swapped(self) -> dict[int, int]:
        """The kind that a colour swap makes of each kind in `swap`."""
        return {**self.swap, **{other: value for value, other in self.swap.items()}}

    def _number_bits(self) -> list[Sequence[int]]:
        """Return the bits of all numbers, which include the turn; it is the last."""
        return [*self.hands.values(), *self.numbers, *([self.turn] if self.turn else [])]

    def _cell_name(self, cell: int) -> str:
        return f"cell {cell}" if isinstance(self.cells, Sequence) else f"cell {self.cells.names[cell]}"

    # ---- positions ----

    def fault(self, position: int, start: int = 0) -> str | None:
        """Return why a position does not fit the declaration, None if it does. `start` is the start position."""
        bits = [bit for group in (*self.cell_bits, *self._number_bits()) for bit in group]
        undeclared = (position ^ start) & ~sum(1 << bit for bit in bits)
        if undeclared:
            bit = (undeclared & -undeclared).bit_length() - 1
            return f"bit {bit} changes, but it is in none of the index's cells, hands, turn and numbers"
        values = [sum((position >> bit & 1) << i for i, bit in enumerate(cell)) for cell in self.cell_bits]
        for cell, value in enumerate(values):
            if value and value not in self.kinds:
                kinds = " and ".join(map(str, sorted(self.kinds)))
                declared = f"the kinds are {kinds}" if len(self.kinds) > 1 else f"the only kind is {kinds}"
                return f"{self._cell_name(cell)} has the value {value}, but {declared}"
        for value, (least, most) in self.counts.items():
            if not least <= values.count(value) <= most:
                allowed = f"{least}" if least == most else f"{least} to {most}"
                return f"there are {values.count(value)} pieces of kind {value}, but the index allows {allowed}"
        return None

    # ---- for the engine ----

    def layout(self) -> Layout:
        """Build the tables of the index. Raises ValueError if they would be too large."""
        from perfectplay_native.declared_index import NO_TURN, Layout, Number

        hands, numbers = list(self.hands), []
        for place, bits in enumerate(self._number_bits()[: -1 if self.swap else None]):
            partner = hands.index(self.swapped.get(hands[place], hands[place])) if place < len(hands) else place
            numbers.append(Number(bits[0], len(bits), partner))
        return Layout(
            [list(bits) for bits in self.cell_bits],
            self.counts,
            self._generators(),
            numbers,
            turn_bit=self.turn[0] if self.swap else NO_TURN,
            swapped=self.swapped,
        )

    def _generators(self) -> list[list[int]]:
        size = len(self.cell_bits)
        elements = () if self.group is None else self.group.generators
        return [[*element.places, *range(len(element.places), size)] for element in elements]

    @property
    def checksum(self) -> int:
        """A number that changes with anything that the order of the slots depends on."""
        numbers = [list(bits) for bits in self._number_bits()]
        cells, kinds = [list(bits) for bits in self.cell_bits], sorted(self.counts.items())
        parts = (
            ORDER_VERSION,
            cells,
            kinds,
            self._generators(),
            list(self.hands),
            numbers,
            sorted(self.swapped.items()),
        )
        return crc32(repr(parts).encode())
