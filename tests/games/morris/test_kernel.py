"""The C kernel against the plain-Python reference, and against the laws of its index.

The solve is only as right as this kernel: what is tested here is what `solve verify` takes for granted.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Status
from perfectplay_morris.plugin import configure
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel

from . import reference
from .positions import positions, positions_of_all_variants, put_down
from .reference import BLACK, VARIANTS, WHITE, Position, Variant

KEYS = {variant: key for key, variant in VARIANTS.items()}


@cache
def plugin_of(variant: Variant):
    men, flying = KEYS[variant]
    return configure({"men": men, "flying": flying})


def kernel_of(variant: Variant) -> Kernel:
    return plugin_of(variant).kernel()


# ---- the rules ----


@settings(max_examples=400)
@given(positions_of_all_variants())
def test_moves_and_status_are_those_of_the_reference(position: Position) -> None:
    kernel, code = kernel_of(position.variant), reference.encode(position)
    assert kernel.valid(code)
    expected = {reference.encode_move(position.variant, move): move for move in reference.moves(position)}
    listed = kernel.moves(code)
    assert sorted(listed) == sorted(expected)
    assert Status(kernel.status(code)).name == reference.status(position)
    for number, move in expected.items():
        child = kernel.apply(code, number)
        assert child == reference.encode(reference.apply(position, move))
        assert kernel.valid(child)
        assert kernel.undo(child, number) == code


@settings(max_examples=300)
@given(positions_of_all_variants())
def test_winning_at_once_is_announced_exactly_where_a_mill_ends_the_game(position: Position) -> None:
    after = [reference.apply(position, move) for move in reference.moves(position)]
    if after:
        wins = any(map(reference.is_over, after))
        assert kernel_of(position.variant).wins_now(reference.encode(position)) == wins


def at(variant: Variant, white: str, black: str, mover: int = WHITE) -> Position:
    return put_down(variant, white.split() + black.split(), len(white.split()), len(black.split()), mover)


@pytest.mark.parametrize(
    ("why", "key", "white", "black"),
    [
        ("Black has lost nobody, so White's mill cannot be", ("six", False), "a5 c5 e5", "a3 b3 b4 c4 d4 d3"),
        ("White has lost nobody, so Black's mill cannot be", ("nine", True), "a7 a4 b6 b4 c5 c4 d7 d6 f2", "a1 d1 g1"),
        ("the mover has won already", ("three", False), "a1 b1 c1", "a2 b2 c3"),
        ("nobody goes on with two men against him", ("six", False), "a5 c5 c4", "a3 b3"),
        ("both have too few", ("six", False), "a5 c5", "a3 b3"),
        ("seven are too many", ("six", False), "a5 c5 b4 b3 d3 e1 c2", "a3 d4 d2"),
    ],
)
def test_what_cannot_be_is_no_position(why: str, key: tuple[str, bool], white: str, black: str) -> None:
    assert not kernel_of(VARIANTS[key]).valid(reference.encode(at(VARIANTS[key], white, black))), why


@given(st.sampled_from(sorted(VARIANTS)), st.integers(0, 2**64 - 1) | st.integers(0, 2**54))
def test_any_64_bits_may_be_asked_and_what_is_accepted_is_a_position(key: tuple[str, bool], code: int) -> None:
    variant = VARIANTS[key]
    if kernel_of(variant).valid(code):
        position = reference.decode(variant, code)
        assert reference.encode(position) == code
        assert not position.men[WHITE] & position.men[BLACK]


def test_a_mover_with_two_men_has_lost() -> None:
    variant = VARIANTS["nine", True]
    position = at(variant, "a7 d7", "a1 d1 g1 b2")
    kernel, code = kernel_of(variant), reference.encode(position)
    assert kernel.valid(code)
    assert Status(kernel.status(code)) is Status.LOST
    assert kernel.moves(code) == []
    assert kernel.rank(code) == (0, 0)


# ---- symmetry ----


def test_the_boards_have_all_the_symmetries_there_are() -> None:
    for variant, expected in (
        (VARIANTS["three", False], 8),
        (VARIANTS["six", False], 16),
        (VARIANTS["nine", False], 16),
    ):
        found = {tuple(variant.points.index(each[p]) for p in variant.points) for each in reference.symmetries(variant)}
        assert {symmetry.places for symmetry in plugin_of(variant).layout.symmetries} == found
        assert len(found) == expected


@settings(max_examples=150)
@given(positions_of_all_variants())
def test_images_share_slot_and_canonical_form(position: Position) -> None:
    kernel = kernel_of(position.variant)
    images = [reference.encode(reference.image(position, each)) for each in reference.symmetries(position.variant)]
    assert {kernel.canonicalize(each) for each in images} == {min(images)}
    assert len({kernel.rank(each) for each in images}) == 1


@given(positions_of_all_variants())
def test_colours_and_side_swapped_share_the_slot(position: Position) -> None:
    plugin, code = plugin_of(position.variant), reference.encode(position)
    swapped = Position(position.variant, position.men[::-1], position.in_hand[::-1], position.opponent)
    codes = np.array([code], dtype=np.uint64)
    (twin,) = plugin.colour_swapped(codes).tolist()
    assert twin == reference.encode(swapped)
    assert plugin.kernel().mover(code) == position.mover
    assert plugin.kernel().rank(twin) == plugin.kernel().rank(code)


# ---- the index ----


def slots_of(kernel: Kernel, tier: int) -> list[int]:
    engine = Engine(kernel, tiers=kernel.tier_count)
    try:
        engine.define(tier, kernel.tier_size(tier))
        return engine.positions(tier, 0, kernel.tier_size(tier)).tolist()
    finally:
        engine.close()


def tier_of(kernel: Kernel, variant: Variant, white: int, black: int) -> int:
    """The tier of this many men on the board and none in hand, White to move."""
    apart = variant.points[::2] + variant.points[1::2]  # no mill among three of them
    return kernel.tier(reference.encode(put_down(variant, apart, white, black, WHITE)))


NO_POSITION = 2**64 - 1


def children_of(kernel: Kernel, code: int) -> list[tuple[int, int]]:
    """Their slots, as `expand` lists them; every move passes the turn."""
    edges = kernel.expand(code)
    assert not any(edge.keeps_turn for edge in edges)
    return [edge.slot for edge in edges]


def parents_of(kernel: Kernel, code: int) -> list[tuple[int, int]]:
    edges = kernel.retract(code)
    assert not any(edge.keeps_turn for edge in edges)
    return [edge.slot for edge in edges]


@pytest.mark.parametrize("key", [("three", False), ("six", False)])
def test_every_slot_holds_a_position_of_that_rank_or_none(key: tuple[str, bool]) -> None:
    kernel = kernel_of(VARIANTS[key])
    sample = random.Random(1)
    for tier in range(kernel.tier_count):
        found = slots_of(kernel, tier)
        for index in sample.sample(range(len(found)), min(len(found), 300)):
            assert kernel.unrank(tier, index) == (None if found[index] == NO_POSITION else found[index])
            if found[index] != NO_POSITION:
                assert kernel.valid(found[index])
                assert kernel.rank(found[index]) == (tier, index)


@settings(max_examples=300)
@given(positions_of_all_variants())
def test_a_position_is_found_again_in_its_slot(position: Position) -> None:
    kernel, code = kernel_of(position.variant), reference.encode(position)
    tier, index = kernel.rank(code)
    back = kernel.unrank(tier, index)
    assert back is not None
    if not reference.is_over(position):  # finished games share a slot
        white_to_move = code if position.mover == WHITE else plugin_of(position.variant).colour_swapped(np.uint64(code))
        assert kernel.canonicalize(back) == kernel.canonicalize(int(white_to_move))


def orbits(variant: Variant, white: int, black: int, symmetries: list[dict[str, str]]) -> int:
    """How many positions of so many men there are up to symmetry (Burnside: the mean number that a symmetry keeps)."""
    kept = 0
    for symmetry in symmetries:
        ways = Counter({(0, 0): 1})  # to colour the points in cycles seen so far, by men of each colour
        for length in cycle_lengths(symmetry):
            more = Counter(ways)
            for (w, b), count in ways.items():
                more[w + length, b] += count
                more[w, b + length] += count
            ways = more
        kept += ways[white, black]
    assert kept % len(symmetries) == 0
    return kept // len(symmetries)


def cycle_lengths(symmetry: dict[str, str]) -> list[int]:
    left, lengths = set(symmetry), []
    while left:
        first = point = left.pop()
        length = 1
        while (point := symmetry[point]) != first:
            left.remove(point)
            length += 1
        lengths.append(length)
    return lengths


@pytest.mark.parametrize(
    ("men", "white", "black"),
    [("six", 3, 3), ("six", 5, 4), ("nine", 3, 3), ("nine", 4, 3)],
)
def test_a_tier_has_a_position_for_each_orbit(men: str, white: int, black: int) -> None:
    variant = VARIANTS[men, True]
    kernel = kernel_of(variant)
    expected = orbits(variant, white, black, reference.symmetries(variant))
    for tier in (tier_of(kernel, variant, white, black), tier_of(kernel, variant, black, white)):
        assert sum(code != NO_POSITION for code in slots_of(kernel, tier)) == expected


def test_where_both_players_fly_48_symmetries_keep_the_mills() -> None:
    """Where both players fly, neighbours do not matter: the three squares can be exchanged at will."""
    variant = VARIANTS["nine", True]
    more = reference.symmetries(variant, keep_neighbours=False)
    assert len(more) == 48
    assert orbits(variant, 3, 3, more) == 56_922


def test_the_sub_spaces_of_nine_mens_have_as_many_slots_as_gassers_index() -> None:
    """So his sub-spaces, the side to move and the 16 symmetries, 3–3 included, are counted as we count them."""
    variant = VARIANTS["nine", True]
    kernel, symmetries = kernel_of(variant), reference.symmetries(variant)
    total = 0
    for more in range(3, 10):
        representatives = orbits(variant, more, 0, symmetries)
        for fewer in range(3, more + 1):
            for mover, other in {(more, fewer), (fewer, more)}:
                slots = kernel.tier_size(tier_of(kernel, variant, mover, other))
                assert slots == representatives * math.comb(24 - more, fewer)
                total += slots
    assert total == 9_074_932_579


# ---- expanding and retracting ----


@settings(max_examples=200)
@given(positions_of_all_variants())
def test_expand_lists_the_slots_of_the_children(position: Position) -> None:
    kernel, code = kernel_of(position.variant), reference.encode(position)
    if reference.status(position) == "ONGOING":
        children = {kernel.rank(kernel.apply(code, move)) for move in kernel.moves(code)}
        assert set(children_of(kernel, code)) == children
        assert {tier for tier, _ in children} <= set(kernel.tier_children(kernel.tier(code)) or [])


@pytest.mark.parametrize(
    ("key", "white", "black"),
    [
        (("three", False), 3, 3),
        (("three", True), 3, 3),
        (("six", True), 3, 3),
        (("six", False), 3, 4),
        (("six", False), 4, 3),
    ],
)
def test_expand_and_retract_count_alike_in_a_whole_tier(key: tuple[str, bool], white: int, black: int) -> None:
    variant = VARIANTS[key]
    kernel = kernel_of(variant)
    here, there = tier_of(kernel, variant, white, black), tier_of(kernel, variant, black, white)
    positions_here = [code for code in slots_of(kernel, here) if code != NO_POSITION]
    forward: Counter[tuple[int, int]] = Counter()
    for code in positions_here:
        if Status(kernel.status(code)) is Status.ONGOING:
            index = kernel.rank(code)[1]
            forward.update((index, child) for tier, child in children_of(kernel, code) if tier == there)
    ranks = {kernel.rank(code)[1] for code in positions_here}
    backward: Counter[tuple[int, int]] = Counter()
    for code in slots_of(kernel, there):
        if code != NO_POSITION:
            child = kernel.rank(code)[1]
            parents = parents_of(kernel, code)
            assert {tier for tier, _ in parents} <= {here}
            backward.update((parent, child) for _, parent in parents if parent in ranks)
    assert forward == backward
    assert forward


@settings(max_examples=200)
@given(positions(VARIANTS["nine", True]))
def test_expand_and_retract_count_alike_in_nine_mens(position: Position) -> None:
    kernel, code = kernel_of(position.variant), reference.encode(position)
    if reference.status(position) != "ONGOING" or any(position.in_hand):
        return
    mine = kernel.rank(code)
    for slot, times in Counter(children_of(kernel, code)).items():
        child = kernel.unrank(*slot)
        assert child is not None
        if mine[0] in (kernel.tier_children(slot[0]) or []):
            assert parents_of(kernel, child).count(mine) == times


@given(positions_of_all_variants())
def test_nothing_is_retracted_while_men_are_placed(position: Position) -> None:
    if any(position.in_hand):
        assert parents_of(kernel_of(position.variant), reference.encode(position)) == []
