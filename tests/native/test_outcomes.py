"""Tables of outcomes, two bits per slot: their values, and their verification against brute force on random graphs.

test_turns_and_scores.py compares the engine's outcomes with brute force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random
from types import ModuleType

import numpy as np
import pytest

from perfectplay.errors import PerfectPlayError
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import VerifyReport, verify_table
from perfectplay.table.table import Table
from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.engine import Engine
from perfectplay_native.values import count_outcomes, unpack_outcomes

from .compiled_graphs import RANKED_VARIANTS, CompiledGraph, compiled_game
from .graphs import TURNS, Graph, any_game, plain_graph
from .test_turns_and_scores import ALL_KINDS, UNKNOWN, VARIANTS

DRAW, LOSS, EMPTY, WIN = range(4)
"""The values of the two bits."""


def test_values_without_remoteness():
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


# ---- verification ----


def other_bits(bits: int) -> list[int]:
    return [other for other in range(4) if other != bits]


def set_outcome(packed: np.ndarray, index: int, bits: int) -> None:
    shift = index % 4 * 2
    packed[index // 4] = int(packed[index // 4]) & (0xFF ^ 3 << shift) | bits << shift


def outcome_at(packed: np.ndarray, index: int) -> int:
    return int(packed[index // 4]) >> index % 4 * 2 & 3


def verified_with(table: Table, tier: int, packed: np.ndarray) -> VerifyReport:
    """Verify a table in which the values of a tier, and its record, have been changed."""
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


@pytest.mark.parametrize(("turns", "scored"), ALL_KINDS)
@pytest.mark.parametrize("variant", ["rank alone", "survey", "rules alone"])
def test_verify_finds_every_single_changed_outcome(turns: str, scored: bool, variant: str, graph_module: ModuleType):
    if turns == "twins" and variant == "rules alone":
        return  # only with a perfect index can two positions have one slot
    rng = Random(f"changed outcomes {turns} {scored} {variant}")
    tried = 0
    for _ in range(8):
        graph = any_game(rng, turns=turns, scored=scored, mutual=variant in RANKED_VARIANTS)
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
    """All possible outcomes of the non-empty slots of a tier."""
    for choice in product((DRAW, LOSS, WIN), repeat=sum(bits != EMPTY for bits in slots)):
        chosen = iter(choice)
        packed = np.zeros(-(-len(slots) // 4), dtype=np.uint8)
        for index, bits in enumerate(slots):
            set_outcome(packed, index, EMPTY if bits == EMPTY else next(chosen))
        yield packed


@pytest.mark.parametrize("turns", TURNS)
def test_verify_accepts_only_one_of_all_possible_tables(turns: str, graph_module: ModuleType):
    """It also rejects tables in which all outcomes on a cycle agree with their children."""
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
            engine.find_decision_order([0], cyclic=True)
            for packed in all_assignments(slots):
                engine.attach(0, 0, [packed.data])
                accepted = engine.verify(0)[0] == 0
                assert accepted == (packed.tolist() == right.tolist()), (graph, packed)
                deceptive += not accepted and agrees_with_children(graph, table, packed)
            engine.close()
    assert deceptive > 0 or turns == "alternate"


def agrees_with_children(graph: Graph, table: Table, packed: np.ndarray) -> bool:
    """Whether every outcome agrees with its children, which is necessary but not sufficient."""

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
    "a player who always loses": (replace(plain_graph([[1], [0]], {}), players=1), [LOSS, LOSS]),
    "two players who alternate": (plain_graph([[1], [2], [3], [0]], {}), [WIN, LOSS, WIN, LOSS]),
}


@pytest.mark.parametrize("ring", RINGS)
def test_verify_finds_wins_that_depend_on_each_other(ring: str, graph_module: ModuleType):
    graph, bits = RINGS[ring]
    game = compiled_game(graph_module, graph, VARIANTS["rules alone"])
    with solve_game(game, save=False, values="outcome").table as table:
        values = writable_values(table, 0)
        for index, each in enumerate(bits):
            set_outcome(values, index, each)
        assert agrees_with_children(graph, table, values)
        assert verified_with(table, 0, values).bad == len(bits)


def test_a_wrong_value_in_a_later_tier_is_not_a_rules_error(graph_module: ModuleType):
    """If a position is stored as an empty slot, no decision order exists for the tier before it."""
    graph = plain_graph([[0, 1], [2], []], {2: 1}, [0, 1, 2])
    game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
    with solve_game(game, save=False, values="outcome").table as table:
        tier, index = table.slot(1 << 1)
        values = writable_values(table, tier)
        set_outcome(values, index, EMPTY)
        report = verified_with(table, tier, values)
        assert (report.bad, report.examples[0].stored, report.examples[0].expected) == (1, "no position", "win")


def test_verify_does_not_trust_tier_children(graph_module: ModuleType):
    """Two tiers lead to each other, but tier_children of one of them is empty."""
    graph, bits = RINGS["a player who moves again"]
    plugin = CompiledGraph(graph_module, replace(graph, tiers=(0, 1)), VARIANTS["rank alone"])
    with solve_game(make_game(plugin, name="graph"), save=False, values="outcome").table as table:
        for tier in (0, 1):
            values = writable_values(table, tier)
            _, index = table.slot(tier << 1)
            set_outcome(values, index, bits[tier])
            table.records[tier] = replace(table.records[tier], counts=count_outcomes(values, table.records[tier].size))
        plugin.context.first_tier_child[2] = 1  # claims that tier 1 leads nowhere
        assert verify_table(table).bad > 0


# ---- misuse ----


def test_a_move_to_an_empty_slot_is_an_error(graph_module: ModuleType):
    """`rank` must not return a slot for which `unrank` returns no position."""
    for moves in ([[1], [0, 2], []], [[1], [2], []]):
        plugin = CompiledGraph(graph_module, plain_graph(moves, {2: 1}), VARIANTS["rank alone"])
        plugin.context.slot_nodes[plugin.context.index[2]] = 2**32 - 1
        with pytest.raises(PerfectPlayError, match="in no tier"):
            solve_game(make_game(plugin, name="graph"), save=False, values="outcome")
