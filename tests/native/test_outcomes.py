"""Tables of outcomes, two bits a slot: the engine and the proof against brute force on random graphs.

Graphs are those of the other tests: cycles, ties, stuck players, ends that the mover has won, players who move again,
one player only, slots that two positions share, scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest

from perfectplay.errors import PerfectPlayError, TableError, UsageError
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import VerifyReport, verify_table
from perfectplay.table.opening import open_table
from perfectplay.table.table import Table
from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.engine import Engine
from perfectplay_native.outcomes import count_outcomes, unpack_outcomes

from .compiled_graphs import RANKED_VARIANTS, CompiledGraph, compiled_game
from .graphs import (
    TURNS,
    Graph,
    GraphPlugin,
    TieredGraphPlugin,
    any_game,
    brute_force,
    plain_graph,
    python_plugin,
    union,
)
from .test_engine import codes_of
from .test_turns_and_scores import VARIANTS, cases, check_every_way

KINDS = [(turns, scored) for turns in TURNS for scored in (False, True)]
kinds = pytest.mark.parametrize(("turns", "scored"), KINDS, ids=[f"{t}{', scored' * s}" for t, s in KINDS])

UNKNOWN = 0x3FFF << 2
DRAW, LOSS, EMPTY, WIN = range(4)
"""The two bits."""


def right_codes(graph: Graph, *, everywhere: bool) -> dict[int, int]:
    """The code of each node: the outcome, a tie being a draw, and no remoteness."""
    codes = brute_force(graph)
    nodes = range(len(codes)) if everywhere else sorted(graph.reachable)
    return {node: UNKNOWN | (codes[node] & 3 or 2) for node in nodes}


@pytest.mark.parametrize(("turns", "scored", "variant"), cases(KINDS))
def test_outcomes_agree_with_brute_force(turns: str, scored: bool, variant: str, graph_module: ModuleType):
    ranked = variant in RANKED_VARIANTS
    rng = Random(f"outcomes {turns} {scored} {variant}")
    for _ in range(2):
        graph = any_game(rng, turns=turns, scored=scored, sisters=ranked)
        game = compiled_game(graph_module, graph, VARIANTS[variant])
        check_every_way(game, graph, right_codes(graph, everywhere=ranked), values="outcome")


@pytest.mark.parametrize(("turns", "scored"), [kind for kind in KINDS if kind[0] != "twins"])
def test_hundreds_of_games_at_once(turns: str, scored: bool, graph_module: ModuleType):
    rng = Random(f"many outcomes {turns} {scored}")
    graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(150))
    everywhere, reached = right_codes(graph, everywhere=True), right_codes(graph, everywhere=False)
    for name, functions in VARIANTS.items():
        game = compiled_game(graph_module, graph, functions)
        check_every_way(game, graph, everywhere if name in RANKED_VARIANTS else reached, values="outcome")


@kinds
def test_a_python_game_has_outcomes_too(turns: str, scored: bool):
    rng = Random(f"python outcomes {turns} {scored}")
    for _ in range(4):
        graph = any_game(rng, turns=turns, scored=scored)
        for base in (GraphPlugin, TieredGraphPlugin):
            game = make_game(python_plugin(graph, base), name="graph")
            check_every_way(game, graph, right_codes(graph, everywhere=False), values="outcome")


@pytest.mark.parametrize("variant", ["parents", "survey"])
@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_both_backends_keep_two_bits(backend: str, variant: str, graph_module: ModuleType, tmp_path: Path):
    rng = Random(variant)
    graph = union(any_game(rng, turns="kept", scored=True) for _ in range(40))
    game = compiled_game(graph_module, graph, VARIANTS[variant])
    right = right_codes(graph, everywhere=variant == "survey")
    solution = solve_game(game, backend=backend, directory=tmp_path, values="outcome")
    solution.table.close()
    with open_table(game, tmp_path / game.identity) as table:
        assert table.outcomes_only
        assert not table.scored
        assert {record.width for record in table.records.values()} == {0}
        assert [len(block) for record in table.records.values() for block in table.store.value_blocks(record)] == [
            -(-record.size // 4) for record in table.records.values() if record.size
        ]
        assert codes_of(table, graph) == right
        for node, code in right.items():
            assert table.probe(node << 1) == Value.from_code(code)
            assert table.probe(node << 1).code == code
        assert verify_table(table).bad == 0
        assert table.statistics.positions == len(right)
        assert (
            table.info.hash == solve_game(game, save=False, values="outcome").hash != solve_game(game, save=False).hash
        )


def test_values_without_distance():
    value = Value(Outcome.LOSS, None, outcome_only=True)
    assert (str(value), value.endless, value.for_parent()) == (
        "loss",
        False,
        Value(Outcome.WIN, None, outcome_only=True),
    )
    assert Value.from_code(value.code) == value
    assert Value(Outcome.DRAW, None, outcome_only=True) != Value(Outcome.DRAW, None)
    assert Value(Outcome.DRAW, None).endless
    for wrong in ({"remoteness": 3}, {"remoteness": None, "score": 2}):
        with pytest.raises(ValueError, match="neither remoteness nor score"):
            Value(Outcome.WIN, outcome_only=True, **wrong)
    with pytest.raises(ValueError, match="not the code of a position"):
        Value.from_code(UNKNOWN)


@pytest.mark.parametrize("slots", [0, 1, 2, 3, 4, 5, 1023, (1 << 20) + 7])
def test_packed_outcomes_are_counted_and_unpacked(slots: int):
    bits = np.random.default_rng(slots).integers(0, 4, slots, dtype=np.uint8)
    padded = np.zeros(-(-slots // 4) * 4, dtype=np.uint8)
    padded[:slots] = bits
    packed = (padded.reshape(-1, 4) << np.array([0, 2, 4, 6], dtype=np.uint8)).sum(axis=1, dtype=np.uint8)
    codes = np.array([UNKNOWN | 2, UNKNOWN | 1, NO_POSITION_CODE, UNKNOWN | 3])[bits]
    assert unpack_outcomes(packed, slots).tolist() == codes.tolist()
    assert count_outcomes(packed, slots) == {code: (codes == code).sum() for code in sorted({*codes.tolist()})}


# ---- the proof ----


def other_bits(bits: int) -> list[int]:
    return [other for other in range(4) if other != bits]


def set_outcome(packed: np.ndarray, index: int, bits: int) -> None:
    place = index % 4 * 2
    packed[index // 4] = int(packed[index // 4]) & (0xFF ^ 3 << place) | bits << place


def outcome_at(packed: np.ndarray, index: int) -> int:
    return int(packed[index // 4]) >> index % 4 * 2 & 3


def verified_with(table: Table, tier: int, packed: np.ndarray) -> VerifyReport:
    """What the proof says of a table in which a tier's values have been changed, and its record with them."""
    record = table.records[tier]
    table.records[tier] = replace(record, counts=count_outcomes(packed, record.size))
    try:
        return verify_table(table)
    finally:
        table.records[tier] = record


