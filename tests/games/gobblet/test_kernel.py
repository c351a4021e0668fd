"""The C kernel compared with the plain-Python reference on tens of thousands of positions, and its contract.

A solve depends on this kernel: `solve verify` assumes the properties tested here.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay.values import Status
from perfectplay_gobblet.plugin import kernel as plugin_kernel
from perfectplay_gobblet.rules import side, stack, swap_colours
from perfectplay_native.build_engine import ffi
from perfectplay_native.limits import INDEX_BITS, NO_POSITION
from perfectplay_native.positions import movers_of_many

from ..indexes import IndexContract, tier_of
from ..playouts import playouts
from . import reference
from .positions import positions, random_placements, random_reveals, random_symmetric_placements
from .reference import CELLS, MEDIUM, SMALL, START, Move, Piece, Position
from .test_reference import PERFT, REVEALS

KERNEL = plugin_kernel()
INDEX = IndexContract(KERNEL)
C, rank, unrank = KERNEL.c, INDEX.rank, INDEX.unrank
SIDE_BIT = 1 << 54
RESERVE = 15

QUICK = 4_000
"""Number of random positions in tests that use the reference."""
MANY = 20_000
"""Number of random positions or slots in tests that use only the kernel."""


def kernel_move(move: Move) -> int:
    source = RESERVE if move.source is None else CELLS.index(move.source)
    return move.size << 8 | source << 4 | CELLS.index(move.target)


def exchange_colours(code: int) -> int:
    """Return the position with Orange and Blue exchanged, including the side to move."""
    ones = sum(1 << bit for bit in range(0, 54, 2))
    return (code & ones) << 1 | code >> 1 & ones | (code & SIDE_BIT ^ SIDE_BIT)


def mover_first(code: int) -> int:
    """Return the representative of all positions that share a slot: canonical, with Orange to move."""
    return KERNEL.canonicalize(exchange_colours(code) if code & SIDE_BIT else code)


def kernel_playouts(count: int, seed: int) -> Iterator[int]:
    """Yield every position of random games by the kernel's moves, including finished ones."""
    generator = random.Random(seed)
    code = KERNEL.start()
    for _ in range(count):
        yield code
        moves = KERNEL.moves(code)
        code = KERNEL.apply(code, generator.choice(moves)) if moves else KERNEL.start()


def random_slots(count: int, seed: int) -> Iterator[int]:
    """Yield slots drawn uniformly from uniformly drawn tiers."""
    generator = random.Random(seed)
    for _ in range(count):
        tier = generator.randrange(C.tier_count)
        yield tier << INDEX_BITS | generator.randrange(C.tier_size(C, tier))


def sample(count: int, seed: int) -> Iterator[int]:
    """Yield valid positions, half from random games, half from anywhere in the index."""
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
    legal = KERNEL.moves(code)
    assert len(legal) == len(set(legal)), code
    assert set(legal) == {kernel_move(move) for move in moves}, code
    assert Status(KERNEL.status(code)).name == reference.status(position), code
    for move in moves:
        after = KERNEL.apply(code, kernel_move(move))
        assert after == reference.encode(reference.apply(position, move)), (code, move)
        assert KERNEL.undo(after, kernel_move(move)) == code, (code, move)


