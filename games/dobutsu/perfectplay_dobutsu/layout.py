"""Reading and writing the 64 bits of a position (drawn in board.h), and whether they are a position at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PLAYERS = ("Forest", "Sky")
"""Forest begins and plays up the board."""

CELLS = range(12)
COLUMNS = 3
GIRAFFE, ELEPHANT, CHICK, LION, HEN = 1, 2, 3, 4, 7
LETTERS = {GIRAFFE: "G", ELEPHANT: "E", CHICK: "C", LION: "L", HEN: "H"}
NAMES = {GIRAFFE: "giraffe", ELEPHANT: "elephant", CHICK: "chick", LION: "lion", HEN: "hen"}
IN_HAND = (GIRAFFE, ELEPHANT, CHICK)
COPIES = 2
"""So many of each kind that can be in hand; a hen is a chick."""

_PLANE_BITS, _HAND_BITS, _SIDE_BIT = 48, 6, 60
_FAR_RANK = (range(3), range(9, 12))


class Piece(NamedTuple):
    """A piece on the board."""

    player: int
    kind: int


def cell_name(cell: int) -> str:
    """Column A to C, row 1 to 4 from the top: the start has Forest's lion on B4."""
    return f"{'ABC'[cell % COLUMNS]}{cell // COLUMNS + 1}"


def side(position: int) -> int:
    """The player to move."""
    return position >> _SIDE_BIT & 1


def piece(position: int, cell: int) -> Piece | None:
    """What stands on a cell."""
    owner, *bits = (position >> 12 * plane + cell & 1 for plane in range(4))
    kind = bits[0] | bits[1] << 1 | bits[2] << 2
    return Piece(owner, kind) if kind else None


def board_of(position: int) -> dict[int, Piece]:
    """Every piece on the board by its cell."""
    return {cell: found for cell in CELLS if (found := piece(position, cell))}


def in_hand(position: int, player: int, kind: int) -> int:
    """How many of a kind a player has captured and not yet dropped."""
    return position >> _PLANE_BITS + player * _HAND_BITS + 2 * (kind - 1) & 3


def pack(board: Mapping[int, Piece], hands: Mapping[tuple[int, int], int], mover: int) -> int:
    """The bits of a position; `hands` has numbers by player and kind."""
    position = mover << _SIDE_BIT
    for cell, (player, kind) in board.items():
        planes = (player, kind & 1, kind >> 1 & 1, kind >> 2)
        position |= sum(bit << 12 * number + cell for number, bit in enumerate(planes))
    for (player, kind), count in hands.items():
        position |= count << _PLANE_BITS + player * _HAND_BITS + 2 * (kind - 1)
    return position


def check(position: int) -> None:
    """Raise ValueError, saying what and where, unless these bits are a position of the game."""
    if position < 0 or position >> _SIDE_BIT + 1:
        raise ValueError("bits 61 and above must be zero")
    board = board_of(position)
    for cell in CELLS:
        if cell in board and board[cell].kind not in NAMES:
            raise ValueError(f"the piece on {cell_name(cell)} is of kind {board[cell].kind}, which does not exist")
        if cell not in board and position >> cell & 1:
            raise ValueError(f"{cell_name(cell)} has an owner but no piece")
    for kind in IN_HAND:
        total = sum(each.kind & 3 == kind for each in board.values())
        total += sum(in_hand(position, player, kind) for player in (0, 1))
        if total != COPIES:
            raise ValueError(f"there are {total} {NAMES[kind]}s on the board and in hand, but a game has {COPIES}")
    _check_lions(board, side(position))


def _check_lions(board: Mapping[int, Piece], mover: int) -> None:
    for player, name in enumerate(PLAYERS):
        places = [cell for cell, found in board.items() if found == (player, LION)]
        if len(places) > 1:
            raise ValueError(f"{name} has {len(places)} lions, on {' and '.join(map(cell_name, places))}")
        if not places and player != mover:
            raise ValueError(f"{name} has no lion, but only the player to move, {PLAYERS[mover]}, can have lost it")
        if player == mover and places and places[0] in _FAR_RANK[player]:
            raise ValueError(
                f"{name} is to move with the lion on the far rank: the game ended before, "
                "as the lion was taken there or won"
            )


# ---- many at once ----

Positions = npt.NDArray[np.uint64]


def colour_swapped(positions: Positions) -> Positions:
    """The same positions with the board turned, every piece the other player's, and the other player to move."""
    turned = np.zeros_like(positions)
    one = np.uint64(1)
    for plane in range(4):
        for cell in CELLS:
            bit = positions >> np.uint64(12 * plane + cell) & one
            turned |= bit << np.uint64(12 * plane + 11 - cell)
    occupied = (turned >> np.uint64(12) | turned >> np.uint64(24) | turned >> np.uint64(36)) & np.uint64(0xFFF)
    hand = np.uint64((1 << _HAND_BITS) - 1)
    forest, sky = positions >> np.uint64(_PLANE_BITS), positions >> np.uint64(_PLANE_BITS + _HAND_BITS)
    hands = (sky & hand) | (forest & hand) << np.uint64(_HAND_BITS)
    other = (positions >> np.uint64(_SIDE_BIT)) ^ one
    return np.asarray(
        (turned ^ occupied) | hands << np.uint64(_PLANE_BITS) | other << np.uint64(_SIDE_BIT), dtype=np.uint64
    )
