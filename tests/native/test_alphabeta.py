"""The weak solver in C: on graphs full of cycles everything it stores is right, however it comes and goes."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay_native.engine import EngineError, EngineStopped
from perfectplay_native.python_kernel import PythonKernel
from perfectplay_native.search import Search

ONGOING, LOST, DRAWN, WON = range(4)


@dataclass(frozen=True)
class Graph:
    """A game given by its moves: successors[p] are the positions after p; where there are none, ends[p] says how."""

    successors: list[list[int]]
    ends: list[int]
    tier: None = None
    parents: None = None

    def valid(self, position: int) -> bool:
        return position < len(self.successors)

    def start(self) -> int:
        return 0

    def moves(self, position: int) -> list[int]:
        return list(range(len(self.successors[position])))

    def apply(self, position: int, move: int) -> int:
        return self.successors[position][move]

    def undo(self, position: int, move: int) -> int:
        raise NotImplementedError

    def canonicalize(self, position: int) -> int:
        return position

    def status(self, position: int) -> int:
        return ONGOING if self.successors[position] else self.ends[position]

    def outcomes(self) -> list[int]:
        """By definition: decide what can be decided until nothing changes; the rest is drawn."""
        known = [ONGOING if after else end for after, end in zip(self.successors, self.ends, strict=True)]
        changed = True
        while changed:
            changed = False
            for position, after in enumerate(self.successors):
                worth = [known[child] for child in after]
                if known[position] == ONGOING and (LOST in worth or all(w == WON for w in worth)):
                    known[position] = WON if LOST in worth else LOST
                    changed = True
        return [outcome or DRAWN for outcome in known]

    def reachable(self) -> set[int]:
        seen, left = {0}, [0]
        while left:
            new = set(self.successors[left.pop()]) - seen
            seen |= new
            left += new
        return seen


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 24))
    nodes = st.integers(0, size - 1)
    successors = draw(st.lists(st.lists(nodes, max_size=4), min_size=size, max_size=size))
    ends = draw(st.lists(st.sampled_from([LOST, LOST, DRAWN, WON]), min_size=size, max_size=size))
    return Graph(successors, ends)


def random_graph(seed: int, size: int) -> Graph:
    """Larger than hypothesis likes: cycles within cycles, and few ends."""
    rng = random.Random(seed)
    ended = rng.choice([0.02, 0.05, 0.1])
    successors = [
        [] if rng.random() < ended else [rng.randrange(size) for _ in range(rng.randint(1, 5))] for _ in range(size)
    ]
    return Graph(successors, [rng.choice([LOST, LOST, LOST, DRAWN, WON]) for _ in range(size)])


def stored(search: Search) -> dict[int, int]:
    positions, outcomes = search.entries()
    assert np.all(positions[1:] > positions[:-1])
    return dict(zip(positions.tolist(), outcomes.tolist(), strict=True))


def assert_right(search: Search, graph: Graph) -> None:
    truth = graph.outcomes()
    assert {p: outcome for p, outcome in stored(search).items() if outcome != truth[p]} == {}


def prove(graph: Graph, *, naive: bool = False) -> Search:
    search = Search(PythonKernel(graph))
    search.run(0, naive=naive)
    return search


# ---- soundness ----


@settings(max_examples=400, deadline=None)
@given(graphs())
def test_the_root_is_proven_and_everything_stored_is_right(graph):
    search = prove(graph)
    assert search.outcome(0) == graph.outcomes()[0]
    assert_right(search, graph)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_a_walk_proves_exactly_what_can_be_reached(graph):
    search = prove(graph)
    search.walk()
    assert set(stored(search)) == graph.reachable()
    assert search.counts.unique == len(graph.reachable())
    assert_right(search, graph)


@pytest.mark.parametrize("seed", range(40))
def test_large_graphs_with_cycles_within_cycles(seed):
    graph = random_graph(seed, 150)
    search = prove(graph)
    assert_right(search, graph)
    search.walk()
    assert set(stored(search)) == graph.reachable()
    assert_right(search, graph)


def test_the_large_graphs_make_draws_provisional_confirmed_and_forgotten():
    """Else the tests above would show nothing."""
    counts = [prove(random_graph(seed, 150)).counts for seed in range(40)]
    for what in ("cycles", "confirmed", "forgotten"):
        assert sum(getattr(c, what) for c in counts) > 200, what
    assert all(c.provisional == c.depth == 0 for c in counts)


def named(moves: str) -> tuple[Graph, dict[str, int]]:
    """A graph from `root: after after; other: after …`; a position that is only moved to has lost."""
    after = {name.strip(): rest.split() for name, rest in (part.split(":") for part in moves.split(";"))}
    names = list(dict.fromkeys([*after, *(name for each in after.values() for name in each)]))
    numbers = {name: number for number, name in enumerate(names)}
    return Graph([[numbers[a] for a in after.get(name, [])] for name in names], [LOST] * len(names)), numbers


# Whoever is at `lost` has one move, twice or thrice: the search looks at positions with fewer moves first.
TO_LOST = "lost: won won; won: end; worse: won won won"


@pytest.mark.parametrize(
    "moves",
    [
        # `loop` goes back to `root`, which wins by `lost`: a draw while `root` is on the path, in truth lost.
        f"root: loop lost; loop: root; {TO_LOST}",
        # `loop` is found below `top`, which is won, below `drawn`, which is drawn for certain. It rests on neither,
        # so it must outlive both, and not be confirmed with the latter.
        f"root: drawn worse; drawn: top back; back: drawn; top: lost loop; loop: root; {TO_LOST}",
        # The same, but `drawn` is itself provisional until `certain` is finished: `loop` must not join in.
        f"root: certain worse; certain: drawn; drawn: top certain; top: lost loop; loop: root; {TO_LOST}",
    ],
)
def test_a_draw_that_rests_on_a_position_that_turns_out_won_is_not_stored(moves):
    graph, numbers = named(moves)
    assert graph.outcomes()[numbers["loop"]] == LOST
    sound, naive = prove(graph), prove(graph, naive=True)
    assert naive.outcome(numbers["loop"]) == DRAWN  # so it was met while `root` was on the path
    assert_right(sound, graph)
    assert sound.outcome(0) == WON
    sound.run(numbers["loop"])
    assert sound.outcome(numbers["loop"]) == LOST


def test_storing_draws_at_once_as_the_seeds_did_is_wrong():
    wrong = 0
    for seed in range(40):
        graph = random_graph(seed, 150)
        truth = graph.outcomes()
        naive = stored(prove(graph, naive=True))
        wrong += sum(outcome == DRAWN != truth[position] for position, outcome in naive.items())
        assert_right(prove(graph), graph)
    assert wrong > 10


# ---- shapes ----


@pytest.mark.parametrize(
    ("successors", "ends", "outcome"),
    [
        ([[]], [LOST], LOST),
        ([[]], [DRAWN], DRAWN),
        ([[]], [WON], WON),
        ([[0]], [LOST], DRAWN),  # a move that changes nothing, for ever
        ([[0, 1], []], [LOST, LOST], WON),
        ([[0, 1], []], [LOST, WON], DRAWN),
        ([[1, 1, 1], []], [LOST, WON], LOST),
        ([[1], [0]], [LOST, LOST], DRAWN),
    ],
)
def test_small_games(successors, ends, outcome):
    assert prove(Graph(successors, ends)).outcome(0) == outcome


def test_a_position_that_is_neither_over_nor_has_a_move_is_refused():
    with pytest.raises(EngineError, match="position 1 is ONGOING but has no move"):
        prove(Graph([[1], []], [LOST, ONGOING]))


def test_a_path_of_a_hundred_thousand_positions_needs_no_recursion():
    length = 100_000
    chain = Graph([[p + 1] for p in range(length)] + [[]], [LOST] * (length + 1))
    search = prove(chain)
    assert search.outcome(0) == LOST  # an even number of moves before the mover has lost
    assert search.counts.max_depth == length - 1
    assert search.counts.memory < 100 * length


# ---- counts ----


def test_counts_tell_what_happened():
    counts = prove(Graph([[1, 2], [0, 3], [], []], [LOST, LOST, WON, LOST])).counts
    # 1 is won by going to 3; so 0, whose other move gives the game away, is lost.
    assert counts.evaluated == 2
    assert counts.unique == 2
    assert counts.terminals == (0, 2, 0)
    assert counts.max_depth == 1


# ---- stopping, going on, learning ----


@pytest.mark.parametrize("seed", range(10))
def test_stopped_after_every_step_it_proves_the_same(seed):
    graph = random_graph(seed, 60)
    search, stops = Search(PythonKernel(graph)), 0
    for work in (lambda: search.run(0), search.walk):
        while True:
            search.stop()
            try:
                work()
                break
            except EngineStopped:
                stops += 1
                assert_right(search, graph)
    assert stops > 10
    whole = prove(graph)
    whole.walk()
    assert stored(search) == stored(whole)


@settings(max_examples=100, deadline=None)
@given(graphs(), st.data())
def test_with_part_of_the_outcomes_known_the_rest_is_right(graph, data):
    first = prove(graph)
    positions, outcomes = first.entries()
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(positions), max_size=len(positions))), dtype=bool)
    search = Search(PythonKernel(graph))
    search.learn(positions[kept], outcomes[kept])
    search.run(0)
    assert search.outcome(0) == first.outcome(0)
    search.walk()
    assert_right(search, graph)


def test_an_entry_takes_at_most_twelve_bytes_at_any_size():
    search = Search(PythonKernel(Graph([[]], [LOST])))
    rng = np.random.default_rng(1)
    keys = np.unique(rng.integers(0, 2**64 - 1, 1_000_000, dtype=np.uint64))
    rng.shuffle(keys)
    outcomes = (keys % 3 + 1).astype(np.uint8)
    per_entry = []
    for part, worth in zip(np.array_split(keys, 100), np.array_split(outcomes, 100), strict=True):
        search.learn(part, worth)
        per_entry.append(search.counts.memory / search.counts.unique)
    assert max(per_entry[20:]) <= 12
    found, known = search.entries()
    order = np.argsort(keys)
    assert np.array_equal(found, keys[order])
    assert np.array_equal(known, outcomes[order])


def test_learning_twice_changes_nothing():
    search = Search(PythonKernel(Graph([[]], [LOST])))
    keys = np.arange(5000, dtype=np.uint64)
    for _ in range(2):
        search.learn(keys, np.full(5000, DRAWN, dtype=np.uint8))
        assert search.counts.unique == 5000
