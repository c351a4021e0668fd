"""Deep games: a level costs what happens in it, and whoever waits is told the truth about how far the solve is."""

from __future__ import annotations

from random import Random
from types import ModuleType

import numpy as np

from perfectplay.hookspecs import hookimpl
from perfectplay.kernels import game_kernel
from perfectplay.loading import make_game
from perfectplay_native.engine import Engine, EngineProgress, Propagation

from .compiled_graphs import RANKED_VARIANTS, compiled_game
from .graphs import LOSS, TIE, Graph, GraphPlugin, random_graph, union
from .test_engine import chain, expected, solved_every_way


def test_a_few_deep_lines_among_much_that_is_shallow(graph_module: ModuleType):
    """Most levels have a position or two, and the entries that are due then lie among others of every level."""
    rng = Random(5)
    shallow = [random_graph(rng) for _ in range(100)]
    graph = union([chain(200, LOSS), *shallow[:50], chain(129, LOSS), *shallow[50:], chain(140, TIE)])
    game = compiled_game(graph_module, graph, RANKED_VARIANTS["expand and retract"])
    assert solved_every_way(game, graph).codes == expected(graph, everywhere=True)


# ---- how far it is ----


class Watched(GraphPlugin):
    """Looks at the engine whenever it is asked for parents: once a level, where every level decides one position."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.engine: Engine | None = None
        self.seen: list[EngineProgress] = []

    @hookimpl
    def parents(self, position):
        if self.engine is not None:
            self.seen.append(self.engine.progress)
        return [parent << 1 for parent in self.graph.parents[position >> 1]]


def test_progress_goes_on_through_the_levels():
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
