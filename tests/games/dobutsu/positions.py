"""Test positions from two sources: random games, and pieces placed anywhere.

Games give common positions. Free placement also gives rare ones: lions anywhere, full hands, symmetric positions. All
positions are valid; some are finished.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from ..playouts import play_choices
from . import reference
from .reference import CELLS, DROPPED, Coordinates, Piece, Position

PIECES = [kind for kind in DROPPED for _ in range(2)]


def place_pieces(
    lions: Sequence[Coordinates], places: Sequence[Coordinates | None], owners: int, hens: int
) -> Position:
    """Return the position with PIECES on these places (None or occupied: in hand), with a bit for each owner and hen.

    Player 0 is to move. Both lions on one cell mean that player 0's lion has been captured.
    """
    board = {lions[0]: Piece(0, "lion")}
    board[lions[1]] = Piece(1, "lion")
    hands = (dict.fromkeys(DROPPED, 0), dict.fromkeys(DROPPED, 0))
    for number, (kind, place) in enumerate(zip(PIECES, places, strict=True)):
        owner = owners >> number & 1
        if place is None or place in board:
            hands[owner][kind] += 1
        else:
            board[place] = Piece(owner, "hen" if kind == "chick" and hens >> number & 1 else kind)
    return Position(board, hands, mover=0)


def positions() -> st.SearchStrategy[Position]:
    """Return a hypothesis strategy for valid positions of both kinds and either mover."""
    choices = st.lists(st.integers(0, 37), max_size=60)
    cells = st.sampled_from(CELLS)
    places = st.lists(st.sampled_from([*CELLS, None]), min_size=len(PIECES), max_size=len(PIECES))
    anywhere = st.builds(place_pieces, st.tuples(cells, cells), places, st.integers(0, 63), st.integers(0, 63))
    either = st.builds(lambda p, turn: reference.turn(p) if turn else p, anywhere, st.booleans())
    played = choices.map(lambda choices: play_choices(reference, reference.start(), choices))
    return st.one_of(played, either.filter(reference.is_valid))


def random_placements(count: int, seed: int) -> Iterator[Position]:
    """Yield `count` valid positions with pieces placed at random, player 0 to move."""
    generator = random.Random(seed)
    while count:
        in_hand = generator.random()
        places = [None if generator.random() < in_hand else generator.choice(CELLS) for _ in PIECES]
        lions = generator.choice(CELLS), generator.choice(CELLS)
        position = place_pieces(lions, places, generator.getrandbits(6), generator.getrandbits(6))
        if reference.is_valid(position):
            count -= 1
            yield position


def random_symmetric_placements(count: int, seed: int) -> Iterator[Position]:
    """Yield `count` valid symmetric positions, each followed by the position after one move."""
    generator = random.Random(seed)
    while count:
        places: list[Coordinates | None] = []
        owners = hens = 0
        for number in range(0, len(PIECES), 2):
            row, column = generator.choice(CELLS)
            pair = [(row, column), (row, 2 - column) if column != 1 else None]
            places += generator.choice([pair, [(row, 1), None], [None, None]])
            owners |= generator.choice([0, 3]) << number
            hens |= generator.choice([0, 3]) << number
        position = place_pieces([(generator.randrange(4), 1), (generator.randrange(4), 1)], places, owners, hens)
        if reference.is_valid(position) and reference.mirror(position).board == position.board:
            count -= 1
            yield position
            yield from (reference.apply(position, move) for move in reference.moves(position)[:1])
