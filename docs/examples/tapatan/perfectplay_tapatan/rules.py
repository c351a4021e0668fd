"""Tapatan, three men's morris of the Philippines, in plain Python: the readable counterpart of kernel.c.

In a text, X is always the player to move. Values are for the mover, so the colours do not matter.
"""

from __future__ import annotations

from perfectplay import Status, hookimpl
from perfectplay.authoring import Grid

GRID = Grid(3, 3, values=3)
LINES = [sum(1 << cell for cell in line) for line in GRID.lines(3)]
NEIGHBOURS = [0o032, 0o025, 0o062, 0o121, 0o757, 0o424, 0o230, 0o520, 0o260]
PLACES, ALL, MEN = 9, 0o777, 3
NEW_MAN = PLACES


def has_line(men: int) -> bool:
    return any(men & line == line for line in LINES)


@hookimpl
def start() -> int:
    return 0


@hookimpl
def tier(position: int) -> int:
    return (MEN + 1) * (position & ALL).bit_count() + (position >> PLACES).bit_count()


@hookimpl
def valid(position: int) -> bool:
    mine, theirs = position & ALL, position >> PLACES
    counts = theirs.bit_count() - mine.bit_count()
    return theirs <= ALL and not mine & theirs and counts in (0, 1) and theirs.bit_count() <= MEN and not has_line(mine)


@hookimpl
def moves(position: int) -> list[int]:
    mine, theirs = position & ALL, position >> PLACES
    free = ALL & ~(mine | theirs)
    if has_line(theirs):
        return []
    if position.bit_count() < 2 * MEN:
        return [to | NEW_MAN << 4 for to in range(PLACES) if free >> to & 1]
    men = [place for place in range(PLACES) if mine >> place & 1]
    return [to | man << 4 for man in men for to in range(PLACES) if free & NEIGHBOURS[man] & 1 << to]


@hookimpl
def apply(position: int, move: int) -> int:
    mine, theirs = position & ALL, position >> PLACES
    moved = (mine | 1 << (move & 15)) & ~(1 << (move >> 4))
    return moved << PLACES | theirs


@hookimpl
def status(position: int) -> Status:
    return Status.ONGOING if moves(position) else Status.LOST


@hookimpl
def encode(text: str) -> int:
    cells = GRID.unpack(GRID.read(text, ".XO"))
    return sum(1 << place + PLACES * (man - 1) for place, man in enumerate(cells) if man)


@hookimpl
def decode(position: int) -> str:
    cells = [(position >> place & 1) + 2 * (position >> PLACES + place & 1) for place in range(PLACES)]
    return GRID.write(GRID.pack(cells), ".XO")


@hookimpl
def format_move(position: int, move: int) -> str:
    to = GRID.names[move & 15]
    return to if move >> 4 == NEW_MAN else f"{GRID.names[move >> 4]}-{to}"
