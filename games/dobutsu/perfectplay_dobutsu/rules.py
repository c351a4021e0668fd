"""The rules in Python: the 64 bits of a position (drawn in board.h), their validity, and why a move is not legal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perfectplay_dobutsu._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

RANKED = Kernel(ffi, lib.dobutsu_kernel)
"""The kernel used for solving, with a perfect index."""

ENUMERATED = Kernel(ffi, lib.dobutsu_enumerated_kernel)
"""The same game without an index, for measurements: every reachable position has its own slot."""

UNFINISHED, LION_CAN_BE_TAKEN, FINISHED = range(3)
"""The tiers."""

PLAYERS = ("Forest", "Sky")
"""Forest moves first and plays up the board."""

CELLS = range(12)
COLUMNS = 3
GIRAFFE, ELEPHANT, CHICK, LION, HEN = 1, 2, 3, 4, 7
LETTERS = {GIRAFFE: "G", ELEPHANT: "E", CHICK: "C", LION: "L", HEN: "H"}
NAMES = {GIRAFFE: "giraffe", ELEPHANT: "elephant", CHICK: "chick", LION: "lion", HEN: "hen"}
IN_HAND = (GIRAFFE, ELEPHANT, CHICK)
COPIES = 2
"""Pieces of each kind that can be in hand; a hen counts as a chick."""

_PLANE_BITS, _HAND_BITS, _SIDE_BIT = 48, 6, 60
_FAR_RANK = (range(3), range(9, 12))


class Piece(NamedTuple):
    """A piece on the board."""

    player: int
    kind: int


def cell_name(cell: int) -> str:
    """Return column A to C and row 1 to 4 from the top. Forest's lion starts on B4."""
    return f"{'ABC'[cell % COLUMNS]}{cell // COLUMNS + 1}"


def side(position: int) -> int:
    """Return the player to move."""
    return position >> _SIDE_BIT & 1


def piece(position: int, cell: int) -> Piece | None:
    """Return the piece on a cell, or None."""
    owner, *bits = (position >> 12 * plane + cell & 1 for plane in range(4))
    kind = bits[0] | bits[1] << 1 | bits[2] << 2
    return Piece(owner, kind) if kind else None


def board_of(position: int) -> dict[int, Piece]:
    """Return the pieces on the board by cell."""
    return {cell: occupant for cell in CELLS if (occupant := piece(position, cell))}


def in_hand(position: int, player: int, kind: int) -> int:
    """Return how many pieces of a kind a player has captured and not yet dropped."""
    return position >> _PLANE_BITS + player * _HAND_BITS + 2 * (kind - 1) & 3


def pack(board: Mapping[int, Piece], hands: Mapping[tuple[int, int], int], mover: int) -> int:
    """Return the bits of a position; `hands` maps (player, kind) to a count."""
    position = mover << _SIDE_BIT
    for cell, (player, kind) in board.items():
        planes = (player, kind & 1, kind >> 1 & 1, kind >> 2)
        position |= sum(bit << 12 * number + cell for number, bit in enumerate(planes))
    for (player, kind), count in hands.items():
        position |= count << _PLANE_BITS + player * _HAND_BITS + 2 * (kind - 1)
    return position


def check(position: int) -> None:
    """Check that these bits are a position of the game. Raise ValueError with the reason otherwise."""
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
        cells = [cell for cell, occupant in board.items() if occupant == (player, LION)]
        if len(cells) > 1:
            raise ValueError(f"{name} has {len(cells)} lions, on {' and '.join(map(cell_name, cells))}")
        if not cells and player != mover:
            raise ValueError(f"{name} has no lion, but only the player to move, {PLAYERS[mover]}, can have lost it")
        if player == mover and cells and cells[0] in _FAR_RANK[player]:
            raise ValueError(
                f"{name} is to move with the lion on the far rank, but the game ended when it was captured there or won"
            )


# ---- arrays of positions ----

Positions = npt.NDArray[np.uint64]


def swap_colours(positions: Positions) -> Positions:
    """Return the positions with the board turned, the owners of all pieces exchanged, and the other player to move."""
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


# ---- moves ----

FROM_HAND = 12
"""Sources 12, 13 and 14 are a giraffe, an elephant and a chick in hand."""


def target_of(move: int) -> int:
    return move & 15


def source_of(move: int) -> int:
    return move >> 4 & 15


def game_over(position: int) -> str | None:
    """Return why the game is over, or None if it is not."""
    mover, board = side(position), board_of(position)
    if (mover, LION) not in board.values():
        return f"the game is over: {PLAYERS[mover]}'s lion has been captured"
    if RANKED.moves(position):
        return None
    if RANKED.tier(position) == FINISHED:
        return f"the game is over: {PLAYERS[1 - mover]}'s lion has reached the far rank"
    return f"the game is over: {PLAYERS[mover]} cannot move"


def why_not(position: int, source: int, target: int) -> str:
    """Return why an illegal move from `source` (a cell, or FROM_HAND plus a kind) to `target` is not legal."""
    mover = side(position)
    if over := game_over(position):
        return over
    if source >= FROM_HAND:
        kind = source - FROM_HAND + 1
        if not in_hand(position, mover, kind):
            return f"{PLAYERS[mover]} has no {NAMES[kind]} in hand"
        if piece(position, target):
            return f"a piece must be dropped on an empty cell, and {cell_name(target)} is occupied"
    else:
        moving = piece(position, source)
        if not moving:
            return f"there is no piece on {cell_name(source)}"
        if moving.player != mover:
            return f"the {NAMES[moving.kind]} on {cell_name(source)} is {PLAYERS[moving.player]}'s"
        kind = moving.kind
    if RANKED.tier(position) == LION_CAN_BE_TAKEN:
        return f"{PLAYERS[1 - mover]}'s lion can be captured, and must be"
    occupant = piece(position, target)
    if occupant and occupant.player == mover:
        return f"{PLAYERS[mover]}'s own {NAMES[occupant.kind]} is on {cell_name(target)}"
    return f"a {NAMES[kind]} does not step from {cell_name(source)} to {cell_name(target)}"
