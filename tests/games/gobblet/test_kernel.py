"""The C kernel against the plain-Python reference on tens of thousands of positions, and against its laws.

The solve is only as right as this kernel: what is tested here is what `solve verify` takes for granted.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from perfectplay_native._engine import ffi

from perfectplay.values import Status
from perfectplay_gobblet.plugin import kernel as plugin_kernel

from . import reference
from .perft import perft_counts
from .positions import (
    positions,
    random_placements,
    random_playouts,
    random_reveals,
    random_symmetric_placements,
)
from .reference import CELLS, MEDIUM, SMALL, Move, Piece, Position
from .test_reference import REVEALS

KERNEL = plugin_kernel()
C = KERNEL.c
INDEX_BITS = 40
NO_POSITION = 2**64 - 1
SIDE_BIT = 1 << 54
RESERVE = 15

QUICK = 8_000
"""Random positions for tests that need the reference for each."""
MANY = 40_000
"""Random positions, or slots, for tests that run on the kernel alone."""


def kernel_move(move: Move) -> int:
    source = RESERVE if move.source is None else CELLS.index(move.source)
    return move.size << 8 | source << 4 | CELLS.index(move.target)


def rank(code: int) -> int:
    return int(C.rank(C, code))


def unrank(first: int, count: int) -> list[int]:
    buffer = ffi.new("pp_position[]", count)
    C.unrank(C, first, count, buffer)
    return list(buffer)


def expand(code: int) -> list[int]:
    slots = ffi.new("pp_slot[]", C.max_moves)
    return list(slots[0 : C.expand(C, code, slots)])


def retract(code: int) -> list[int]:
    slots = ffi.new("pp_slot[]", C.max_parents)
    return list(slots[0 : C.retract(C, code, slots)])


@cache
def tier_children(tier: int) -> frozenset[int]:
    tiers = ffi.new("uint32_t[]", C.tier_count)
    return frozenset(tiers[0 : C.tier_children(C, tier, tiers)])


def tier_of(slot: int) -> int:
    return slot >> INDEX_BITS


def can_return(parent_tier: int, child_tier: int) -> bool:
    return parent_tier in tier_children(child_tier)


def swap_colours(code: int) -> int:
    """The same position with Orange and Blue exchanged, the side to move too."""
    ones = sum(1 << bit for bit in range(0, 54, 2))
    return (code & ones) << 1 | code >> 1 & ones | (code & SIDE_BIT ^ SIDE_BIT)


def mover_first(code: int) -> int:
    """The one representative of all positions that may share a slot: canonical, with Orange to move."""
    return KERNEL.canonicalize(swap_colours(code) if code & SIDE_BIT else code)


def kernel_playouts(count: int, seed: int) -> Iterator[int]:
    """Every position of random games by the kernel's moves, the finished ones included."""
    generator = random.Random(seed)
    code = KERNEL.start()
    for _ in range(count):
        yield code
        moves = KERNEL.moves(code)
        code = KERNEL.apply(code, generator.choice(moves)) if moves else KERNEL.start()


def random_slots(count: int, seed: int) -> Iterator[int]:
    """Slots drawn evenly over the tiers, evenly within each."""
    generator = random.Random(seed)
    for _ in range(count):
        tier = generator.randrange(C.tier_count)
        yield tier << INDEX_BITS | generator.randrange(C.tier_size(C, tier))


