"""The C kernel compared with the plain-Python reference, and the contract of its index.

A solve depends on this kernel: `solve verify` assumes the properties tested here.
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
from perfectplay_native.limits import NO_POSITION

from ..indexes import IndexContract, tier_of
from . import reference
from .positions import place_men, positions, positions_of_all_variants
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
    assert sorted(kernel.moves(code)) == sorted(expected)
    assert Status(kernel.status(code)).name == reference.status(position)
    for number, move in expected.items():
        child = kernel.apply(code, number)
        assert child == reference.encode(reference.apply(position, move))
        assert kernel.valid(child)
        assert kernel.undo(child, number) == code


@settings(max_examples=300)
@given(positions_of_all_variants())
def test_wins_now_detects_every_mill_that_ends_the_game(position: Position) -> None:
    after = [reference.apply(position, move) for move in reference.moves(position)]
    if after:
        wins = any(map(reference.is_over, after))
        assert kernel_of(position.variant).wins_now(reference.encode(position)) == wins


def at(variant: Variant, white: str, black: str, mover: int = WHITE) -> Position:
    return place_men(variant, white.split() + black.split(), len(white.split()), len(black.split()), mover)


@pytest.mark.parametrize(
    ("fault", "key", "white", "black"),
    [
        ("White has a mill, but Black has all men", ("six", False), "a5 c5 e5", "a3 b3 b4 c4 d4 d3"),
        ("Black has a mill, but White has all men", ("nine", True), "a7 a4 b6 b4 c5 c4 d7 d6 f2", "a1 d1 g1"),
        ("the mover has won already", ("three", False), "a1 b1 c1", "a2 b2 c3"),
        ("the opponent of the mover has two men", ("six", False), "a5 c5 c4", "a3 b3"),
        ("both players have two men", ("six", False), "a5 c5", "a3 b3"),
        ("White has seven men", ("six", False), "a5 c5 b4 b3 d3 e1 c2", "a3 d4 d2"),
    ],
)
def test_an_impossible_position_is_not_valid(fault: str, key: tuple[str, bool], white: str, black: str) -> None:
    assert not kernel_of(VARIANTS[key]).valid(reference.encode(at(VARIANTS[key], white, black))), fault


@given(st.sampled_from(sorted(VARIANTS)), st.integers(0, 2**64 - 1) | st.integers(0, 2**54))
def test_valid_handles_any_64_bits_and_accepts_only_positions(key: tuple[str, bool], code: int) -> None:
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


def test_the_boards_have_all_symmetries() -> None:
    for variant, expected in (
        (VARIANTS["three", False], 8),
        (VARIANTS["six", False], 16),
        (VARIANTS["nine", False], 16),
    ):
        symmetries = reference.symmetries(variant)
        places = {tuple(variant.points.index(each[p]) for p in variant.points) for each in symmetries}
        assert {symmetry.places for symmetry in plugin_of(variant).geometry.symmetries} == places
        assert len(places) == expected


@settings(max_examples=150)
@given(positions_of_all_variants())
def test_images_share_slot_and_canonical_form(position: Position) -> None:
    kernel = kernel_of(position.variant)
    images = [reference.encode(reference.image(position, each)) for each in reference.symmetries(position.variant)]
    assert {kernel.canonicalize(each) for each in images} == {min(images)}
    assert len({kernel.rank(each) for each in images}) == 1


@given(positions_of_all_variants())
def test_swapping_colours_and_side_keeps_the_slot(position: Position) -> None:
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


def tier_with(kernel: Kernel, variant: Variant, white: int, black: int) -> int:
    """Return the tier with these men on the board and none in hand, White to move."""
    order = variant.points[::2] + variant.points[1::2]  # avoids mills
    return kernel.tier(reference.encode(place_men(variant, order, white, black, WHITE)))


def test_the_example_in_index_c_has_the_index_worked_out_there() -> None:
    kernel = kernel_of(VARIANTS["three", False])
    position = Position(VARIANTS["three", False], (frozenset({"c2"}), frozenset({"a3"})), (2, 2), WHITE)
    tier, index = kernel.rank(reference.encode(position))
    assert (index, kernel.tier_size(tier)) == (13, 24)


@pytest.mark.parametrize("key", [("three", False), ("six", False)])
def test_every_slot_is_empty_or_holds_a_position_of_that_rank(key: tuple[str, bool]) -> None:
    kernel = kernel_of(VARIANTS[key])
    contract, sample = IndexContract(kernel), random.Random(1)
    for tier in range(kernel.tier_count):
        codes = slots_of(kernel, tier)
        for index in sample.sample(range(len(codes)), min(len(codes), 300)):
            assert kernel.unrank(tier, index) == (None if codes[index] == NO_POSITION else codes[index])
            contract.check_slots(tier, index, 1)


@settings(max_examples=300)
@given(positions_of_all_variants())
def test_unrank_inverts_rank_up_to_symmetry_and_colours(position: Position) -> None:
    kernel, code = kernel_of(position.variant), reference.encode(position)
    tier, index = kernel.rank(code)
    back = kernel.unrank(tier, index)
    assert back is not None
    if not reference.is_over(position):  # finished games share a slot
        white_to_move = code if position.mover == WHITE else plugin_of(position.variant).colour_swapped(np.uint64(code))
        assert kernel.canonicalize(back) == kernel.canonicalize(int(white_to_move))


def orbits(variant: Variant, white: int, black: int, symmetries: list[dict[str, str]]) -> int:
    """Count positions up to symmetry by Burnside's lemma: the mean number of positions that a symmetry fixes."""
    fixed = 0
    for symmetry in symmetries:
        ways = Counter({(0, 0): 1})  # to colour the cycles so far, by men of each colour
        for length in cycle_lengths(symmetry):
            extended = Counter(ways)
            for (w, b), count in ways.items():
                extended[w + length, b] += count
                extended[w, b + length] += count
            ways = extended
        fixed += ways[white, black]
    assert fixed % len(symmetries) == 0
    return fixed // len(symmetries)


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


