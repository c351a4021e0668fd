"""Test positions from two sources: random games, and men placed anywhere.

Games give common positions. Free placement also gives many men in mills, players without a move, and symmetric boards.
All positions are valid; some are finished.
"""

from __future__ import annotations

from hypothesis import strategies as st

from ..playouts import play_choices
from . import reference
from .reference import BLACK, VARIANTS, WHITE, Position, Variant

LONGEST_PLAYOUT = 60


def place_men(variant: Variant, order: list[str], white: int, black: int, mover: int) -> Position:
    """Return a position without men in hand, with White's and Black's men on the first points of `order`."""
    men = (frozenset(order[:white]), frozenset(order[white : white + black]))
    return Position(variant, men, (0, 0), mover)


def is_possible(position: Position) -> bool:
    """Return whether no mill faces a player who still has all men, except a mill that has just won."""
    variant = position.variant
    for player in (WHITE, BLACK):
        won = not variant.captures and player == position.opponent
        if position.has_mill(player) and position.total(1 - player) == variant.men and not won:
            return False
    return True


def placements(variant: Variant) -> st.SearchStrategy[Position]:
    counts = st.integers(3, variant.men)
    movers = st.sampled_from([WHITE, BLACK])
    return st.builds(place_men, st.just(variant), st.permutations(variant.points), counts, counts, movers).filter(
        is_possible
    )


def positions(variant: Variant) -> st.SearchStrategy[Position]:
    """Return a strategy for valid positions of both kinds."""
    choices = st.lists(st.integers(0, 99), max_size=LONGEST_PLAYOUT)
    played = choices.map(lambda choices: play_choices(reference, reference.start(variant), choices))
    return st.one_of(played, placements(variant))


def positions_of_all_variants() -> st.SearchStrategy[Position]:
    return st.sampled_from(sorted(VARIANTS)).flatmap(lambda key: positions(VARIANTS[key]))