def sample(count: int, seed: int) -> Iterator[int]:
    """Valid positions, half from random games, half from anywhere in the index."""
    yield from kernel_playouts(count // 2, seed)
    for slot in random_slots(count // 2, seed):
        (code,) = unrank(slot, 1)
        if code != NO_POSITION:
            yield code


# ---- the rules ----


def check_against_reference(position: Position) -> None:
    code = reference.encode(position)
    moves = reference.moves(position)
    assert KERNEL.valid(code)
    found = KERNEL.moves(code)
    assert len(found) == len(set(found)), code
    assert set(found) == {kernel_move(move) for move in moves}, code
    assert Status(KERNEL.status(code)).name == reference.status(position), code
    for move in moves:
        after = KERNEL.apply(code, kernel_move(move))
        assert after == reference.encode(reference.apply(position, move)), (code, move)
        assert KERNEL.undo(after, kernel_move(move)) == code, (code, move)


def test_agrees_with_the_reference_on_random_games() -> None:
    for position in random_playouts(QUICK, seed=1):
        check_against_reference(position)


def test_agrees_with_the_reference_where_a_lift_reveals_a_line() -> None:
    for position in random_reveals(QUICK // 2, seed=16):
        check_against_reference(position)


def test_agrees_with_the_reference_on_pieces_put_down_anywhere() -> None:
    for position in random_placements(QUICK, seed=2):
        check_against_reference(position)


@settings(max_examples=500, deadline=None)
@given(positions())
def test_agrees_with_the_reference_on_whatever_hypothesis_finds(position: Position) -> None:
    check_against_reference(position)


@pytest.mark.parametrize("case", REVEALS, ids=lambda case: case["board"])
def test_agrees_with_the_reference_on_the_reveal_cases(case: dict[str, int]) -> None:
    for image in reference.images(reference.decode(case["encoding"])):
        check_against_reference(image)
        check_against_reference(reference.decode(swap_colours(reference.encode(image))))
    assert len(KERNEL.moves(case["encoding"])) == case["count"]


@pytest.mark.parametrize(("code", "counts"), perft_counts())
def test_perft_finds_the_listed_counts(code: int, counts: list[int]) -> None:
    def perft(code: int, plies: int) -> int:
        moves = KERNEL.moves(code)
        if plies == 1:
            return len(moves)
        return sum(perft(KERNEL.apply(code, move), plies - 1) for move in moves)

    assert [perft(code, plies) for plies in range(1, len(counts) + 1)] == counts


def test_the_start_leads_to_the_known_numbers_of_classes() -> None:
    seen = frontier = {KERNEL.canonicalize(KERNEL.start())}
    counts = [1]
    for _ in range(4):
        children = {KERNEL.apply(code, move) for code in frontier for move in KERNEL.moves(code)}
        frontier = {KERNEL.canonicalize(child) for child in children} - seen
        seen = seen | frontier
        counts.append(len(frontier))
    assert counts == [1, 9, 117, 1380, 16212]


def test_the_canonical_form_is_the_smallest_of_the_8_images() -> None:
    for position in (*random_playouts(QUICK // 4, seed=3), *random_placements(QUICK // 4, seed=4)):
        codes = [reference.encode(image) for image in reference.images(position)]
        assert {KERNEL.canonicalize(code) for code in codes} == {min(codes)}


@settings(max_examples=2_000, deadline=None)
@given(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 2**55 - 1)))
def test_validity_agrees_with_the_reference_on_any_64_bits(code: int) -> None:
    assert bool(C.valid(C, code)) == reference.is_valid(code)


def test_validity_agrees_with_the_reference_near_valid_positions() -> None:
    """A few bits flipped: third copies, owner 3, high bits, and lines of the side to move."""
    generator = random.Random(5)
    verdicts: Counter[bool] = Counter()
    for position in random_placements(2 * QUICK, seed=6):
        code = reference.encode(position)
        for bit in generator.sample(range(64), generator.randrange(1, 4)):
            code ^= 1 << bit
        if generator.random() < 0.7:
            code &= 2**55 - 1
        verdict = reference.is_valid(code)
        verdicts[verdict] += 1
        assert bool(C.valid(C, code)) == verdict, code
    assert min(verdicts.values()) > QUICK // 10


def test_the_rules_are_the_same_for_both_colours() -> None:
    for code in sample(MANY // 4, seed=7):
        swapped = swap_colours(code)
        assert KERNEL.moves(swapped) == KERNEL.moves(code), code
        assert KERNEL.status(swapped) == KERNEL.status(code), code


def test_wins_now_knows_exactly_the_moves_that_make_a_line() -> None:
    """Only `1 means a win` is in the contract; that no line is missed is what makes the solve fast."""
    answers: Counter[bool] = Counter()
    for position in (*random_playouts(QUICK // 2, seed=8), *random_reveals(QUICK // 2, seed=9)):
        code = reference.encode(position)
        if KERNEL.status(code) == Status.ONGOING:
            wins = any(reference.apply(position, move).has_line(position.mover) for move in reference.moves(position))
            assert bool(C.wins_now(C, code)) == wins, code
            answers[wins] += 1
    assert min(answers.values()) > QUICK // 10


# ---- the index ----


def test_every_slot_of_the_small_tiers_is_ranked_as_it_is_unranked() -> None:
    for tier in range(C.tier_count):
        size = C.tier_size(C, tier)
        if size <= 600:
            check_slots(tier << INDEX_BITS, size)


def test_sampled_slots_of_the_large_tiers_are_ranked_as_they_are_unranked() -> None:
    generator = random.Random(10)
    for tier in range(C.tier_count):
        size = C.tier_size(C, tier)
        count = min(50, size)
        ends = (0, size - count, generator.randrange(size - count + 1))
        for index in ends:
            check_slots(tier << INDEX_BITS | index, count)


def check_slots(first: int, count: int) -> None:
    for slot, code in enumerate(unrank(first, count), start=first):
        if code != NO_POSITION:
            assert KERNEL.valid(code), slot
            assert rank(code) == slot
            assert KERNEL.tier(code) == tier_of(slot)


def test_a_slot_holds_one_position_up_to_symmetry_and_colours() -> None:
    for code in sample(MANY, seed=11):
        slot = rank(code)
        assert KERNEL.tier(code) == tier_of(slot)
        assert slot & ((1 << INDEX_BITS) - 1) < C.tier_size(C, tier_of(slot))
        (held,) = unrank(slot, 1)
        assert mover_first(held) == mover_first(code), code


def test_all_images_and_the_colour_swap_share_a_slot() -> None:
    for position in random_placements(QUICK // 4, seed=12):
        codes = [reference.encode(image) for image in reference.images(position)]
        codes += [swap_colours(code) for code in codes]
        assert len({rank(code) for code in codes}) == 1, codes[0]


@pytest.mark.parametrize("blue_smalls", [0, 1])
def test_a_tier_holds_every_position_of_its_pieces_once(blue_smalls: int) -> None:
    """Counted out: two Orange smalls and a medium, none or one Blue small; some make an Orange line."""
    pieces = [Piece(1, SMALL), Piece(1, SMALL), Piece(1, MEDIUM), *[Piece(2, SMALL)] * blue_smalls]
    classes = set()
    for cells in itertools.product(range(9), repeat=len(pieces)):
        places = [(cell, piece.size) for cell, piece in zip(cells, pieces, strict=True)]
        if len(set(places)) == len(places):
            code = sum(p.owner << 6 * cell + 2 * p.size for cell, p in zip(cells, pieces, strict=True))
            if reference.is_valid(code):
                classes.add(KERNEL.canonicalize(code))
    tier = KERNEL.tier(next(iter(classes)))
    held = [code for code in unrank(tier << INDEX_BITS, C.tier_size(C, tier)) if code != NO_POSITION]
    assert sorted(mover_first(code) for code in held) == sorted(classes)


# ---- expand and retract ----


def test_expand_gives_the_slots_of_all_children() -> None:
    for code in sample(MANY // 2, seed=13):
        if KERNEL.status(code) == Status.ONGOING:
            slots = [rank(KERNEL.apply(code, move)) for move in KERNEL.moves(code)]
            expanded = Counter(expand(code))
            assert set(expanded) == set(slots), code
            assert expanded <= Counter(slots), code
            assert {tier_of(slot) for slot in expanded} <= tier_children(KERNEL.tier(code)), code


def test_retract_gives_back_each_parent_as_often_as_expand_gave_the_child() -> None:
    for code in telling_positions(seed=14):
        if KERNEL.status(code) == Status.ONGOING:
            slot = rank(code)
            for child_slot, times in Counter(expand(code)).items():
                if can_return(tier_of(slot), tier_of(child_slot)):
                    (child,) = unrank(child_slot, 1)
                    assert retract(child).count(slot) == times, (code, child)


def test_expand_gives_back_each_child_as_often_as_retract_gave_the_parent() -> None:
    for code in telling_positions(seed=15):
        slot = rank(code)
        for parent_slot, times in Counter(retract(code)).items():
            (parent,) = unrank(parent_slot, 1)
            assert KERNEL.valid(parent), (code, parent_slot)
            assert KERNEL.status(parent) == Status.ONGOING, (code, parent)
            assert can_return(tier_of(parent_slot), tier_of(slot)), (code, parent)
            assert expand(parent).count(slot) == times, (code, parent)


def telling_positions(seed: int) -> Iterator[int]:
    """A sample; positions with a symmetry of their own; reveals, from both sides; small tiers as a whole."""
    yield from sample(MANY // 8, seed)
    yield from map(reference.encode, random_symmetric_placements(MANY // 8, seed))
    for code in map(reference.encode, random_reveals(MANY // 16, seed)):
        yield code
        if KERNEL.valid(code ^ SIDE_BIT):
            yield code ^ SIDE_BIT
    for tier in range(C.tier_count):
        size = C.tier_size(C, tier)
        if size <= 200:
            yield from (code for code in unrank(tier << INDEX_BITS, size) if code != NO_POSITION)


def survey(first: int, count: int, wanted: int, *, known_open: bool = False) -> tuple[list[int], list[list[int]]]:
    """What the kernel's survey says of the wanted slots: their codes, and their children."""
    codes = ffi.new("uint8_t[]", 64)
    slots, ends = ffi.new("pp_slot[]", wanted.bit_count() * C.max_moves), ffi.new("uint32_t[]", 64)
    C.survey(C, first, count, wanted, ffi.NULL if known_open else codes, slots, ends)
    found, begin = ([], []), 0
    for place in range(count):
        if wanted >> place & 1:
            found[0].append(codes[place])
            found[1].append(list(slots[begin : ends[place]]))
            begin = ends[place]
    return found


def test_survey_says_of_a_run_what_the_other_functions_say_of_each_slot() -> None:
    generator = random.Random(9)
    opened = 0
    for slot in random_slots(1500, seed=9):
        count = min(generator.randint(1, 64), C.tier_size(C, tier_of(slot)) - slot + (tier_of(slot) << INDEX_BITS))
        wanted = generator.getrandbits(count) | 1 << generator.randrange(count)
        expected: tuple[list[int], list[list[int]]] = ([], [])
        still_open = 0
        for place, code in enumerate(unrank(slot, count)):
            if not wanted >> place & 1:
                continue
            status = 4 if code == NO_POSITION else C.status(C, code)
            won = status == 0 and C.wins_now(C, code)
            expected[0].append(7 if won else status)
            expected[1].append(expand(code) if status == 0 and not won else [])
            still_open |= (status == 0 and not won) << place
        assert survey(slot, count, wanted) == expected
        if still_open:
            opened += 1
            children = [each for each in expected[1] if each]
            assert survey(slot, count, still_open, known_open=True)[1] == children
    assert opened > 300
