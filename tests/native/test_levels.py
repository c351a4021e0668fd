"""Deep games: levels with few positions, the reported progress, and the last level that can be stored."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np
import pytest

from perfectplay.errors import TableError
from perfectplay.game.engine import game_kernel
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.solve.solve import solve_game
from perfectplay_native.engine import Engine, EngineProgress, Propagation
from perfectplay_native.errors import EngineError
from perfectplay_native.share import Layout, Share

from .compiled_graphs import ENUMERATED_VARIANTS, RANKED_VARIANTS, compiled_game
from .graphs import LOSS, TIE, Graph, GraphPlugin, plain_graph, random_graph, union
from .local_pool import solve_locally
from .test_engine import chain, expected, solved_with_every_propagation

PARENTS = ENUMERATED_VARIANTS["parents"]


def test_a_few_long_lines_among_short_games(graph_module: ModuleType):
    """Most levels have one or two positions, whose entries are among those of all other levels."""
    rng = Random(5)
    shallow = [random_graph(rng) for _ in range(100)]
    graph = union([chain(200, LOSS), *shallow[:50], chain(129, LOSS), *shallow[50:], chain(140, TIE)])
    game = compiled_game(graph_module, graph, RANKED_VARIANTS["expand and retract"])
    assert solved_with_every_propagation(game, graph).codes == expected(graph, everywhere=True)


# ---- progress ----


class Watched(GraphPlugin):
    """Records the engine's progress at every call of `parents`, of which there is one per level in a line."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.engine: Engine | None = None
        self.seen: list[EngineProgress] = []

    @hookimpl
    def parents(self, position):
        if self.engine is not None:
            self.seen.append(self.engine.progress)
        return [parent << 1 for parent in self.graph.parents[position >> 1]]


def test_progress_increases_with_the_levels():
    graph = chain(100, LOSS)
    plugin = Watched(graph)
    kernel = game_kernel(make_game(plugin, name="graph"))
    engine = plugin.engine = Engine(kernel, tiers=1)
    slots = len(graph.moves)
    engine.define(0, slots, [memoryview(np.arange(0, 2 * slots, 2, dtype=np.uint64))])
    engine.solve([0], cyclic=True, propagation=Propagation.RETRACT)
    assert [each.level for each in plugin.seen] == list(range(1, 101))
    done = [each.positions / slots for each in plugin.seen]
    assert done == sorted(done)
    assert 0.3 < done[0] < 0.7  # settled and expanded
    assert 0.9 < done[-1] <= 1
    assert 0.4 < (done[50] - done[0]) / (done[-1] - done[0]) < 0.6


# ---- the last level ----


@pytest.mark.parametrize("queued", [False, True])
@pytest.mark.parametrize("end", [LOSS, TIE])
@pytest.mark.parametrize("propagation", ["RETRACT", "GRAPH", "FORWARD"])
def test_every_propagation_has_the_same_last_level(
    propagation: str, end: int, queued: bool, graph_module: ModuleType, tmp_path: Path
):
    """The largest remoteness is stored, and the next one is an error."""
    game = compiled_game(graph_module, plain_graph([[1], [2], [3], []], {3: end}, [0, 0, 0, 1]), PARENTS)
    for remoteness in (16_379, 16_380):  # of the finished position, three plies from the start
        with closing(Engine(game_kernel(game), tiers=2)) as engine:
            if queued:
                engine.set_memory(1, str(tmp_path))
            engine.define(1, 1, [memoryview(np.array([6], dtype=np.uint64))])
            engine.attach(1, 2, [memoryview(np.array([remoteness << 2 | end], dtype=np.uint16))])
            engine.define(0, 3, [memoryview(np.array([0, 2, 4], dtype=np.uint64))])
            if remoteness == 16_380:
                with pytest.raises(EngineError, match="more than 16382 plies"):
                    engine.solve([0], cyclic=True, propagation=Propagation[propagation])
            else:
                engine.solve([0], cyclic=True, propagation=Propagation[propagation])
                assert [code >> 2 for code in engine.values(0, 3).tolist()] == [16_382, 16_381, 16_380]


@pytest.mark.parametrize("end", [LOSS, TIE])
def test_workers_have_the_same_last_level(end: int, graph_module: ModuleType, tmp_path: Path):
    """At the last level there are still updates for another worker, whose position is already decided."""
    for length in (16_382, 16_383):
        graph = plain_graph([*chain(length, end).children, [0, length]], {length: end})
        game = compiled_game(graph_module, graph, RANKED_VARIANTS["expand and retract"])
        if length == 16_382:
            solution = solve_locally(game, tmp_path / "table", 2)
            assert solution.exchanged > len(graph.moves)
            assert solution.hash == solve_game(game, save=False).hash
        else:
            with pytest.raises(TableError, match="more than 16382 plies"):
                solve_locally(game, tmp_path / "longer", 2)


def test_workers_have_the_same_last_level_without_cycles(graph_module: ModuleType):
    game = compiled_game(graph_module, plain_graph([[1], []], {1: LOSS}, [0, 1]), PARENTS)
    for remoteness in (16_381, 16_382):
        with closing(Engine(game_kernel(game), tiers=2)) as engine:
            engine.define(1, 1, [memoryview(np.array([2], dtype=np.uint64))])
            engine.attach(1, 2, [memoryview(np.array([remoteness << 2 | LOSS], dtype=np.uint16))])
            engine.define(0, 1, [memoryview(np.array([0], dtype=np.uint64))])
            share = Share(engine, Layout((0,), (1,), 6, 1), 0, width=2)
            if remoteness == 16_382:
                with pytest.raises(EngineError, match="more than 16382 plies"):
                    share.solve()
            else:
                share.solve()
                assert int(share.values()[0][0]) >> 2 == 16_382
            share.close()
