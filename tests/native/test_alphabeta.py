"""The weak solver in C: on graphs full of cycles everything it stores is right, however it comes and goes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay.values import Status
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError, EngineStopped
from perfectplay_native.search import Search

from .compiled_graphs import CompiledGraph
from .graphs import Graph, brute_force, graphs, plain_graph

LOST, DRAWN, WON = Status.LOST, Status.DRAWN, Status.WON


class Prover:
    """A search on a graph, which speaks of nodes: a node's canonical position is twice its number."""

    def __init__(self, module: ModuleType, graph: Graph, functions: tuple[str, ...]) -> None:
        self.graph = graph
        self.plugin = CompiledGraph(module, graph, functions)  # owns the kernel's memory
        self.search = Search(self.plugin.kernel())

    def run(self, node: int | None = None, *, naive: bool = False) -> Prover:
        self.search.run((self.graph.start if node is None else node) << 1, naive=naive)
        return self

    def outcome(self, node: int) -> int | None:
        return self.search.outcome(node << 1)

    def stored(self) -> dict[int, int]:
        positions, outcomes = self.search.entries()
        assert np.all(positions[1:] > positions[:-1])
        assert not np.any(positions & 1)
        return dict(zip((positions >> 1).tolist(), outcomes.tolist(), strict=True))

    def assert_right(self) -> None:
        truth = truth_of(self.graph)
        assert {node: outcome for node, outcome in self.stored().items() if outcome != truth[node]} == {}


@pytest.fixture(
    scope="session",
    params=[(), ("wins_now",), ("children", "wins_now")],
    ids=["rules alone", "wins_now", "wins_now and children"],
)
def prover(request: pytest.FixtureRequest, graph_module: ModuleType) -> Callable[[Graph], Prover]:
    """prover(graph): a search with a kernel that has these functions beside the rules."""
    return lambda graph: Prover(graph_module, graph, request.param)


@pytest.fixture(scope="session")
def plain_prover(graph_module: ModuleType) -> Callable[[Graph], Prover]:
    """The same with the rules alone."""
    return lambda graph: Prover(graph_module, graph, ())


def truth_of(graph: Graph) -> list[int]:
    """The outcome of every node, by definition."""
    return [code & 3 or DRAWN for code in brute_force(graph)]


def large_graph(seed: int, size: int = 150) -> Graph:
    """Cycles within cycles, and few ends."""
    rng = Random(seed)
    ended = rng.choice([0.02, 0.05, 0.1])
    children = [
        [] if rng.random() < ended else [rng.randrange(size) for _ in range(rng.randint(1, 5))] for _ in range(size)
    ]
    return plain_graph(
        children, {node: rng.choice([LOST, LOST, LOST, DRAWN, WON]) for node in range(size) if not children[node]}
    )


# ---- soundness ----

many = settings(max_examples=200, deadline=None)


@many
@given(graph=graphs())
def test_the_root_is_proven_and_everything_stored_is_right(prover, graph):
    proven = prover(graph).run()
    assert proven.outcome(graph.start) == truth_of(graph)[graph.start]
    proven.assert_right()


@many
@given(graph=graphs())
def test_a_walk_proves_exactly_what_can_be_reached(prover, graph):
    proven = prover(graph).run()
    proven.search.prove_reachable()
    assert set(proven.stored()) == graph.reachable
    assert proven.search.counts.unique == len(graph.reachable)
    proven.assert_right()


@pytest.mark.parametrize("seed", range(60))
def test_large_graphs_with_cycles_within_cycles(prover, seed):
    graph = large_graph(seed)
    proven = prover(graph).run()
    proven.assert_right()
    proven.search.prove_reachable()
    assert set(proven.stored()) == graph.reachable
    proven.assert_right()


def test_the_large_graphs_make_draws_provisional_confirmed_and_forgotten(prover):
    """Else the tests above would show nothing."""
    counts = [prover(large_graph(seed)).run().search.counts for seed in range(60)]
    for what in ("cycles", "confirmed", "forgotten"):
        assert sum(getattr(c, what) for c in counts) > 100, what
    assert all(c.provisional == c.depth == 0 for c in counts)


def named(moves: str) -> tuple[Graph, dict[str, int]]:
    """A graph from `root: after after; other: after …`; a position that is only moved to has lost."""
    after = {name.strip(): rest.split() for name, rest in (part.split(":") for part in moves.split(";"))}
    names = list(dict.fromkeys([*after, *(name for each in after.values() for name in each)]))
    number = {name: i for i, name in enumerate(names)}
    children = [[number[child] for child in after.get(name, [])] for name in names]
    return plain_graph(children, {number[name]: LOST for name in names if name not in after}), number


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
def test_a_draw_that_rests_on_a_position_that_turns_out_won_is_not_stored(plain_prover, moves):
    graph, number = named(moves)
    loop = number["loop"]
    assert truth_of(graph)[loop] == LOST
    assert plain_prover(graph).run(naive=True).outcome(loop) == DRAWN  # so it is met while `root` is on the path
    sound = plain_prover(graph).run()
    sound.assert_right()
    assert sound.outcome(number["root"]) == WON
    assert sound.run(loop).outcome(loop) == LOST


def test_storing_draws_at_once_as_the_seeds_did_is_wrong(plain_prover):
    wrong = 0
    for seed in range(60):
        graph = large_graph(seed)
        truth, naive = truth_of(graph), plain_prover(graph).run(naive=True).stored()
        wrong += sum(outcome == DRAWN != truth[node] for node, outcome in naive.items())
    assert wrong > 20


# ---- shapes ----


