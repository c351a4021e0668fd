"""Positions to test with: by legal play, and by putting pieces down with no regard to the rules of play."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from . import reference
from .reference import PIECES, START, Position


def played(choices: list[int]) -> Position:
    """The position after these choices among the legal moves, or where the game ended before."""
    position = START
    for choice in choices:
        legal = reference.moves(position)
        if not legal:
            break
        position = reference.play(position, legal[choice % len(legal)])
    return position


def put_down(cells: list[int], count: int) -> Position:
    """The first `count` pieces of a fixed row, colours alternating, on these cells: clashes and all."""
    letters = ["."] * 16
    row = [letter for pair in zip(PIECES[:4] * 2, PIECES[4:] * 2, strict=True) for letter in pair]
    for letter, cell in zip(row[:count], cells, strict=False):
        letters[cell] = letter
    return "".join(letters)


def positions() -> st.SearchStrategy[Position]:
    """Reachable positions, finished ones among them."""
    return st.lists(st.integers(0, 63), max_size=16).map(played)


def states() -> st.SearchStrategy[Position]:
    """Anything that the formats can say: right counts and turns, but pieces may clash."""
    anywhere = st.builds(put_down, st.permutations(range(16)), st.integers(0, 16))
    return st.one_of(positions(), anywhere)


def random_positions(count: int, seed: int) -> list[Position]:
    """Some reachable positions, the same each time, spread over the plies."""
    source = random.Random(seed)
    return [played([source.randrange(64) for _ in range(source.randrange(17))]) for _ in range(count)]


def qfen(position: Position) -> str:
    """The position's letters as a QFEN."""
    return "/".join(position[start : start + 4] for start in range(0, 16, 4))
