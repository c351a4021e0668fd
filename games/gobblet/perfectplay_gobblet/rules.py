"""The rules in Python: the bits of a position, whether they are valid, and why a move is not legal.

The kernel lists the legal moves. The `why_not_*` functions judge any attempted move and return None for a legal one;
a test compares them with the kernel.

    bit 63         55  54  53      48 47      42                     11       6 5        0
       [  all zero   ][ B ][cell 8   ][cell 7   ]        …          [ cell 1   ][ cell 0   ]

    cell    5  4  3  2  1  0         cells, row by row   0 1 2   = (0,0) (0,1) (0,2)
           [ L  ][ M  ][ S  ]                            3 4 5     (1,0) (1,1) (1,2)
                                                         6 7 8     (2,0) (2,1) (2,2)

Each size has two bits for its owner: 0 none, 1 Orange (the first player), 2 Blue. B is the side to move: 0 Orange,
1 Blue. A cell with Orange small under Blue medium under Orange large is 01 10 01 = 25. Larger pieces always lie on
smaller ones, so the sizes determine the order of a stack. Pieces that are not on the board are in reserve.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from perfectplay_native.positions import Positions

CELLS = range(9)
SIZES = range(3)
SIZE_NAMES = ("small", "medium", "large")
SIZE_LETTERS = "SML"
COPIES = 2
"""Pieces of each size that a player has."""

PLAYERS = ("Orange", "Blue")
"""Players are numbered 0 and 1 in Python, 1 and 2 in the owner bits."""

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

_SIDE_BIT = 54
_NO_OWNER = 0
_EVERY_CELL = sum(1 << 6 * cell for cell in CELLS)
"""The lowest bit of each cell."""
_LINE_CELLS = [(line, sum(1 << 6 * cell for cell in line)) for line in LINES]
_NAMES = tuple(f"({cell // 3},{cell % 3})" for cell in CELLS)


def side(position: int) -> int:
    """Return the player to move."""
    return position >> _SIDE_BIT & 1


def owner_bits(position: int, cell: int, size: int) -> int:
    return position >> 6 * cell + 2 * size & 3


def piece_bits(player: int, cell: int, size: int) -> int:
    """Return the bits that add one piece to a position, or remove it."""
    return player + 1 << 6 * cell + 2 * size


def side_bits(player: int) -> int:
    return player << _SIDE_BIT


STACKS = tuple(
    tuple((owner - 1, size) for size in SIZES if (owner := bits >> 2 * size & 3) != _NO_OWNER) for bits in range(64)
)
"""The pieces of a cell, indexed by its six bits."""
_TOPS = tuple(pieces[-1] if pieces else None for pieces in STACKS)


def stack(position: int, cell: int) -> tuple[tuple[int, int], ...]:
    """Return the pieces on a cell as (player, size), from the bottom to the visible top."""
    return STACKS[position >> 6 * cell & 63]


def top(position: int, cell: int) -> tuple[int, int] | None:
    """Return the visible piece of a cell as (player, size), or None if the cell is empty."""
    return _TOPS[position >> 6 * cell & 63]


def reserve(position: int, player: int, size: int) -> int:
    """Return the number of the player's pieces of this size that are not on the board."""
    return COPIES - (position >> 2 * size + player & _EVERY_CELL).bit_count()


def lines(position: int, player: int) -> tuple[tuple[int, ...], ...]:
    """Return the lines of three visible pieces that the player has."""
    visible = covered = 0  # the lowest bit of each cell
    for size in reversed(SIZES):
        pieces = position >> 2 * size
        visible |= pieces >> player & ~covered
        covered |= pieces | pieces >> 1
    return tuple(line for line, cells in _LINE_CELLS if visible & cells == cells)


def cell_name(cell: int) -> str:
    """Return the cell as (row,column), with (0,0) at the top left."""
    return _NAMES[cell]


def cell_names(cells: Iterable[int]) -> str:
    return " ".join(map(cell_name, cells))


def check(position: int) -> None:
    """Check that these bits are a position of the game. Raise ValueError with the reason otherwise."""
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
            cells = [cell for cell in CELLS if owner_bits(position, cell, size) == player + 1]
            if len(cells) > COPIES:
                raise ValueError(
                    f"{PLAYERS[player]} has {len(cells)} {SIZE_NAMES[size]} pieces, "
                    f"at {cell_names(cells)}, but there are only {COPIES}"
                )
    mover = side(position)
    for line in lines(position, mover):
        raise ValueError(
            f"{PLAYERS[mover]} is to move but already has the line {cell_names(line)}, "
            "which the opponent's last move had to break"
        )


def swap_colours(positions: Positions) -> Positions:
    """Return the positions with every piece owned by the other player, and the other player to move."""
    swapped = (positions & _ORANGE_PIECES) << _ONE | (positions & _BLUE_PIECES) >> _ONE
    return np.asarray(swapped | (positions & _SIDE ^ _SIDE), dtype=np.uint64)


