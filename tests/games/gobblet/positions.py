"""Test positions from two sources: random games, and pieces placed anywhere.

Games give common positions. Free placement also gives rare ones: tall stacks, double reveals, all pieces on the board.
All positions are valid; some are finished.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from ..playouts import play_choices
from . import reference
from .reference import CELLS, COPIES, LINES, SIZES, Coordinates, Piece, Position

PIECES = [Piece(owner, size) for owner in (1, 2) for size in SIZES for _ in range(COPIES)]
LONGEST_PLAYOUT = 40


def place_pieces(places: list[Coordinates | None], mover: int) -> Position | None:
    """Return the position with PIECES on these places (None: in reserve), or None if it is valid for neither mover.

    A piece stays in reserve if its place already has a piece of the same size.
    """
    occupied: dict[tuple[Coordinates, int], Piece] = {}
    for piece, place in zip(PIECES, places, strict=True):
        if place is not None:
            occupied.setdefault((place, piece.size), piece)
    stacks = {cell: tuple(occupied[cell, size] for size in SIZES if (cell, size) in occupied) for cell in CELLS}
    position = Position(stacks, mover)
    if position.has_line(position.mover):
        position = Position(stacks, position.opponent)
    return None if position.has_line(position.mover) else position


def positions() -> st.SearchStrategy[Position]:
    """Return a hypothesis strategy for valid positions of both kinds."""
    choices = st.lists(st.integers(0, 47), max_size=LONGEST_PLAYOUT)
    places = st.lists(st.sampled_from([*CELLS, None]), min_size=len(PIECES), max_size=len(PIECES))
    anywhere = st.builds(place_pieces, places, st.sampled_from([1, 2]))
    played = choices.map(lambda choices: play_choices(reference, reference.START, choices))
    return st.one_of(played, anywhere.filter(lambda position: position is not None))


def random_placements(count: int, seed: int) -> Iterator[Position]:
    """Yield `count` valid positions with pieces placed at random, from few pieces to all of them."""
    generator = random.Random(seed)
    while count:
        in_reserve = generator.random()
        places = [None if generator.random() < in_reserve else generator.choice(CELLS) for _ in PIECES]
        position = place_pieces(places, generator.choice([1, 2]))
        if position is not None:
            count -= 1
            yield position


def reveals(position: Position) -> bool:
    """Return whether lifting some piece of the mover reveals a line of the opponent."""
    for cell, stack in position.stacks.items():
        if len(stack) > 1 and stack[-1].owner == position.mover:
            lifted = Position({**position.stacks, cell: stack[:-1]}, position.mover)
            if lifted.has_line(position.opponent):
                return True
    return False


def random_reveals(count: int, seed: int) -> Iterator[Position]:
    """Yield `count` valid, unfinished positions in which the reveal rule matters."""
    generator = random.Random(seed)
    while count:
        line = generator.choice(LINES)
        places: list[Coordinates | None] = []
        for _ in PIECES:
            anywhere = generator.choice([*CELLS, None])
            places.append(generator.choice([anywhere, generator.choice(line)]))
        position = place_pieces(places, generator.choice([1, 2]))
        if position and not position.has_line(position.opponent) and reveals(position):
            count -= 1
            yield position


SYMMETRIES: list[dict[Coordinates, Coordinates]] = [
    {(row, column): (row, 2 - column) for row, column in CELLS},
    {(row, column): (column, row) for row, column in CELLS},
    {(row, column): (2 - row, 2 - column) for row, column in CELLS},
]
"""Two reflections and the half turn."""


def random_symmetric_placements(count: int, seed: int) -> Iterator[Position]:
    """Yield `count` valid positions that are fixed by one of SYMMETRIES."""
    generator = random.Random(seed)
    while count:
        partner = generator.choice(SYMMETRIES)
        places: list[Coordinates | None] = []
        for _ in range(len(PIECES) // COPIES):
            cell = generator.choice(CELLS)
            pair = [cell, partner[cell] if partner[cell] != cell else None]
            places += generator.choice([pair, pair, [None, None]])
        position = place_pieces(places, generator.choice([1, 2]))
        if position is not None and len(set(map(reference.encode, reference.images(position)))) < 8:
            count -= 1
            yield position
