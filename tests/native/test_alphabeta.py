"""The weak solver in C: on graphs with many cycles every stored outcome is right, also after stops and restarts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay.game.loading import load_game
from perfectplay.values import Status
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError, EngineStopped
from perfectplay_native.search import Search

from .compiled_graphs import CompiledGraph
from .graphs import Graph, brute_force, graphs, plain_graph

LOST, DRAWN, WON = Status.LOST, Status.DRAWN, Status.WON
NAIVE_IS_WRONG_FROM = 9967872
"""A Gobblet position from which a search that ignores dependencies stores wrong draws."""


class Prover:
    """A search on a graph, in terms of nodes. The canonical position of a node is twice its number."""

    def __init__(self, module: ModuleType, graph: Graph, functions: tuple[str, ...]) -> None:
        self.graph = graph
        self.plugin = CompiledGraph(module, graph, functions)  # owns the kernel's memory
        self.search = Search(self.plugin.kernel())

    def run(self, node: int | None = None) -> Prover:
        self.search.run((self.graph.start if node is None else node) << 1)
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
    """prover(graph): a search with a kernel that has these functions in addition to the rules."""
    return lambda graph: Prover(graph_module, graph, request.param)


@pytest.fixture(scope="session")
def plain_prover(graph_module: ModuleType) -> Callable[[Graph], Prover]:
    """prover(graph): a search with a kernel that has only the rules."""
    return lambda graph: Prover(graph_module, graph, ())


def truth_of(graph: Graph) -> list[int]:
    """The outcome of every node by brute force."""
    return [code & 3 or DRAWN for code in brute_force(graph)]


def large_graph(seed: int, size: int = 150) -> Graph:
    """A random graph with nested cycles and few terminal nodes."""
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
def test_the_root_is_proven_and_all_stored_outcomes_are_right(prover, graph):
    proven = prover(graph).run()
    assert proven.outcome(graph.start) == truth_of(graph)[graph.start]
    proven.assert_right()


@many
@given(graph=graphs())
def test_prove_reachable_proves_exactly_the_reachable_nodes(prover, graph):
    proven = prover(graph).run()
    proven.search.prove_reachable()
    assert set(proven.stored()) == graph.reachable
    assert proven.search.counts.unique == len(graph.reachable)
    proven.assert_right()


@pytest.mark.parametrize("seed", range(60))
def test_large_graphs_with_nested_cycles(prover, seed):
    graph = large_graph(seed)
    proven = prover(graph).run()
    proven.assert_right()
    proven.search.prove_reachable()
    assert set(proven.stored()) == graph.reachable
    proven.assert_right()


def test_the_large_graphs_confirm_and_discard_provisional_draws(prover):
    """Otherwise the tests above would be pointless."""
    counts = [prover(large_graph(seed)).run().search.counts for seed in range(60)]
    for what in ("cycles", "confirmed", "forgotten"):
        assert sum(getattr(c, what) for c in counts) > 100, what
    assert all(c.provisional == c.depth == 0 for c in counts)


@pytest.mark.parametrize("holder", [0, 1])
@pytest.mark.parametrize("seed", range(60))
def test_null_window_proves_whether_a_player_avoids_a_loss(graph_module, seed, holder):
    """Wins and losses are exact, and a draw means that the holder does not lose. Some moves keep the turn."""
    rng, graph = Random(seed), large_graph(seed)
    graph = replace(graph, movers=tuple(rng.randrange(2) for _ in graph.moves))
    truth, proven = truth_of(graph), Prover(graph_module, graph, ())
    proven.search.set_holder(holder)
    proven.run()
    for node, outcome in proven.stored().items():
        worst = LOST if graph.movers[node] == holder else WON
        assert truth[node] != worst if outcome == DRAWN else truth[node] == outcome
    if truth[graph.start] == (LOST if graph.movers[graph.start] == holder else WON):
        assert proven.outcome(graph.start) == truth[graph.start]


def test_null_window_needs_a_mover(plain_prover):
    with pytest.raises(ValueError, match="who is to move"):
        plain_prover(large_graph(0)).search.set_holder(0)


def named(moves: str) -> tuple[Graph, dict[str, int]]:
    """A graph from `root: child child; other: child …`. A node without a list of children is lost."""
    after = {name.strip(): rest.split() for name, rest in (part.split(":") for part in moves.split(";"))}
    names = list(dict.fromkeys([*after, *(name for each in after.values() for name in each)]))
    number = {name: i for i, name in enumerate(names)}
    children = [[number[child] for child in after.get(name, [])] for name in names]
    return plain_graph(children, {number[name]: LOST for name in names if name not in after}), number


# `lost` has one distinct move, listed twice or three times, because the search visits nodes with fewer moves first.
TO_LOST = "lost: won won; won: end; worse: won won won"


@pytest.mark.parametrize(
    "moves",
    [
        # `loop` leads back to `root`, which wins by `lost`. It is a draw while `root` is on the path, but really lost.
        f"root: loop lost; loop: root; {TO_LOST}",
        # `loop` is found below `top`, which is won, and `drawn`, which is certainly drawn. It depends on neither, so
        # it must remain provisional after both, and must not be confirmed with `drawn`.
        f"root: drawn worse; drawn: top back; back: drawn; top: lost loop; loop: root; {TO_LOST}",
        # The same, but `drawn` is provisional until `certain` is finished; `loop` must not be confirmed with it.
        f"root: certain worse; certain: drawn; drawn: top certain; top: lost loop; loop: root; {TO_LOST}",
    ],
)
def test_a_draw_that_depends_on_a_won_position_is_not_stored(plain_prover, naive_search, moves):
    graph, number = named(moves)
    loop = number["loop"]
    assert truth_of(graph)[loop] == LOST
    sound = plain_prover(graph)
    naive = naive_search(sound.search.kernel).run(graph.start << 1)
    assert naive.outcome(loop << 1) == DRAWN  # so `loop` is visited while `root` is on the path
    sound.run()
    sound.assert_right()
    assert sound.outcome(number["root"]) == WON
    assert sound.run(loop).outcome(loop) == LOST


def test_ignoring_dependencies_stores_wrong_draws(plain_prover, naive_search):
    wrong = 0
    for seed in range(60):
        graph = large_graph(seed)
        truth, prover = truth_of(graph), plain_prover(graph)
        stored = naive_search(prover.search.kernel).run(graph.start << 1).entries()
        wrong += sum(outcome == DRAWN != truth[position >> 1] for position, outcome in stored.items())
    assert wrong > 20


def test_ignoring_dependencies_stores_wrong_draws_in_gobblet(naive_search):
    kernel = load_game("gobblet").kernel
    assert kernel is not None
    sound, wrong = Search(kernel), []
    for position, outcome in naive_search(kernel).run(NAIVE_IS_WRONG_FROM).entries().items():
        sound.run(position)
        if outcome != sound.outcome(position):
            wrong.append(outcome)
    assert set(wrong) == {DRAWN}


# ---- shapes ----


@pytest.mark.parametrize(
    ("children", "ended", "outcome"),
    [
        ([[]], {0: LOST}, LOST),
        ([[]], {0: DRAWN}, DRAWN),
        ([[]], {0: WON}, WON),
        ([[0]], {}, DRAWN),  # a move that changes nothing
        ([[0, 1], []], {1: LOST}, WON),
        ([[0, 1], []], {1: WON}, DRAWN),
        ([[1, 1, 1], []], {1: WON}, LOST),
        ([[1], [0]], {}, DRAWN),
    ],
)
def test_small_games(prover, children, ended, outcome):
    assert prover(plain_graph(children, ended)).run().outcome(0) == outcome


def test_an_ongoing_position_without_a_move_is_an_error(prover):
    with pytest.raises(EngineError, match="position 2 is ONGOING but has no move"):
        prover(plain_graph([[1], []], {})).run()


def test_a_path_of_a_hundred_thousand_positions_needs_no_recursion(plain_prover):
    length = 100_000
    chain = plain_prover(plain_graph([[node + 1] for node in range(length)] + [[]], {length: LOST})).run()
    assert chain.outcome(0) == LOST  # after an even number of moves
    assert chain.search.counts.max_depth == length - 1
    assert chain.search.counts.memory < 100 * length


# ---- counts ----


def test_counts(plain_prover):
    # 1 wins by moving to 3. So 0, whose other move loses at once, is lost.
    counts = plain_prover(plain_graph([[1, 2], [0, 3], [], []], {2: WON, 3: LOST})).run().search.counts
    assert counts.evaluated == 2
    assert counts.unique == 2
    assert counts.terminals == (0, 2, 0)
    assert counts.max_depth == 1


# ---- stopping, resuming, adding entries ----


@pytest.mark.parametrize("seed", range(10))
def test_stopping_after_every_step_does_not_change_the_proof(prover, seed):
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
def test_with_some_outcomes_added_the_rest_is_right(plain_prover, graph, data):
    first = plain_prover(graph).run()
    positions, outcomes = first.search.entries()
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(positions), max_size=len(positions))), dtype=bool)
    proven = plain_prover(graph)
    proven.search.add_entries(positions[kept], outcomes[kept])
    assert proven.run().outcome(graph.start) == first.outcome(graph.start)
    proven.search.prove_reachable()
    proven.assert_right()


def test_an_entry_takes_at_most_twelve_bytes(plain_prover):
    search = plain_prover(plain_graph([[0]], {})).search
    rng = np.random.default_rng(1)
    keys = np.unique(rng.integers(0, 2**64 - 1, 1_000_000, dtype=np.uint64))
    rng.shuffle(keys)
    outcomes = (keys % 3 + 1).astype(np.uint8)
    per_entry = []
    for part, part_outcomes in zip(np.array_split(keys, 100), np.array_split(outcomes, 100), strict=True):
        search.add_entries(part, part_outcomes)
        per_entry.append(search.counts.memory / search.counts.unique)
    assert max(per_entry[20:]) <= 12
    positions, stored = search.entries()
    order = np.argsort(keys)
    assert np.array_equal(positions, keys[order])
    assert np.array_equal(stored, outcomes[order])


def test_adding_entries_twice_changes_nothing(plain_prover):
    search = plain_prover(plain_graph([[0]], {})).search
    keys = np.arange(5000, dtype=np.uint64)
    for _ in range(2):
        search.add_entries(keys, np.full(5000, DRAWN, dtype=np.uint8))
        assert search.counts.unique == 5000


# ---- tablebases ----


def with_tablebase(proven: Prover, nodes: set[int]) -> Prover:
    """Give a search a tablebase with the values of these nodes."""
    codes = brute_force(proven.graph)
    tiers = proven.graph.tiers
    engine = Engine(proven.search.kernel, tiers=max(tiers) + 1)
    for tier in {tiers[node] for node in nodes}:
        members = sorted(node for node in nodes if tiers[node] == tier)
        keys = np.array(members, dtype=np.uint64) << np.uint64(1)
        engine.define(tier, len(keys), [memoryview(keys)])
        engine.attach(tier, 2, [memoryview(np.array([codes[node] & 0xFFFF for node in members], dtype=np.uint16))])
    proven.search.use_tablebase(engine)
    return proven


@many
@given(graph=graphs(), data=st.data())
def test_nodes_in_the_tablebase_are_not_searched(prover, graph, data):
    nodes = data.draw(st.sets(st.sampled_from(range(len(graph.moves)))))
    proven = with_tablebase(prover(graph), nodes).run()
    assert proven.outcome(graph.start) == truth_of(graph)[graph.start]
    proven.assert_right()
    assert not nodes & (set(proven.stored()) - {graph.start})


@pytest.mark.parametrize("seed", range(30))
def test_a_larger_tablebase_leaves_less_to_search(plain_prover, seed):
    graph = large_graph(seed)
    half = set(Random(seed).sample(range(len(graph.moves)), len(graph.moves) // 2)) - {graph.start}
    alone = plain_prover(graph).run()
    over_half = with_tablebase(plain_prover(graph), half).run()
    over_all = with_tablebase(plain_prover(graph), set(range(len(graph.moves)))).run()
    assert over_all.search.counts.evaluated == 0
    assert over_half.search.counts.evaluated <= alone.search.counts.evaluated
    over_half.assert_right()
    over_half.search.prove_reachable()
    over_half.assert_right()
    assert set(over_half.stored()) == graph.reachable


def test_the_cache_of_tablebase_probes(plain_prover):
    """Nodes are proven in random order, so that places of the cache are reused."""
    graph = large_graph(3, size=400)
    proven = with_tablebase(plain_prover(graph), set(range(0, 400, 3)))
    for node in Random(0).sample(range(400), 400):
        proven.run(node)
    proven.assert_right()
    assert proven.search.counts.below > 0
