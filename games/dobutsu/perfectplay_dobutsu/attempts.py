"""Moves as people attempt them, from where to where: in words, why one that the kernel does not list is not legal."""

from __future__ import annotations

from perfectplay_dobutsu.kernels import FINISHED, LION_CAN_BE_TAKEN, RANKED
from perfectplay_dobutsu.layout import LION, NAMES, PLAYERS, board_of, cell_name, in_hand, piece, side

FROM_HAND = 12
"""Sources from here on are giraffe, elephant and chick in hand."""


def target_of(move: int) -> int:
    return move & 15


def source_of(move: int) -> int:
    return move >> 4 & 15


def game_over(position: int) -> str | None:
    """Say that and why the game has ended; None while it goes on."""
    mover, board = side(position), board_of(position)
    if (mover, LION) not in board.values():
        return f"the game is over: {PLAYERS[mover]}'s lion is taken"
    if RANKED.moves(position):
        return None
    if RANKED.tier(position) == FINISHED:
        return f"the game is over: {PLAYERS[1 - mover]}'s lion has reached the far rank"
    return f"the game is over: {PLAYERS[mover]} cannot move"


def why_not(position: int, source: int, target: int) -> str:
    """Why the mover may not go from `source` (a cell, or FROM_HAND and more) to `target`, which is not legal."""
    mover = side(position)
    if over := game_over(position):
        return over
    if source >= FROM_HAND:
        kind = source - FROM_HAND + 1
        if not in_hand(position, mover, kind):
            return f"{PLAYERS[mover]} has no {NAMES[kind]} in hand"
        if piece(position, target):
            return f"a piece is dropped on an empty cell, and {cell_name(target)} is not"
    else:
        found = piece(position, source)
        if not found:
            return f"there is no piece on {cell_name(source)}"
        if found.player != mover:
            return f"the {NAMES[found.kind]} on {cell_name(source)} is {PLAYERS[found.player]}'s"
        kind = found.kind
    if RANKED.tier(position) == LION_CAN_BE_TAKEN:
        return f"{PLAYERS[1 - mover]}'s lion can be taken, and must be"
    occupant = piece(position, target)
    if occupant and occupant.player == mover:
        return f"{PLAYERS[mover]}'s own {NAMES[occupant.kind]} is on {cell_name(target)}"
    return f"a {NAMES[kind]} does not step from {cell_name(source)} to {cell_name(target)}"
