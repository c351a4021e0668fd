"""A small game in Python with cycles in each of many tiers, slow enough to be interrupted.

A token moves on a ladder: each of RUNGS rungs is a ring of RING cells. A move takes it one or three cells forward, two
back, or, from every fifth cell, up to the next rung. On every third rung, cells divisible by 7 are lost for the mover,
cells divisible by 11 are ties, and cell 1 is won. Wins, losses and ties occur, but no endless draws.
"""

from perfectplay import Status, hookimpl

RING, RUNGS = 150, 12
START = 1


def split(position: int) -> tuple[int, int]:
    return divmod(position, RING)


@hookimpl
def start() -> int:
    return START


@hookimpl
def tier(position: int) -> int:
    return split(position)[0]


@hookimpl
def moves(position: int) -> list[int]:
    if status(position) is not Status.ONGOING:
        return []
    rung, cell = split(position)
    steps = [1, 3, RING - 2]
    return [*steps, RING] if cell % 5 == 0 and rung < RUNGS - 1 else steps


@hookimpl
def apply(position: int, move: int) -> int:
    rung, cell = split(position)
    return position + RING if move == RING else rung * RING + (cell + move) % RING


@hookimpl
def undo(position: int, move: int) -> int:
    rung, cell = split(position)
    return position - RING if move == RING else rung * RING + (cell - move) % RING


@hookimpl
def canonicalize(position: int) -> int:
    return position


@hookimpl
def status(position: int) -> Status:
    rung, cell = split(position)
    if rung % 3 == 2:
        if cell % 7 == 0:
            return Status.LOST
        if cell % 11 == 0:
            return Status.DRAWN
        if cell == 1:
            return Status.WON
    return Status.ONGOING