def writable_values(table: Table, tier: int) -> np.ndarray:
    values = table.engine.values(tier, table.records[tier].size)
    values.flags.writeable = True
    return values


@kinds
@pytest.mark.parametrize("variant", ["rank alone", "survey", "rules alone"])
def test_verify_finds_every_single_changed_outcome(turns: str, scored: bool, variant: str, graph_module: ModuleType):
    if turns == "twins" and variant == "rules alone":
        return  # only a perfect index lets positions share a slot
    rng = Random(f"changed outcomes {turns} {scored} {variant}")
    tried = 0
    for _ in range(8):
        graph = any_game(rng, turns=turns, scored=scored, sisters=variant in RANKED_VARIANTS)
        game = compiled_game(graph_module, graph, VARIANTS[variant])
        with solve_game(game, save=False, values="outcome").table as table:
            for tier, record in table.records.items():
                values = writable_values(table, tier)
                for index in range(record.size):
                    bits = outcome_at(values, index)
                    for other in other_bits(bits):
                        set_outcome(values, index, other)
                        report = verified_with(table, tier, values)
                        assert (tier, index) in [(bad.tier, bad.index) for bad in report.examples], (graph, tier, index)
                        tried += 1
                    set_outcome(values, index, bits)
            assert verify_table(table).bad == 0
    assert tried > 30


