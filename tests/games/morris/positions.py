"""Positions to test with, made in two ways: by playing legal moves, and by putting men down anywhere.

Playing gives what people meet; putting down gives many men in mills, players with no move, and symmetric boards. Both
ways give valid positions only, finished ones among them.
"""

from __future__ import annotations

from hypothesis import strategies as st

from . import reference
from .reference import BLACK, VARIANTS, WHITE, Position, Variant

LONGEST_PLAYOUT = 60


def played(variant: Variant, choices: list[int]) -> Position:
    """The position after these choices among the legal moves, or where the game ended before."""
    position = reference.start(variant)
    for choice in choices:
        legal = sorted(reference.moves(position), key=str)
        if not legal:
            break
        position = reference.apply(position, legal[choice % len(legal)])
    return position


def put_down(variant: Variant, order: list[str], white: int, black: int, mover: int) -> Position:
    """All men placed, so many of White's and of Black's left, on the first points of `order`."""
    men = (frozenset(order[:white]), frozenset(order[white : white + black]))
    return Position(variant, men, (0, 0), mover)


def is_possible(position: Position) -> bool:
    """A mill facing a player who has lost nobody would have taken a man; where mills win, only the last is left."""
    variant = position.variant
    for player in (WHITE, BLACK):
        won = not variant.captures and player == position.opponent
        if position.has_mill(player) and position.total(1 - player) == variant.men and not won:
            return False
    return True


def put_downs(variant: Variant) -> st.SearchStrategy[Position]:
    counts = st.integers(3, variant.men)
    movers = st.sampled_from([WHITE, BLACK])
    return st.builds(put_down, st.just(variant), st.permutations(variant.points), counts, counts, movers).filter(
        is_possible
    )


def positions(variant: Variant) -> st.SearchStrategy[Position]:
    """Valid positions of both kinds."""
    choices = st.lists(st.integers(0, 99), max_size=LONGEST_PLAYOUT)
    return st.one_of(st.builds(played, st.just(variant), choices), put_downs(variant))


def positions_of_all_variants() -> st.SearchStrategy[Position]:
    return st.sampled_from(sorted(VARIANTS)).flatmap(lambda key: positions(VARIANTS[key]))