@pytest.mark.parametrize(
    "sample",
    [playouts(reference, START, QUICK), random_placements(QUICK, seed=2), random_reveals(QUICK // 2, seed=16)],
    ids=["games", "placements", "reveals"],
)
def test_agrees_with_the_reference(sample: Iterator[Position]) -> None:
    for position in sample:
        check_against_reference(position)


@settings(max_examples=500, deadline=None)
@given(positions())
def test_agrees_with_the_reference_on_generated_positions(position: Position) -> None:
    check_against_reference(position)


@pytest.mark.parametrize("case", REVEALS, ids=lambda case: case["board"])
def test_agrees_with_the_reference_on_the_reveal_cases(case: dict[str, int]) -> None:
    for image in reference.images(reference.decode(case["encoding"])):
        check_against_reference(image)
        check_against_reference(reference.decode(exchange_colours(reference.encode(image))))
    assert len(KERNEL.moves(case["encoding"])) == case["count"]


@pytest.mark.parametrize(("code", "counts"), PERFT)
def test_perft_gives_the_listed_counts(code: int, counts: list[int]) -> None:
    def perft(code: int, plies: int) -> int:
        moves = KERNEL.moves(code)
        if plies == 1:
            return len(moves)
        return sum(perft(KERNEL.apply(code, move), plies - 1) for move in moves)

    assert [perft(code, plies) for plies in range(1, len(counts) + 1)] == counts


def test_the_start_leads_to_the_published_numbers_of_classes() -> None:
    seen = frontier = {KERNEL.canonicalize(KERNEL.start())}
    counts = [1]
    for _ in range(4):
        children = {KERNEL.apply(code, move) for code in frontier for move in KERNEL.moves(code)}
        frontier = {KERNEL.canonicalize(child) for child in children} - seen
        seen = seen | frontier
        counts.append(len(frontier))
    assert counts == [1, 9, 117, 1380, 16212]


def test_the_canonical_form_is_the_smallest_of_the_8_images() -> None:
    for position in (*playouts(reference, START, QUICK // 4, seed=3), *random_placements(QUICK // 4, seed=4)):
        codes = [reference.encode(image) for image in reference.images(position)]
        assert {KERNEL.canonicalize(code) for code in codes} == {min(codes)}


@settings(max_examples=2_000, deadline=None)
@given(st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 2**55 - 1)))
def test_validity_agrees_with_the_reference_on_any_64_bits(code: int) -> None:
    assert bool(C.valid(C, code)) == reference.is_valid(code)


def test_validity_agrees_with_the_reference_near_valid_positions() -> None:
    """Flipping a few bits gives third copies, owner 3, high bits and lines of the side to move."""
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
        swapped = exchange_colours(code)
        assert KERNEL.moves(swapped) == KERNEL.moves(code), code
        assert KERNEL.status(swapped) == KERNEL.status(code), code


def test_wins_now_detects_every_move_that_makes_a_line() -> None:
    """The contract only requires that 1 means a win, but a solve is fast because no line is missed."""
    answers: Counter[bool] = Counter()
    for position in (*playouts(reference, START, QUICK // 2, seed=8), *random_reveals(QUICK // 2, seed=9)):
        code = reference.encode(position)
        if KERNEL.status(code) == Status.ONGOING:
            wins = any(reference.apply(position, move).has_line(position.mover) for move in reference.moves(position))
            assert bool(C.wins_now(C, code)) == wins, code
            answers[wins] += 1
    assert min(answers.values()) > QUICK // 10


# ---- the index ----


def test_rank_inverts_unrank_on_all_slots_of_small_tiers_and_sampled_ones_of_large_tiers() -> None:
    generator = random.Random(10)
    for tier in range(C.tier_count):
        size = C.tier_size(C, tier)
        if size <= 600:
            INDEX.check_slots(tier, 0, size)
            continue
        for index in (0, size - 50, generator.randrange(size - 49)):
            INDEX.check_slots(tier, index, 50)


def test_a_slot_holds_one_position_up_to_symmetry_and_colours() -> None:
    for code in sample(MANY, seed=11):
        slot = rank(code)
        assert KERNEL.tier(code) == tier_of(slot)
        assert slot & ((1 << INDEX_BITS) - 1) < C.tier_size(C, tier_of(slot))
        (representative,) = unrank(slot, 1)
        assert mover_first(representative) == mover_first(code), code


def test_all_images_and_the_colour_swap_share_a_slot() -> None:
    for position in random_placements(QUICK // 4, seed=12):
        codes = [reference.encode(image) for image in reference.images(position)]
        codes += [exchange_colours(code) for code in codes]
        assert len({rank(code) for code in codes}) == 1, codes[0]


def test_the_example_in_index_h_has_the_slot_worked_out_there() -> None:
    example = 2 | 16 << 6 * 5  # Blue's small at the top left, Orange's large in the middle of the right column
    assert rank(example) == 244 << INDEX_BITS | 10
    assert C.tier_size(C, 244) == 15


@settings(deadline=None)
@given(st.lists(positions().map(reference.encode), min_size=1, max_size=5))
def test_swapping_colours_keeps_the_slot_and_exchanges_owners_and_side(codes: list[int]) -> None:
    numbers = np.array(codes, dtype=np.uint64)
    assert movers_of_many(KERNEL, numbers).tolist() == [side(code) for code in codes]
    swapped = swap_colours(numbers)
    assert swap_colours(swapped).tolist() == codes
    for code, twin in zip(codes, swapped.tolist(), strict=True):
        assert KERNEL.valid(twin)
        assert rank(twin) == rank(code)
        assert side(twin) != side(code)
        for cell in range(9):
            assert stack(twin, cell) == tuple((1 - player, size) for player, size in stack(code, cell))


@pytest.mark.parametrize("blue_smalls", [0, 1])
def test_a_tier_holds_every_position_of_its_pieces_once(blue_smalls: int) -> None:
    """Enumerates two Orange smalls and a medium, with no or one Blue small. Some placements are an Orange line."""
    pieces = [Piece(1, SMALL), Piece(1, SMALL), Piece(1, MEDIUM), *[Piece(2, SMALL)] * blue_smalls]
    classes = set()
    for cells in itertools.product(range(9), repeat=len(pieces)):
        places = [(cell, piece.size) for cell, piece in zip(cells, pieces, strict=True)]
        if len(set(places)) == len(places):
            code = sum(p.owner << 6 * cell + 2 * p.size for cell, p in zip(cells, pieces, strict=True))
            if reference.is_valid(code):
                classes.add(KERNEL.canonicalize(code))
    tier = KERNEL.tier(next(iter(classes)))
    stored = [code for code in unrank(tier << INDEX_BITS, C.tier_size(C, tier)) if code != NO_POSITION]
    assert sorted(mover_first(code) for code in stored) == sorted(classes)


# ---- expand and retract ----


def test_expand_lists_the_slots_of_all_children() -> None:
    for code in sample(MANY // 2, seed=13):
        INDEX.check_expand(code)


def test_retract_lists_each_parent_as_often_as_expand_lists_the_child() -> None:
    for code in edge_test_positions(seed=14):
        INDEX.check_children(code)


def test_expand_lists_each_child_as_often_as_retract_lists_the_parent() -> None:
    for code in edge_test_positions(seed=15):
        INDEX.check_parents(code)


def edge_test_positions(seed: int) -> Iterator[int]:
    """Yield a sample, symmetric positions, reveals from both sides, and complete small tiers."""
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
    """Return the codes and the children of the wanted slots from the kernel's survey."""
    codes = ffi.new("uint8_t[]", 64)
    slots, ends = ffi.new("pp_slot[]", wanted.bit_count() * C.max_moves), ffi.new("uint32_t[]", 64)
    C.survey(C, first, count, wanted, ffi.NULL if known_open else codes, slots, ends)
    codes_and_children, begin = ([], []), 0
    for place in range(count):
        if wanted >> place & 1:
            codes_and_children[0].append(codes[place])
            codes_and_children[1].append(list(slots[begin : ends[place]]))
            begin = ends[place]
    return codes_and_children


def test_survey_of_a_run_agrees_with_the_functions_for_single_slots() -> None:
    generator = random.Random(9)
    runs_with_open_slots = 0
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
            expected[1].append(INDEX.expand(code) if status == 0 and not won else [])
            still_open |= (status == 0 and not won) << place
        assert survey(slot, count, wanted) == expected
        if still_open:
            runs_with_open_slots += 1
            children = [each for each in expected[1] if each]
            assert survey(slot, count, still_open, known_open=True)[1] == children
    assert runs_with_open_slots > 300