@pytest.mark.parametrize(
    ("children", "ended", "outcome"),
    [
        ([[]], {0: LOST}, LOST),
        ([[]], {0: DRAWN}, DRAWN),
        ([[]], {0: WON}, WON),
        ([[0]], {}, DRAWN),  # a move that changes nothing, for ever
        ([[0, 1], []], {1: LOST}, WON),
        ([[0, 1], []], {1: WON}, DRAWN),
        ([[1, 1, 1], []], {1: WON}, LOST),
        ([[1], [0]], {}, DRAWN),
    ],
)
def test_small_games(prover, children, ended, outcome):
    assert prover(plain_graph(children, ended)).run().outcome(0) == outcome


def test_a_position_that_is_neither_over_nor_has_a_move_is_refused(prover):
    with pytest.raises(EngineError, match="position 2 is ONGOING but has no move"):
        prover(plain_graph([[1], []], {})).run()


def test_a_path_of_a_hundred_thousand_positions_needs_no_recursion(plain_prover):
    length = 100_000
    chain = plain_prover(plain_graph([[node + 1] for node in range(length)] + [[]], {length: LOST})).run()
    assert chain.outcome(0) == LOST  # an even number of moves before the mover has lost
    assert chain.search.counts.max_depth == length - 1
    assert chain.search.counts.memory < 100 * length


# ---- counts ----


def test_counts_tell_what_happened(plain_prover):
    # 1 is won by going to 3; so 0, whose other move gives the game away, is lost.
    counts = plain_prover(plain_graph([[1, 2], [0, 3], [], []], {2: WON, 3: LOST})).run().search.counts
    assert counts.evaluated == 2
    assert counts.unique == 2
    assert counts.terminals == (0, 2, 0)
    assert counts.max_depth == 1


# ---- stopping, going on, learning ----


@pytest.mark.parametrize("seed", range(10))
def test_stopped_after_every_step_it_proves_the_same(prover, seed):
    graph = large_graph(seed, 60)
    proven, stops = prover(graph), 0
    for work in (proven.run, proven.search.prove_reachable):
        while True:
            proven.search.stop()
            try:
                work()
                break
            except EngineStopped:
                stops += 1
                proven.assert_right()
    assert stops > 5
    whole = prover(graph).run()
    whole.search.prove_reachable()
    assert proven.stored() == whole.stored()


@many
@given(graph=graphs(), data=st.data())
def test_with_part_of_the_outcomes_known_the_rest_is_right(plain_prover, graph, data):
    first = plain_prover(graph).run()
    positions, outcomes = first.search.entries()
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(positions), max_size=len(positions))), dtype=bool)
    proven = plain_prover(graph)
    proven.search.learn(positions[kept], outcomes[kept])
    assert proven.run().outcome(graph.start) == first.outcome(graph.start)
    proven.search.prove_reachable()
    proven.assert_right()


def test_an_entry_takes_at_most_twelve_bytes_at_any_size(plain_prover):
    search = plain_prover(plain_graph([[0]], {})).search
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


def test_learning_twice_changes_nothing(plain_prover):
    search = plain_prover(plain_graph([[0]], {})).search
    keys = np.arange(5000, dtype=np.uint64)
    for _ in range(2):
        search.learn(keys, np.full(5000, DRAWN, dtype=np.uint8))
        assert search.counts.unique == 5000


# ---- tables underneath ----


def with_table(proven: Prover, nodes: set[int]) -> Prover:
    """The same search over a table that knows these nodes."""
    codes = brute_force(proven.graph)
    tiers = proven.graph.tiers
    engine = Engine(proven.search.kernel, tiers=max(tiers) + 1)
    for tier in {tiers[node] for node in nodes}:
        members = sorted(node for node in nodes if tiers[node] == tier)
        keys = np.array(members, dtype=np.uint64) << np.uint64(1)
        engine.define(tier, len(keys), [memoryview(keys)])
        engine.attach(tier, 2, [memoryview(np.array([codes[node] & 0xFFFF for node in members], dtype=np.uint16))])
    proven.search.use(engine)
    return proven


@many
@given(graph=graphs(), data=st.data())
def test_what_a_table_knows_is_not_searched_and_the_proof_is_the_same(prover, graph, data):
    known = data.draw(st.sets(st.sampled_from(range(len(graph.moves)))))
    proven = with_table(prover(graph), known).run()
    assert proven.outcome(graph.start) == truth_of(graph)[graph.start]
    proven.assert_right()
    assert not known & (set(proven.stored()) - {graph.start})


@pytest.mark.parametrize("seed", range(30))
def test_the_more_a_table_knows_the_less_is_searched(plain_prover, seed):
    graph = large_graph(seed)
    half = set(Random(seed).sample(range(len(graph.moves)), len(graph.moves) // 2)) - {graph.start}
    alone = plain_prover(graph).run()
    over_half = with_table(plain_prover(graph), half).run()
    over_all = with_table(plain_prover(graph), set(range(len(graph.moves)))).run()
    assert over_all.search.counts.evaluated == 0
    assert over_half.search.counts.evaluated <= alone.search.counts.evaluated
    over_half.assert_right()
    over_half.search.prove_reachable()
    over_half.assert_right()
    assert set(over_half.stored()) == graph.reachable


def test_a_table_underneath_is_asked_once_about_a_position_it_does_not_know(plain_prover):
    """The cache is right however often its places are taken again: the graph is asked in all orders."""
    graph = large_graph(3, size=400)
    proven = with_table(plain_prover(graph), set(range(0, 400, 3)))
    for node in Random(0).sample(range(400), 400):
        proven.run(node)
    proven.assert_right()
    assert proven.search.counts.below > 0