def all_assignments(slots: list[int]) -> Iterator[np.ndarray]:
    """Every way to fill the slots of a tier that hold positions."""
    for choice in product((DRAW, LOSS, WIN), repeat=sum(bits != EMPTY for bits in slots)):
        chosen = iter(choice)
        packed = np.zeros(-(-len(slots) // 4), dtype=np.uint8)
        for index, bits in enumerate(slots):
            set_outcome(packed, index, EMPTY if bits == EMPTY else next(chosen))
        yield packed


@pytest.mark.parametrize("turns", TURNS)
def test_one_table_only_is_proven_of_all_that_there_could_be(turns: str, graph_module: ModuleType):
    """Also of those that agree with their own children all around a cycle."""
    rng, tried, deceptive = Random(f"all {turns}"), 0, 0
    while tried < 12:
        graph = any_game(rng, turns=turns, scored=False)
        graph = replace(graph, tiers=(0,) * len(graph.tiers))
        nodes = len(graph.moves) // 2 if turns == "twins" else len(graph.moves)
        if not 3 <= nodes <= 6:
            continue
        tried += 1
        game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
        with solve_game(game, save=False, values="outcome").table as table:
            right = table.engine.values(0, table.records[0].size).copy()
            slots = [outcome_at(right, index) for index in range(table.records[0].size)]
            engine = Engine(table.kernel, tiers=1)
            engine.define(0, len(slots))
            engine.claim([0], cyclic=True)
            for packed in all_assignments(slots):
                engine.attach(0, 0, [packed.data])
                proven = engine.verify(0)[0] == 0
                assert proven == (packed.tolist() == right.tolist()), (graph, packed)
                deceptive += not proven and agrees_with_children(graph, table, packed)
            engine.close()
    assert deceptive > 0 or turns == "alternate"


def agrees_with_children(graph: Graph, table: Table, packed: np.ndarray) -> bool:
    """Whether every outcome is the best that its children offer, which is not enough."""

    def outcome(node: int) -> int:
        return {DRAW: 0, LOSS: -1, WIN: 1}[outcome_at(packed, table.slot(node << 1)[1])]

    for node, children in enumerate(graph.children):
        worth = [outcome(child) * (1 if graph.keeps_turn(node, child) else -1) for child in children]
        ended = {1: -1, 2: 0, 3: 1}.get(graph.status[node])
        if outcome(node) != (max(worth) if ended is None else ended):
            return False
    return True


RINGS = {
    "a player who moves again": (replace(plain_graph([[1], [0]], {}), players=1), [WIN, WIN]),
    "losing for ever": (replace(plain_graph([[1], [0]], {}), players=1), [LOSS, LOSS]),
    "two players in turn": (plain_graph([[1], [2], [3], [0]], {}), [WIN, LOSS, WIN, LOSS]),
}


@pytest.mark.parametrize("ring", RINGS)
def test_wins_that_rest_on_each_other_are_found(ring: str, graph_module: ModuleType):
    graph, bits = RINGS[ring]
    game = compiled_game(graph_module, graph, VARIANTS["rules alone"])
    with solve_game(game, save=False, values="outcome").table as table:
        values = writable_values(table, 0)
        for index, each in enumerate(bits):
            set_outcome(values, index, each)
        assert agrees_with_children(graph, table, values)
        assert verified_with(table, 0, values).bad == len(bits)


def test_wrong_values_further_on_are_no_fault_of_the_rules(graph_module: ModuleType):
    """A position that is said to be none makes it impossible to find the order of what leads there."""
    graph = plain_graph([[0, 1], [2], []], {2: 1}, [0, 1, 2])
    game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
    with solve_game(game, save=False, values="outcome").table as table:
        tier, index = table.slot(1 << 1)
        values = writable_values(table, tier)
        set_outcome(values, index, EMPTY)
        report = verified_with(table, tier, values)
        assert (report.bad, report.examples[0].stored, report.examples[0].expected) == (1, "no position", "win")


def test_moves_that_tier_children_denies_are_not_trusted(graph_module: ModuleType):
    """Two tiers that lead to each other, one of which says that it leads nowhere."""
    graph, bits = RINGS["a player who moves again"]
    plugin = CompiledGraph(graph_module, replace(graph, tiers=(0, 1)), VARIANTS["rank alone"])
    with solve_game(make_game(plugin, name="graph"), save=False, values="outcome").table as table:
        for tier in (0, 1):
            values = writable_values(table, tier)
            _, index = table.slot(tier << 1)
            set_outcome(values, index, bits[tier])
            table.records[tier] = replace(table.records[tier], counts=count_outcomes(values, table.records[tier].size))
        plugin.context.first_tier_child[2] = 1  # tier 1 leads nowhere, it says
        assert verify_table(table).bad > 0


# ---- misuse ----


def test_tables_of_the_two_kinds_are_never_mixed_up(graph_module: ModuleType, tmp_path: Path):
    graph = plain_graph([[1], [2], []], {2: 1}, [0, 1, 2])
    game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
    for backend in ("memory", "lmdb"):
        place = tmp_path / backend
        for there, wanted in (("outcome", "full"), ("full", "outcome")):
            solve_game(game, backend=backend, directory=place, values=there).table.close()
            for other in ("memory", "lmdb"):
                with pytest.raises(
                    TableError, match=r"holds a table of graph with (outcomes alone|full values): use it"
                ):
                    solve_game(game, backend=other, directory=place, values=wanted)
            with open_table(game, place / game.identity) as table:
                assert table.info.values == there
            (place / game.identity / "data.mdb").unlink()
    solve_game(game, directory=tmp_path).table.close()
    solve_game(game, directory=tmp_path, values="outcome", replace_other=True).table.close()
    with open_table(game, tmp_path / game.identity) as table:
        assert table.outcomes_only


def test_values_that_do_not_exist_are_refused(graph_module: ModuleType):
    game = compiled_game(graph_module, plain_graph([[]], {0: 1}), VARIANTS["rank alone"])
    with pytest.raises(UsageError, match="choose one of full, outcome"):
        solve_game(game, save=False, values="depth")


def test_a_score_that_contradicts_the_status_is_refused_of_outcomes_too(graph_module: ModuleType):
    graph = Graph((((1, 0),), ()), (0, 1), (0, 1), scores=(0, 2))
    game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
    with pytest.raises(PerfectPlayError, match="the score of position 3 contradicts its status"):
        solve_game(game, save=False, values="outcome")


def test_a_move_to_an_empty_slot_is_refused(graph_module: ModuleType):
    """As where distances are kept: `rank` must not lead to what `unrank` says is no position."""
    for moves in ([[1], [0, 2], []], [[1], [2], []]):
        plugin = CompiledGraph(graph_module, plain_graph(moves, {2: 1}), VARIANTS["rank alone"])
        plugin.context.slot_nodes[plugin.context.index[2]] = 2**32 - 1
        with pytest.raises(PerfectPlayError, match="in no tier"):
            solve_game(make_game(plugin, name="graph"), save=False, values="outcome")
