"""Reading the 64 bits of a position: who owns what, where, and whether the bits are a position at all.

    bit 63         55  54  53      48 47      42                     11       6 5        0
       [  all zero   ][ B ][cell 8   ][cell 7   ]        …          [ cell 1   ][ cell 0   ]

    cell    5  4  3  2  1  0         cells, row by row   0 1 2   = (0,0) (0,1) (0,2)
           [ L  ][ M  ][ S  ]                            3 4 5     (1,0) (1,1) (1,2)
                                                         6 7 8     (2,0) (2,1) (2,2)

Two bits a size: owner 0 nobody, 1 Orange (who begins), 2 Blue. B is the side to move: 0 Orange, 1 Blue.
A cell with Orange small under Blue medium under Orange large is 01 10 01 = 25. Larger pieces always stand on
smaller ones, so the sizes alone give the order of a stack. The reserves are what is not on the board.
"""

from __future__ import annotations

from collections.abc import Iterable

CELLS = range(9)
SIZES = range(3)
SIZE_NAMES = ("small", "medium", "large")
SIZE_LETTERS = "SML"
COPIES = 2
"""Each player has this many pieces of each size."""

PLAYERS = ("Orange", "Blue")
"""Players are numbered 0 and 1 in Python and in boards, 1 and 2 in the owner bits."""

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_SIDE_BIT = 54
_NO_OWNER = 0
_EVERY_CELL = sum(1 << 6 * cell for cell in CELLS)
"""The lowest bit of each cell."""
_LINE_CELLS = [(line, sum(1 << 6 * cell for cell in line)) for line in LINES]
_NAMES = tuple(f"({cell // 3},{cell % 3})" for cell in CELLS)


def side(position: int) -> int:
    """The player to move."""
    return position >> _SIDE_BIT & 1


def owner_bits(position: int, cell: int, size: int) -> int:
    return position >> 6 * cell + 2 * size & 3


def piece_bits(player: int, cell: int, size: int) -> int:
    """The bits to add to a position, or to take away, for one piece."""
    return player + 1 << 6 * cell + 2 * size


def side_bits(player: int) -> int:
    return player << _SIDE_BIT


STACKS = tuple(
    tuple((owner - 1, size) for size in SIZES if (owner := bits >> 2 * size & 3) != _NO_OWNER) for bits in range(64)
)
"""For the six bits of a cell, its pieces."""
_TOPS = tuple(pieces[-1] if pieces else None for pieces in STACKS)


def stack(position: int, cell: int) -> tuple[tuple[int, int], ...]:
    """The pieces on a cell as (player, size), from the bottom to the visible top."""
    return STACKS[position >> 6 * cell & 63]


def top(position: int, cell: int) -> tuple[int, int] | None:
    """The visible piece as (player, size)."""
    return _TOPS[position >> 6 * cell & 63]


def reserve(position: int, player: int, size: int) -> int:
    """How many of the player's pieces of this size are not yet on the board."""
    return COPIES - (position >> 2 * size + player & _EVERY_CELL).bit_count()


def lines(position: int, player: int) -> tuple[tuple[int, ...], ...]:
    """The lines of three visible pieces that the player has."""
    shown = covered = 0  # a bit for each cell, its lowest
    for size in reversed(SIZES):
        pieces = position >> 2 * size
        shown |= pieces >> player & ~covered
        covered |= pieces | pieces >> 1
    return tuple(line for line, cells in _LINE_CELLS if shown & cells == cells)


def cell_name(cell: int) -> str:
    """The cell as people write it: (row,column), from 0 at the top left."""
    return _NAMES[cell]


def cell_names(cells: Iterable[int]) -> str:
    return " ".join(map(cell_name, cells))


def check(position: int) -> None:
    """Raise ValueError, saying what and where, unless these bits are a position of the game."""
    if position < 0 or position >> _SIDE_BIT + 1:
        raise ValueError("bits 55 and above must be zero")
    for cell in CELLS:
        for size in SIZES:
            if owner_bits(position, cell, size) == 3:
                raise ValueError(
                    f"the {SIZE_NAMES[size]} piece at cell {cell_name(cell)} has owner 3, "
                    "but an owner is 0 (none), 1 (Orange) or 2 (Blue)"
                )
    for player in (0, 1):
        for size in SIZES:
            places = [cell for cell in CELLS if owner_bits(position, cell, size) == player + 1]
            if len(places) > COPIES:
                raise ValueError(
                    f"{PLAYERS[player]} has {len(places)} {SIZE_NAMES[size]} pieces, "
                    f"at {cell_names(places)}, but there are only {COPIES}"
                )
    mover = side(position)
    for line in lines(position, mover):
        raise ValueError(
            f"{PLAYERS[mover]} is to move but already has the line {cell_names(line)}, "
            "and nobody may leave an opposing line standing"
        )
