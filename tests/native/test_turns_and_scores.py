"""Kept turns, puzzles, scores and outcomes: the engine, `verify` and the weak solver against brute force.

The graphs are random. They have cycles, ties, stuck players, ends won by the mover, players who move again, one player
only, slots that two positions have, scores, and combinations of these.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest

from perfectplay.errors import PerfectPlayError
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import verify_table
from perfectplay.table.locations import open_table
from perfectplay.values import Value
from perfectplay_native.errors import RulesError
from perfectplay_native.positions import movers_of_many
from perfectplay_native.search import Search

from ..propagation import solve_by
from .compiled_graphs import ENUMERATED_VARIANTS, RANKED_VARIANTS, CompiledGraph, compiled_game
from .graphs import TURNS, Graph, GraphPlugin, TieredGraphPlugin, any_game, brute_force, python_plugin, union
from .test_engine import PROPAGATIONS, codes_of

VARIANTS = ENUMERATED_VARIANTS | RANKED_VARIANTS
ALL_KINDS = [(turns, scored) for turns in TURNS for scored in (False, True)]
KINDS = ALL_KINDS[1:]  # test_engine.py has games in which turns alternate and there are no scores
kinds = pytest.mark.parametrize(("turns", "scored"), KINDS, ids=[f"{t}{', scored' * s}" for t, s in KINDS])
CASES = [*(("full", *kind) for kind in KINDS), *(("outcome", *kind) for kind in ALL_KINDS)]
"""The values of a table, with the kind of game. A table of outcomes has two bits per slot."""

GAMES = {"full": 4, "outcome": 2}
"""Number of games of each kind for each kernel. Each is solved with every propagation, and with one and two threads."""

UNKNOWN = 0x3FFF << 2
"""The remoteness in the code of an outcome."""


def right_codes(graph: Graph, *, everywhere: bool, values: str = "full") -> dict[int, int]:
    """The code of each node. In a table of outcomes it has no remoteness, and a tie is a draw."""
    codes = brute_force(graph)
    if values == "outcome":
        codes = [UNKNOWN | (code & 3 or 2) for code in codes]
    return {node: codes[node] for node in (range(len(codes)) if everywhere else sorted(graph.reachable))}


def propagations_of(game: Game) -> list[str]:
    return [propagation for propagation in PROPAGATIONS if propagation != "retract" or game_kernel(game).can_retract]


def check_every_propagation(game: Game, graph: Graph, right: dict[int, int], *, values: str = "full") -> None:
    hashes = set()
    for propagation in propagations_of(game):
        for threads in (1, 2):
            solution = solve_by(game, propagation, save=False, values=values, threads=threads)
            with solution.table as table:
                assert codes_of(table, graph) == right, (propagation, graph)
                assert verify_table(table, threads=threads).bad == 0
            hashes.add(solution.hash)
    assert len(hashes) == 1


@pytest.mark.parametrize(
    ("values", "turns", "scored", "variant"),
    [(*case, variant) for case in CASES for variant in VARIANTS if case[1] != "twins" or variant in RANKED_VARIANTS],
)
def test_the_engine_agrees_with_brute_force(values, turns, scored, variant, graph_module: ModuleType):
    """Only with a perfect index can two positions have one slot."""
    ranked = variant in RANKED_VARIANTS
    rng = Random(f"{values} {turns} {scored} {variant}")
    for _ in range(GAMES[values]):
        graph = any_game(rng, turns=turns, scored=scored, mutual=ranked)
        game = compiled_game(graph_module, graph, VARIANTS[variant])
        check_every_propagation(game, graph, right_codes(graph, everywhere=ranked, values=values), values=values)


@pytest.mark.parametrize(("values", "turns", "scored"), [case for case in CASES if case[1] != "twins"])
def test_hundreds_of_games_at_once(values: str, turns: str, scored: bool, graph_module: ModuleType):
    rng = Random(f"many {values} {turns} {scored}")
    graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(150))
    everywhere, reached = (right_codes(graph, everywhere=each, values=values) for each in (True, False))
    for name, functions in VARIANTS.items():
        game = compiled_game(graph_module, graph, functions)
        check_every_propagation(game, graph, everywhere if name in RANKED_VARIANTS else reached, values=values)


@pytest.mark.parametrize(("values", "turns", "scored"), CASES)
def test_a_python_game_agrees_with_brute_force(values: str, turns: str, scored: bool):
    rng = Random(f"python {values} {turns} {scored}")
    for _ in range(GAMES[values]):
        graph = any_game(rng, turns=turns, scored=scored)
        right = right_codes(graph, everywhere=False, values=values)
        for base in (GraphPlugin, TieredGraphPlugin):
            check_every_propagation(make_game(python_plugin(graph, base), name="graph"), graph, right, values=values)


@pytest.mark.parametrize("variant", ["parents", "survey"])
@pytest.mark.parametrize("backend", ["memory", "lmdb"])
@pytest.mark.parametrize(("values", "width"), [("full", 4), ("outcome", 0)])
def test_both_backends_store_scores_and_outcomes(values, width, backend, variant, graph_module, tmp_path: Path):
    rng = Random(variant)
    graph = union(any_game(rng, turns="kept", scored=True) for _ in range(40))
    game = compiled_game(graph_module, graph, VARIANTS[variant])
    right = right_codes(graph, everywhere=variant == "survey", values=values)
    solve_game(game, backend=backend, directory=tmp_path, values=values).table.close()
    with open_table(game, tmp_path / game.identity) as table:
        assert (table.outcomes_only, table.scored) == (values == "outcome", values == "full")
        assert {record.width for record in table.records.values()} == {width}
        assert [len(block) for record in table.records.values() for block in table.store.value_blocks(record)] == [
            record.size * width or -(-record.size // 4) for record in table.records.values() if record.size
        ]
        assert table.info.hash == solve_game(game, save=False, values=values).hash
        assert codes_of(table, graph) == right
        for node, code in right.items():
            assert table.probe(node << 1) == Value.from_code(code)
            assert table.probe(node << 1).code == code
        assert verify_table(table).bad == 0
        assert table.statistics.positions == len(right)


# ---- verification ----


def changed_codes(code: int, *, scored: bool) -> list[int]:
    """Codes that a bit error or a wrong solve might produce."""
    others = [0, 1, 2, 3, 5, 6, 7, 9, 10, 11, code + 4, code ^ 2]
    if scored:
        others += [code ^ 1 << 16, code ^ 1 << 31, code & 0xFFFF, code | 3 << 16]
    return sorted({other for other in others if other not in (code, 4)})


@kinds
def test_verify_finds_every_single_changed_value(turns: str, scored: bool, graph_module: ModuleType):
    rng = Random(f"changed {turns} {scored}")
    tried = 0
    for _ in range(10):
        graph = any_game(rng, turns=turns, scored=scored, mutual=True)
        game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
        with solve_game(game, save=False).table as table:
            engine = table.engine
            for tier, record in table.records.items():
                values = engine.values(tier, record.size)
                values.flags.writeable = True
                for index in range(record.size):
                    code = int(values[index])
                    for other in changed_codes(code, scored=scored):
                        values[index] = other
                        wrong, faults = engine.verify(tier)
                        assert wrong, (graph, tier, index, code, other)
                        assert index in [fault.index for fault in faults]
                        tried += 1
                    values[index] = code
                assert engine.verify(tier)[0] == 0
    assert tried > 500


# ---- best moves ----


@kinds
def test_best_moves_lead_to_the_best_children(turns: str, scored: bool, graph_module: ModuleType):
    rng = Random(f"best {turns} {scored}")
    for _ in range(20):
        graph = any_game(rng, turns=turns, scored=scored, mutual=True)
        codes = brute_force(graph)
        with solve_game(compiled_game(graph_module, graph, VARIANTS["rank alone"]), save=False).table as table:
            positions = np.arange(0, 2 * len(codes), 2, dtype=np.uint64)
            best = table.engine.best_moves(positions)
        for node, move in enumerate(best.tolist()):
            if graph.status[node]:
                assert move == -1
                continue
            _, child, _ = graph.all_moves[move]
            worth = Value.from_code(codes[child]).for_parent(keeps_turn=graph.keeps_turn(node, child))
            assert worth == Value.from_code(codes[node])


# ---- the weak solver ----


@kinds
def test_alpha_beta_agrees_with_brute_force(turns: str, scored: bool, graph_module: ModuleType):
    rng = Random(f"search {turns} {scored}")
    for _ in range(100):
        graph = any_game(rng, turns=turns, scored=scored)
        outcomes = [code & 3 or 2 for code in brute_force(graph)]
        for functions in ((), ("wins_now",)):
            plugin = CompiledGraph(graph_module, graph, functions)
            search = Search(plugin.kernel())
            search.run(graph.start << 1)
            assert search.outcome(graph.start << 1) == outcomes[graph.start], graph
            search.prove_reachable()
            found = {int(p) >> 1: int(o) for p, o in zip(*search.entries(), strict=True)}
            assert found == {node: outcomes[node] for node in graph.reachable}
            search.close()


# ---- contradictory kernels, bulk functions ----


@pytest.mark.parametrize(
    ("turns", "statuses", "scores", "wrong"),
    [("alternate", (0, 1), (0, 2), 2), ("alternate", (0, 3), (0, 0), 2), ("puzzle", (0, 2), (0, 1), 2)],
)
@pytest.mark.parametrize("cyclic", [False, True])
def test_a_score_that_contradicts_the_status_is_an_error(turns, statuses, scores, wrong, cyclic, graph_module):
    moves = (((1, 0), (0, 0)), ()) if cyclic else (((1, 0),), ())
    graph = Graph(moves, statuses, (0, 1), scores=scores, players=1 if turns == "puzzle" else 2)
    game = compiled_game(graph_module, graph, VARIANTS["rank alone"])
    for values in GAMES:
        with pytest.raises(PerfectPlayError, match=r"the score of position [23] contradicts its status"):
            solve_game(game, save=False, values=values)
    with (
        closing(Search(game_kernel(game))) as search,
        pytest.raises(RulesError, match=r"the score of position [23] cont"),
    ):
        search.run(game.start())


def test_movers_of_many(graph_module: ModuleType):
    rng = Random(5)
    positions = np.array([0, 1, 2], dtype=np.uint64)
    kept = any_game(rng, turns="kept", scored=False)
    kernel = CompiledGraph(graph_module, kept, ())
    assert movers_of_many(kernel.kernel(), positions[:2]).tolist() == [kept.movers[0]] * 2
    puzzle = CompiledGraph(graph_module, any_game(rng, turns="puzzle", scored=False), ())
    assert movers_of_many(puzzle.kernel(), positions).tolist() == [0, 0, 0]
    plain = CompiledGraph(graph_module, any_game(rng, turns="alternate", scored=False), ())
    assert movers_of_many(plain.kernel(), positions) is None
