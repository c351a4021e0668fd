"""Test positions from legal play, and from pieces placed without regard to the rules."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from ..playouts import play_choices
from . import reference
from .reference import PIECES, START, Position


def place_pieces(cells: list[int], count: int) -> Position:
    """Return a board with `count` pieces of alternating colours on these cells, which may clash."""
    letters = ["."] * 16
    row = [letter for pair in zip(PIECES[:4] * 2, PIECES[4:] * 2, strict=True) for letter in pair]
    for letter, cell in zip(row[:count], cells, strict=False):
        letters[cell] = letter
    return "".join(letters)


def positions() -> st.SearchStrategy[Position]:
    """Return a strategy for reachable positions, some of them finished."""
    return st.lists(st.integers(0, 63), max_size=16).map(lambda choices: play_choices(reference, START, choices))


def states() -> st.SearchStrategy[Position]:
    """Return a strategy for all states of the formats: counts and turns are right, but pieces may clash."""
    anywhere = st.builds(place_pieces, st.permutations(range(16)), st.integers(0, 16))
    return st.one_of(positions(), anywhere)


def random_positions(count: int, seed: int) -> list[Position]:
    """Return reachable positions from a fixed seed, spread over the plies."""
    source = random.Random(seed)
    choices = ([source.randrange(64) for _ in range(source.randrange(17))] for _ in range(count))
    return [play_choices(reference, START, each) for each in choices]


def qfen(position: Position) -> str:
    """Return the QFEN of a position."""
    return "/".join(position[start : start + 4] for start in range(0, 16, 4))