def _all_pieces(player: int) -> np.uint64:
    return np.uint64(sum(piece_bits(player, cell, size) for cell in CELLS for size in SIZES))


_ORANGE_PIECES, _BLUE_PIECES = _all_pieces(0), _all_pieces(1)
_SIDE = np.uint64(side_bits(1))
_ONE = np.uint64(1)


# ---- reasons against illegal moves ----

SAME_CELL = "a lifted piece may not go back to its own cell"


def game_over(position: int) -> str | None:
    """Return the reason why the game is over, or None if no player has a line."""
    opponent = 1 - side(position)
    for line in lines(position, opponent):
        return f"the game is over: {PLAYERS[opponent]} has the line {cell_names(line)}"
    return None


def why_not_place(position: int, size: int, target: int) -> str | None:
    """Return why the mover may not place a piece of this size on `target`, or None if it is legal."""
    mover = side(position)
    if over := game_over(position):
        return over
    if not reserve(position, mover, size):
        return f"{PLAYERS[mover]} has no {SIZE_NAMES[size]} piece left in reserve"
    return why_not_land(position, size, target)


def why_not_slide(position: int, source: int, target: int) -> str | None:
    """Return why the mover may not move the visible piece at `source` to `target`, or None if it is legal."""
    return game_over(position) or why_not_lift(position, source) or why_not_carry(position, source, target)


def why_not_carry(position: int, source: int, target: int) -> str | None:
    """Like `why_not_slide`, for a visible piece of the mover in an unfinished game."""
    mover, size = stack(position, source)[-1]
    if source == target:
        return SAME_CELL
    if reason := why_not_land(position, size, target):
        return reason
    revealed = revealed_lines(position, source)
    moved = position ^ piece_bits(mover, source, size) ^ piece_bits(mover, target, size)
    if not revealed or not lines(moved, 1 - mover):  # landing can only hide pieces of the opponent
        return None
    opponent = PLAYERS[1 - mover]
    if len(revealed) > 1:
        names = " and ".join(map(cell_names, revealed))
        return f"lifting it reveals {len(revealed)} lines of {opponent}, {names}, and no landing breaks them all"
    return f"lifting it reveals {opponent}'s line {cell_names(revealed[0])}, and {cell_name(target)} is not on it"


def why_not_lift(position: int, source: int) -> str | None:
    """Return why the mover may not lift the visible piece at `source`, or None if the piece is theirs."""
    mover, name = side(position), cell_name(source)
    pieces = stack(position, source)
    if not pieces:
        return f"there is no piece at {name}"
    owner, size = pieces[-1]
    if owner == mover:
        return None
    if any(player == mover for player, _ in pieces):
        cover = f"{PLAYERS[owner]}'s {SIZE_NAMES[size]} piece"
        return f"{PLAYERS[mover]}'s piece at {name} is covered by {cover}"
    return f"the piece at {name} is {PLAYERS[owner]}'s, and {PLAYERS[mover]} is to move"


def revealed_lines(position: int, source: int) -> tuple[tuple[int, ...], ...]:
    """Return the opponent's lines that appear when the mover lifts their visible piece at `source`."""
    *under, (mover, size) = stack(position, source)
    if not under or under[-1][0] == mover:  # lifting reveals no piece of the opponent
        return ()
    return lines(position ^ piece_bits(mover, source, size), 1 - mover)


def lift_warning(position: int, source: int) -> str | None:
    """Return a warning if the mover's piece at `source` hides a line of the opponent, else None."""
    if game_over(position) or why_not_lift(position, source):
        return None
    revealed = revealed_lines(position, source)
    if not revealed:
        return None
    opponent = PLAYERS[1 - side(position)]
    if len(revealed) > 1:
        return f"Lifting it would reveal {len(revealed)} lines of {opponent}, so it cannot move"
    return f"Lifting it reveals {opponent}'s line {cell_names(revealed[0])}, so it must land on that line"


def why_not_land(position: int, size: int, target: int) -> str | None:
    """Return why a piece of this size does not fit on `target`, or None if it does."""
    _, shift, reasons = _LANDINGS[size][target]
    return reasons[position >> shift & 63]


def landing_obstacles(position: int, size: int) -> dict[str, str]:
    """Return the reasons for all cells where a piece of this size does not fit, by cell name."""
    return {
        name: reason
        for name, shift, reasons in _LANDINGS[size]
        if (reason := reasons[position >> shift & 63]) is not None
    }


def _landing(size: int, target: int, pieces: tuple[tuple[int, int], ...]) -> str | None:
    if not pieces or pieces[-1][1] < size:
        return None
    return f"a {SIZE_NAMES[size]} piece does not cover the {SIZE_NAMES[pieces[-1][1]]} piece at {cell_name(target)}"


_LANDINGS = [
    [(cell_name(cell), 6 * cell, [_landing(size, cell, pieces) for pieces in STACKS]) for cell in CELLS]
    for size in SIZES
]
"""By size and cell: the cell's name, the position of its bits, and the reason for each value of these bits."""
