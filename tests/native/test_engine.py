"""The engine against brute force, on random graphs, with every kind of propagation.

Whatever functions a game has (Python or C, with or without an index, children, parents, expand, retract), and whatever
the options of the engine, the table must follow the definition of a value.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import verify_table
from perfectplay.table.locations import open_table
from perfectplay.table.table import Table
from perfectplay.values import Status
from perfectplay_native.kernel import Kernel
from perfectplay_quixo import _kernel as quixo

from ..propagation import solve_by
from .compiled_graphs import ENUMERATED_VARIANTS, MUTUAL_VARIANTS, RANKED_VARIANTS, CompiledGraph, compiled_game
from .graphs import (
    LOSS,
    TIE,
    WIN,
    Graph,
    GraphPlugin,
    TieredGraphPlugin,
    brute_force,
    graphs,
    plain_graph,
    random_graph,
    union,
)

VARIANTS = ENUMERATED_VARIANTS | RANKED_VARIANTS
PROPAGATIONS = ("retract", "graph", "forward", "auto")
many = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Solved(NamedTuple):
    codes: dict[int, int]
    hash: str


def codes_of(table: Table, graph: Graph) -> dict[int, int]:
    """The code of each node in the table. Both images of a node must have the same code."""
    stored = {}
    codes = table.probe_many([position for node in range(len(graph.moves)) for position in (node << 1, node << 1 | 1)])
    assert (codes[::2] == codes[1::2]).all()
    for node, code in enumerate(codes[::2]):
        if code != 4:
            stored[node] = int(code)
    return stored


def solved(game: Game, graph: Graph, propagation: str = "auto", **options: object) -> Solved:
    solution = solve_by(game, propagation, **{"save": False, **options})
    with solution.table as table:
        codes = codes_of(table, graph)
    assert solution.stats.positions == len(codes)
    return Solved(codes, solution.hash)


def solved_with_every_propagation(game: Game, graph: Graph) -> Solved:
    """The table, which must be the same for every propagation."""
    propagations = [
        propagation for propagation in PROPAGATIONS if propagation != "retract" or game_kernel(game).can_retract
    ]
    tables = {propagation: solved(game, graph, propagation=propagation) for propagation in propagations}
    assert tables == dict.fromkeys(propagations, tables["auto"])
    return tables["auto"]


def expected(graph: Graph, *, everywhere: bool) -> dict[int, int]:
    codes = brute_force(graph)
    nodes = range(len(codes)) if everywhere else sorted(graph.reachable)
    return {node: codes[node] for node in nodes}


# ---- random games ----


@many
@given(graph=graphs())
def test_a_python_game_agrees_with_brute_force(graph: Graph):
    right = expected(graph, everywhere=False)
    for plugin in (GraphPlugin, TieredGraphPlugin):
        assert solved_with_every_propagation(make_game(plugin(graph), name="graph"), graph).codes == right


@pytest.mark.parametrize("variant", ENUMERATED_VARIANTS)
@many
@given(graph=graphs())
def test_an_enumerated_kernel_agrees_with_brute_force(graph: Graph, variant: str, graph_module: ModuleType):
    game = compiled_game(graph_module, graph, ENUMERATED_VARIANTS[variant])
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=False)


@pytest.mark.parametrize("variant", MUTUAL_VARIANTS)
@many
@given(graph=graphs(mutual=True))
def test_mutually_reachable_tiers_are_enumerated_together(graph: Graph, variant: str, graph_module: ModuleType):
    game = compiled_game(graph_module, graph, MUTUAL_VARIANTS[variant])
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=False)


def test_a_tier_missing_from_tier_children_is_named(graph_module: ModuleType):
    plugin = CompiledGraph(graph_module, plain_graph([[1], [0]], {}, [0, 1]), MUTUAL_VARIANTS["rules alone"])
    plugin.context.first_tier_child[2] = 1  # claims that tier 1 leads nowhere
    with pytest.raises(
        PerfectPlayError, match="tier_children of tier 1 leaves out tier 0: move 1 leads from position 2"
    ):
        solve_game(make_game(plugin, name="graph"), save=False)


@pytest.mark.parametrize("variant", RANKED_VARIANTS)
@many
@given(graph=graphs(mutual=True))
def test_a_ranked_kernel_agrees_with_brute_force(graph: Graph, variant: str, graph_module: ModuleType):
    game = compiled_game(graph_module, graph, RANKED_VARIANTS[variant])
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=True)


@pytest.mark.parametrize("variant", VARIANTS)
def test_hundreds_of_random_games_at_once(variant: str, graph_module: ModuleType):
    ranked = variant in RANKED_VARIANTS
    rng = Random(variant)
    graph = union(random_graph(rng, mutual=ranked) for _ in range(400))
    game = compiled_game(graph_module, graph, VARIANTS[variant])
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=ranked)


def test_python_and_c_make_the_same_table(graph_module: ModuleType):
    graph = union(random_graph(Random(number)) for number in range(50))
    python = solved(make_game(TieredGraphPlugin(graph), name="graph"), graph)
    compiled = solved(compiled_game(graph_module, graph, ENUMERATED_VARIANTS["parents"]), graph)
    assert python == compiled


def test_a_kernel_without_tier_children(graph_module: ModuleType):
    graph = union(random_graph(Random(number)) for number in range(50))
    game = compiled_game(graph_module, graph, set(RANKED_VARIANTS["rank and parents"]) - {"tier_children"})
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=True)


# ---- threads and backends ----


def large_graph() -> Graph:
    """A graph with more slots than one range of work, and with many paths."""
    rng = Random(1)
    count, step = 100_000, 40
    moves, status = [], []
    for node in range(count):
        ended = rng.random() < 0.25
        nearby = [min(max(node + rng.randint(-step, step), 0), count - 1) for _ in range(rng.randint(1, 3))]
        moves.append(() if ended else tuple(dict.fromkeys((child, 0) for child in nearby)))
        status.append(rng.choice((Status.LOST, Status.WON, Status.WON, Status.DRAWN)) if ended else Status.ONGOING)
    return Graph(tuple(moves), tuple(status), (0,) * count)


def test_threads_do_not_change_the_table(graph_module: ModuleType):
    game = compiled_game(graph_module, large_graph(), RANKED_VARIANTS["expand and retract"])
    tables = {
        (propagation, threads): _table_hash(game, propagation, threads)
        for propagation in PROPAGATIONS
        for threads in (1, 2)
    }
    assert len(set(tables.values())) == 1


def _table_hash(game: Game, propagation: str, threads: int) -> str:
    solution = solve_by(game, propagation, save=False, threads=threads)
    with solution.table as table:
        assert verify_table(table, threads=threads).bad == 0
    assert solution.stats.ties
    assert solution.stats.endless_draws
    return solution.hash


@pytest.mark.parametrize("variant", ["parents", "expand and retract"])
def test_both_backends_write_the_same_table(variant: str, graph_module: ModuleType, tmp_path: Path):
    graph = union(random_graph(Random(number)) for number in range(100))
    game = compiled_game(graph_module, graph, VARIANTS[variant])
    right = expected(graph, everywhere=variant in RANKED_VARIANTS)
    found = {}
    for backend in ("memory", "lmdb"):
        for propagation in PROPAGATIONS:
            directory = tmp_path / backend / propagation
            found[backend, propagation] = solved(
                game, graph, backend=backend, propagation=propagation, save=True, directory=directory
            )
            with open_table(game, directory / game.identity) as table:
                assert Solved(codes_of(table, graph), table.info.hash or "") == found[backend, propagation]
                assert verify_table(table).bad == 0
    assert len({table.hash for table in found.values()}) == 1
    assert all(table.codes == right for table in found.values())


# ---- special cases ----


@pytest.mark.parametrize("plies", [6, 66, 130])  # due levels are stored modulo 64, where the last two equal level 2
def test_a_loss_delayed_by_a_distant_finished_child(plies: int, graph_module: ModuleType):
    # 1 → 2 → 3 (lost), and 1 → 4 → … → last (lost), where 4 is a win in plies - 1 in another tier: 1 is lost in `plies`
    last = plies + 3
    chained = [[node + 1] for node in range(4, last)]
    graph = plain_graph([[1], [2, 4], [3], [], *chained, []], {3: LOSS, last: LOSS}, [0] * 4 + [1] * (last - 3))
    game = compiled_game(graph_module, graph, ENUMERATED_VARIANTS["parents"])
    found = solved_with_every_propagation(game, graph).codes
    assert found == expected(graph, everywhere=False)
    assert (found[1], found[0]) == (plies << 2 | LOSS, plies + 1 << 2 | WIN)


def chain(length: int, end: int, *, first_tier: int = 0, single: bool = False) -> Graph:
    """0 → 1 → … → end, all in one tier, or in two, or with one tier per node (`single`)."""
    children = [[node + 1] for node in range(length)] + [[]]
    if end != WIN:
        children[length - 1].append(length - 1)  # a cycle that no player wants to enter
    tiers = list(range(length + 1)) if single else [int(node >= first_tier > 0) for node in range(length + 1)]
    return plain_graph(children, {length: end}, tiers)


@pytest.mark.parametrize("end", [LOSS, TIE, WIN])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("variant", ["parents", "expand and retract"])
def test_long_games_are_stored_in_two_bytes(single: bool, end: int, variant: str, graph_module: ModuleType):
    graph = chain(100, end, single=single)
    game = compiled_game(graph_module, graph, VARIANTS[variant])
    found = solved_with_every_propagation(game, graph)
    assert found.codes == expected(graph, everywhere=True)
    assert found.codes[0] >> 2 == 100
    with solve_game(game, save=False).table as table:
        widths = {record.width for record in table.records.values()}
        assert verify_table(table).bad == 0
    assert widths == ({1, 2} if single else {2})


@pytest.mark.parametrize(("plies", "width"), [(63, 1), (64, 2)])
@pytest.mark.parametrize("single", [False, True])
def test_one_byte_is_enough_up_to_63_plies(plies: int, width: int, single: bool, graph_module: ModuleType):
    game = compiled_game(graph_module, chain(plies, LOSS, single=single), VARIANTS["parents"])
    with solve_game(game, save=False).table as table:
        assert table.probe(0).remoteness == plies
        assert max(record.width for record in table.records.values()) == width


@pytest.mark.parametrize("first_tier", [1, 2])
def test_a_game_too_long_to_store_is_an_error(first_tier: int, graph_module: ModuleType):
    longest = chain(16_382, LOSS, first_tier=first_tier)
    with solve_game(compiled_game(graph_module, longest, VARIANTS["expand and retract"]), save=False).table as table:
        assert table.probe(0).remoteness == 16_382
    longer = chain(16_382 + first_tier, LOSS, first_tier=first_tier)
    with pytest.raises(PerfectPlayError, match="more than 16382 plies"):
        solve_game(compiled_game(graph_module, longer, VARIANTS["expand and retract"]), save=False)


@pytest.mark.parametrize("wide", [300, 20_000])
def test_a_position_with_very_many_children(wide: int, graph_module: ModuleType):
    """All children of node 0 are won, so it is lost only when the last of them is known to be won."""
    ends = range(wide + 1, 2 * wide + 1)
    children = [list(range(1, wide + 1)), *([end, 0] for end in ends), *([] for _ in ends)]
    graph = plain_graph(children, dict.fromkeys(ends, LOSS))
    for functions in (set(VARIANTS["parents"]), set(VARIANTS["expand and retract"]) - {"wins_now"}):
        found = solved_with_every_propagation(compiled_game(graph_module, graph, functions), graph)
        assert found.codes[0] == 2 << 2 | LOSS
    if wide == 300:
        assert solved(make_game(GraphPlugin(graph)), graph).codes == found.codes


# ---- games that contradict themselves ----


def test_an_ongoing_position_without_a_move_is_an_error(graph_module: ModuleType):
    graph = plain_graph([[1], [0, 2], []], {})
    for game in (
        compiled_game(graph_module, graph, VARIANTS["parents"]),
        compiled_game(graph_module, graph, VARIANTS["expand and retract"]),
        make_game(GraphPlugin(graph)),
    ):
        with pytest.raises(PerfectPlayError, match=r"ONGOING.* but .*no move"):
            solve_game(game, save=False)


def test_decreasing_tiers_are_an_error(graph_module: ModuleType):
    graph = plain_graph([[1], [2], [0]], {}, [0, 1, 0])
    for game in (compiled_game(graph_module, graph, VARIANTS["rules alone"]), make_game(TieredGraphPlugin(graph))):
        with pytest.raises(PerfectPlayError, match="tiers must never go back: move 1 leads from position 2 in tier 1"):
            solve_game(game, save=False)


def test_too_many_moves_are_an_error(graph_module: ModuleType):
    wide = plain_graph([list(range(1, 4098)), *([[]] * 4097)], dict.fromkeys(range(1, 4098), LOSS))
    with pytest.raises(PerfectPlayError, match=r"'moves' returned 4,097 .* position 0.* 4,096"):
        solve_game(make_game(GraphPlugin(wide)), save=False)
    wider = plain_graph([[1] * 65_001, []], {1: LOSS})
    with pytest.raises(PerfectPlayError, match="max_moves is 65,001; it must be from 0 to 65,000"):
        compiled_game(graph_module, wider, ())


def test_propagation_by_retract_needs_parents(graph_module: ModuleType):
    game = compiled_game(graph_module, plain_graph([[0]], {}), VARIANTS["rank alone"])
    with pytest.raises(UsageError, match="graph has neither parents nor retract"):
        solve_by(game, "retract", save=False)


# ---- limits, checked when a kernel is loaded ----


@pytest.mark.parametrize("tiers", [0, 2**23])
def test_the_number_of_tiers_is_limited(tiers: int):
    with pytest.raises(ValueError, match=f"tier_count is {tiers:,}; it must be from 1 to 8,388,607"):
        Kernel(quixo.ffi, quixo.lib.quixo_kernel, tier_count=tiers)


@pytest.mark.parametrize("size", [2**40, 2**63])
def test_the_size_of_a_tier_is_limited(size: int):
    signature = quixo.ffi.typeof(quixo.lib.quixo_kernel.tier_size)
    too_large = quixo.ffi.callback(signature, lambda kernel, tier: size if tier == 2 else 1)
    with pytest.raises(ValueError, match=f"tier_size of tier 2 is {size:,}; it must be below 2\\*\\*40"):
        Kernel(quixo.ffi, quixo.lib.quixo_kernel, tier_size=too_large, tier_count=3)
