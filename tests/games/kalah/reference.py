"""The rules of Kalah in plain Python, written for clarity.

The plugin is tested against this file, so it shares no code with them. Places have names:
("South", 0) is South's leftmost pit and ("South", "store") is South's store. Sowing walks from place to place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Place = tuple[str, int | str]
OTHER = {"South": "North", "North": "South"}


@dataclass(frozen=True)
class Position:
    south: tuple[int, ...]
    """From the player's left to right, in the order of sowing."""
    north: tuple[int, ...]
    south_store: int
    north_store: int
    mover: str
    empty_capture: bool
    either_row: bool


def start(pits: int, seeds: int, empty_capture: bool, either_row: bool) -> Position:
    return Position((seeds,) * pits, (seeds,) * pits, 0, 0, "South", empty_capture, either_row)


def own_pits(position: Position) -> tuple[int, ...]:
    return position.south if position.mover == "South" else position.north


def moves(position: Position) -> list[int]:
    """Return the pits that the mover may empty, counted from the mover's left."""
    return [pit for pit, seeds in enumerate(own_pits(position)) if seeds]


def apply(position: Position, move: int) -> Position:
    pits, mover = len(position.south), position.mover
    board: dict[Place, int] = {}
    board |= {("South", pit): seeds for pit, seeds in enumerate(position.south)}
    board |= {("South", "store"): position.south_store}
    board |= {("North", pit): seeds for pit, seeds in enumerate(position.north)}
    board |= {("North", "store"): position.north_store}
    circle = [place for place in board if place != (OTHER[mover], "store")]
    at = circle.index((mover, move))
    hand, board[mover, move] = board[mover, move], 0
    for _ in range(hand):
        at = (at + 1) % len(circle)
        board[circle[at]] += 1
    side, last = circle[at]
    to_move = mover if last == "store" else OTHER[mover]
    if side == mover and isinstance(last, int) and board[mover, last] == 1:
        opposite = (OTHER[mover], pits - 1 - last)
        if board[opposite] or position.empty_capture:
            board[mover, "store"] += 1 + board[opposite]
            board[mover, last] = board[opposite] = 0
    empty_rows = [player for player in OTHER if not any(board[player, pit] for pit in range(pits))]
    if to_move in empty_rows or (position.either_row and empty_rows):
        for player in OTHER:
            for pit in range(pits):
                board[player, "store"] += board[player, pit]
                board[player, pit] = 0
    return replace(
        position,
        south=tuple(board["South", pit] for pit in range(pits)),
        north=tuple(board["North", pit] for pit in range(pits)),
        south_store=board["South", "store"],
        north_store=board["North", "store"],
        mover=to_move,
    )


def score(position: Position) -> int:
    """Return by how many seeds the mover is ahead."""
    lead = position.south_store - position.north_store
    return lead if position.mover == "South" else -lead


def text(position: Position) -> str:
    rows = (position.north[::-1], position.south)
    pits = "/".join(",".join(map(str, row)) for row in rows)
    return f"{pits}/{position.south_store}-{position.north_store}:{position.mover[0]}"