@pytest.mark.parametrize(("men", "white", "black"), [("six", 3, 3), ("six", 5, 4), ("nine", 3, 3), ("nine", 4, 3)])
def test_a_tier_has_a_position_for_each_orbit(men: str, white: int, black: int) -> None:
    variant = VARIANTS[men, True]
    kernel = kernel_of(variant)
    expected = orbits(variant, white, black, reference.symmetries(variant))
    for tier in (tier_with(kernel, variant, white, black), tier_with(kernel, variant, black, white)):
        assert sum(code != NO_POSITION for code in slots_of(kernel, tier)) == expected


def test_48_symmetries_preserve_mills_if_both_players_fly() -> None:
    """Neighbours do not matter then, so the three squares can be permuted."""
    variant = VARIANTS["nine", True]
    symmetries = reference.symmetries(variant, keep_neighbours=False)
    assert len(symmetries) == 48
    assert orbits(variant, 3, 3, symmetries) == 56_922


def test_the_sub_spaces_of_nine_mens_have_as_many_slots_as_gassers_index() -> None:
    """This shows that Gasser counts sub-spaces, the side to move and the 16 symmetries as we do, including 3–3."""
    variant = VARIANTS["nine", True]
    kernel, symmetries = kernel_of(variant), reference.symmetries(variant)
    total = 0
    for more in range(3, 10):
        representatives = orbits(variant, more, 0, symmetries)
        for fewer in range(3, more + 1):
            for mover, other in {(more, fewer), (fewer, more)}:
                slots = kernel.tier_size(tier_with(kernel, variant, mover, other))
                assert slots == representatives * math.comb(24 - more, fewer)
                total += slots
    assert total == 9_074_932_579


# ---- expanding and retracting ----


@settings(max_examples=200)
@given(positions_of_all_variants())
def test_expand_lists_the_slots_of_the_children(position: Position) -> None:
    IndexContract(kernel_of(position.variant)).check_expand(reference.encode(position))


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
def test_expand_and_retract_agree_in_a_whole_tier(key: tuple[str, bool], white: int, black: int) -> None:
    variant = VARIANTS[key]
    kernel = kernel_of(variant)
    index = IndexContract(kernel)
    parent_tier, child_tier = tier_with(kernel, variant, white, black), tier_with(kernel, variant, black, white)
    parent_codes = [code for code in slots_of(kernel, parent_tier) if code != NO_POSITION]
    forward: Counter[tuple[int, int]] = Counter()
    for code in parent_codes:
        if Status(kernel.status(code)) is Status.ONGOING:
            forward.update((index.rank(code), child) for child in index.expand(code) if tier_of(child) == child_tier)
    ranks = {index.rank(code) for code in parent_codes}
    backward: Counter[tuple[int, int]] = Counter()
    for code in slots_of(kernel, child_tier):
        if code != NO_POSITION:
            parents = index.retract(code)
            assert {tier_of(parent) for parent in parents} <= {parent_tier}
            backward.update((parent, index.rank(code)) for parent in parents if parent in ranks)
    assert forward == backward
    assert forward


@settings(max_examples=200)
@given(positions(VARIANTS["nine", True]))
def test_expand_and_retract_agree_in_nine_mens(position: Position) -> None:
    if not any(position.in_hand):
        IndexContract(kernel_of(position.variant)).check_children(reference.encode(position))


@given(positions_of_all_variants())
def test_retract_lists_nothing_while_men_are_placed(position: Position) -> None:
    if any(position.in_hand):
        assert kernel_of(position.variant).retract(reference.encode(position)) == []
