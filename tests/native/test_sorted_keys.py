"""Sets of positions as sorted arrays, compared with Python sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfectplay.threads import ThreadPool
from perfectplay.tiers import external_set
from perfectplay.tiers.external_set import ExternalSet, SpillBudget
from perfectplay_native.positions import difference, sort_distinct, union

# Close together, so that sets overlap; far apart, so that every digit matters; and the extremes.
keys = st.one_of(st.integers(0, 200), st.integers(0, 2**64 - 1), st.sampled_from([0, 2**63, 2**64 - 1]))
sets = st.sets(keys, max_size=120)


def ordered(positions):
    return np.array(sorted(positions), dtype=np.uint64)


@given(st.lists(keys, max_size=300))
def test_sorting_removes_duplicates(positions):
    assert sort_distinct(np.array(positions, dtype=np.uint64)).tolist() == sorted(set(positions))


@given(st.lists(sets, max_size=6))
def test_union(many):
    assert union([ordered(each) for each in many]).tolist() == sorted(set().union(*many))


@given(sets, st.lists(sets, max_size=4))
def test_difference(positions, others):
    left = difference(ordered(positions), [ordered(each) for each in others])
    assert left.tolist() == sorted(positions.difference(*others))


def test_inputs_are_not_changed():
    """Memory from Ray is read-only."""
    array = np.arange(10, dtype=np.uint64)
    array.flags.writeable = False
    assert difference(union([array]), [array[:4], array[8:]]).tolist() == [4, 5, 6, 7]
    assert array.tolist() == list(range(10))


def test_difference_of_a_small_and_a_large_set():
    many = np.arange(0, 3_000_000, 3, dtype=np.uint64)
    few = np.array([0, 1, 2_999_996, 2_999_997, 2_999_998, 2**63], dtype=np.uint64)
    assert difference(few, [many]).tolist() == [1, 2_999_996, 2_999_998, 2**63]


@pytest.mark.parametrize("budget", [None, 0, 400, 5000])
@given(st.lists(sets, max_size=20))
def test_runs_are_a_set_with_any_budget(tmp_path_factory, budget, many):
    directory = tmp_path_factory.getbasetemp()
    runs = ExternalSet(SpillBudget(limit=budget, directory=directory))
    everything: set[int] = set()
    for each in many:
        runs.insert([difference(ordered(each), runs.arrays_in_memory)])
        everything |= each
    assert difference(ordered(range(300)), runs.arrays).tolist() == sorted(set(range(300)) - everything)
    assert [int(key) for part in runs.iter_sorted() for key in part] == sorted(everything)
    assert budget is None or runs.memory_bytes <= budget
    taken = ExternalSet(SpillBudget(limit=budget, directory=directory))
    taken.merge(runs)
    assert not runs
    assert [int(key) for part in taken.drain_sorted() for key in part] == sorted(everything)
    assert not taken


def test_runs_are_merged_in_the_memory_that_they_release(monkeypatch):
    monkeypatch.setattr(external_set, "SEGMENT", 1 << 13)
    monkeypatch.setattr(external_set, "MERGE_BYTES", 1 << 17)
    spill = SpillBudget(limit=4 << 20, directory=None)
    runs = ExternalSet(spill)
    even, odd = np.arange(0, 400_000, 2, dtype=np.uint64), np.arange(1, 400_000, 2, dtype=np.uint64)
    runs.insert([even])
    runs.insert([odd])
    assert [len(run) for run in runs._in_memory] == [400_000]
    assert (np.concatenate(runs.arrays) == np.arange(400_000)).all()
    assert len(spill.pool.free) <= 6, "all other segments contain positions"
    assert sum(map(len, runs.drain_sorted())) == 400_000
    assert len(spill.pool.free) >= 48
    ExternalSet(spill).insert([np.arange(500_000, dtype=np.uint64)])
    assert len(spill.pool.free) * 8 * external_set.SEGMENT + spill.memory_bytes <= spill.limit


@pytest.mark.parametrize("limit", [1 << 16, 8 << 20, 1 << 30, None])
def test_a_segment_is_a_small_part_of_the_budget(limit):
    spill = SpillBudget(limit=limit, directory=None)
    assert spill.pool.take().nbytes <= min(8 * external_set.SEGMENT, (limit or 1 << 30) // 16)


def test_a_set_that_is_being_read_stays_in_memory(tmp_path, monkeypatch):
    spill = SpillBudget(limit=800, directory=tmp_path)
    read, other = ExternalSet(spill), ExternalSet(spill)
    monkeypatch.setattr(spill, "merge_bytes", 1 << 20)
    read.insert([np.arange(50, dtype=np.uint64)])
    portions = read.iter_sorted()
    first = next(portions)
    other.insert([np.arange(100, dtype=np.uint64)])
    assert read.memory_bytes == 400, "the other one is in a file"
    assert other.memory_bytes == 0
    assert first.tolist() == list(range(50))
    portions.close()
    other.insert([np.arange(100, 160, dtype=np.uint64)])
    assert spill.memory_bytes <= 800
    assert not list(tmp_path.iterdir()), "the files have no names"


def test_ranges_have_similar_sizes_although_every_array_covers_a_part_only(monkeypatch):
    monkeypatch.setattr("perfectplay.threads.SMALLEST_RANGE", 1)
    arrays = [ordered(range(1000 * number, 1000 * number + 500 + number)) for number in range(20)]
    with ThreadPool(4) as pool:
        sizes = [len(part) for part in pool.by_ranges(lambda sets, known: union(sets), arrays, [])]
    assert sum(sizes) == sum(map(len, arrays))
    assert max(sizes) < 2 * min(sizes)


@pytest.mark.parametrize("threads", [1, 3])
def test_ranges_of_keys_are_processed_separately_and_in_order(threads, monkeypatch):
    monkeypatch.setattr("perfectplay.threads.SMALLEST_RANGE", 1)
    some, more, known = ordered(range(0, 90, 3)), ordered(range(0, 200, 2)), ordered(range(50, 120))
    with ThreadPool(threads) as pool:
        parts = pool.by_ranges(lambda sets, known: difference(union(sets), known), [some, more], [known])
    assert len(parts) == threads
    assert np.concatenate(parts).tolist() == sorted(({*range(0, 90, 3)} | {*range(0, 200, 2)}) - {*range(50, 120)})
