"""The perfect index: the number of slots, rank and unrank, expand and retract."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from math import comb, perm

from hypothesis import given

from perfectplay import Status
from perfectplay_dobutsu.notation import encode
from perfectplay_dobutsu.rules import FINISHED, LION_CAN_BE_TAKEN, RANKED, UNFINISHED
from perfectplay_native.kernel import slot_of
from perfectplay_native.limits import NO_POSITION

from ..indexes import IndexContract
from . import reference
from .positions import positions, random_placements, random_symmetric_placements

INDEX = IndexContract(RANKED)
SLOTS = RANKED.tier_size(UNFINISHED)
RUN = 200


def lion_pairs() -> int:
    """Count the placements of the lions up to reflection: not adjacent, and neither on its far rank."""
    apart = [
        (mine, theirs)
        for mine, theirs in itertools.product(reference.CELLS, repeat=2)
        if max(abs(mine[0] - theirs[0]), abs(mine[1] - theirs[1])) > 1 and mine[0] != 0 and theirs[0] != 3
    ]
    return len({min((a, b), ((a[0], 2 - a[1]), (b[0], 2 - b[1]))) for a, b in apart})


def ways_beside_lions() -> int:
    """Count the placements of the other six pieces, kind by kind. The two pieces of a kind have two places."""

    def layers(sorts: int) -> Counter[tuple[int, bool]]:
        """Count unordered pairs of places by the number on the board and whether they are the same."""
        on_board = [True] * sorts + [False] * 2  # two hands
        pairs = itertools.combinations_with_replacement(range(len(on_board)), 2)
        return Counter((on_board[a] + on_board[b], a == b) for a, b in pairs)

    def ways(cells: int, count: int, alike: bool) -> int:
        return comb(cells, count) if alike or count < 2 else perm(cells, count)

    total = 0
    for chicks, giraffes, elephants in itertools.product(layers(4).items(), layers(2).items(), layers(2).items()):
        cells, product = 10, 1
        for (count, alike), times in (chicks, giraffes, elephants):
            product *= times * ways(cells, count, alike)
            cells -= count
        total += product
    return total


def random_runs(count: int, seed: int) -> Iterator[range]:
    """Yield the first run of slots, the last, and random ones."""
    generator = random.Random(seed)
    yield range(RUN)
    yield range(SLOTS - RUN, SLOTS)
    for _ in range(count):
        first = generator.randrange(SLOTS - RUN)
        yield range(first, first + RUN)


def unfinished_codes(seed: int) -> list[int]:
    """Return unfinished positions, including symmetric ones and their children."""
    placements = [*random_placements(1500, seed), *random_symmetric_placements(400, seed)]
    codes = [reference.encode(position) for position in placements]
    return [code for code in codes if RANKED.tier(code) == UNFINISHED]


def test_there_is_a_slot_for_each_placement_of_the_pieces():
    assert SLOTS == lion_pairs() * ways_beside_lions() == 249_442_767
    assert RANKED.tier_size(LION_CAN_BE_TAKEN) == RANKED.tier_size(FINISHED) == 1


def test_the_example_in_index_h_has_the_index_worked_out_there():
    assert RANKED.rank(encode("C1l/L2/3/3 b 2G2EC")) == (UNFINISHED, 60_544_260)  # the first of the group
    assert RANKED.rank(encode("2l/1C1/3/L2 b 2G2EC")) == (UNFINISHED, 60_544_383)


def test_rank_and_unrank_are_inverse_on_runs_of_slots():
    positions = sum(INDEX.check_slots(UNFINISHED, run.start, RUN) for run in random_runs(60, seed=3))
    assert 0.4 < positions / (62 * RUN) < 0.6


def test_unranking_a_run_agrees_with_unranking_each_slot():
    for run in random_runs(20, seed=4):
        singles = [RANKED.unrank(UNFINISHED, index) for index in run]
        together = INDEX.unrank(slot_of(UNFINISHED, run.start), RUN)
        assert [None if code == NO_POSITION else code for code in together] == singles


@given(positions())
def test_images_and_only_images_share_a_slot(position):
    images = [position, reference.mirror(position)]
    images += [reference.turn(image) for image in images]
    codes = [reference.encode(image) for image in images]
    slots = {RANKED.rank(code) for code in codes}
    assert len(slots) == 1
    tier, index = slots.pop()
    if tier == UNFINISHED:
        assert RANKED.unrank(tier, index) in codes
    else:
        assert index == 0
    assert tier == RANKED.tier(codes[0])


def test_slots_outside_the_index_hold_a_position_of_their_value():
    capturable, finished = RANKED.unrank(LION_CAN_BE_TAKEN, 0), RANKED.unrank(FINISHED, 0)
    assert capturable is not None
    assert finished is not None
    assert (RANKED.rank(capturable), RANKED.rank(finished)) == ((LION_CAN_BE_TAKEN, 0), (FINISHED, 0))
    assert RANKED.wins_now(capturable)
    assert RANKED.status(finished) == Status.LOST


def test_expand_lists_the_slots_of_all_children():
    for code in unfinished_codes(seed=5):
        INDEX.check_expand(code)


def test_expand_and_retract_list_each_other_equally_often():
    sample = [RANKED.unrank(UNFINISHED, run[0]) for run in random_runs(1500, seed=6)]
    for code in [*unfinished_codes(seed=7), *(code for code in sample if code is not None)]:
        INDEX.check_children(code)
        INDEX.check_parents(code)


def test_retract_lists_nothing_outside_the_unfinished_tier():
    for position in random_placements(300, seed=8):
        code = reference.encode(position)
        if RANKED.tier(code) != UNFINISHED:
            assert RANKED.retract(code) == []
