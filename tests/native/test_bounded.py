"""Components larger than the memory budget: updates go through queues, one range at a time. The table is the same."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from perfectplay.errors import PerfectPlayError
from perfectplay.solve import options
from perfectplay.solve.solve import solve_game

from .compiled_graphs import RANKED_VARIANTS, compiled_game
from .graphs import LOSS, TIE, any_game, random_graph, union
from .test_engine import chain, codes_of, expected, large_graph, solved
from .test_turns_and_scores import kinds, right_codes

VARIANT = RANKED_VARIANTS["expand and retract"]
threads = pytest.mark.parametrize("threads", [1, 2])


@pytest.fixture(autouse=True)
def no_smallest_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give all of `memory` to the engine, even one byte. Every array is then in a scratch file."""
    monkeypatch.setattr(options, "FIXED_MEMORY", 0)
    monkeypatch.setattr(options, "SMALLEST_BUDGET", 1)


def bounded(directory: Path, threads: int, *, memory: int = 1) -> dict[str, object]:
    return {"backend": "lmdb", "save": True, "directory": directory, "threads": threads, "memory": memory}


@threads
@pytest.mark.parametrize("games", [1, 20, 200])  # one range to sixty-four ranges
def test_random_games_within_a_budget(games: int, threads: int, graph_module: ModuleType, tmp_path: Path):
    graph = union(random_graph(Random(number), mutual=True) for number in range(games))
    game = compiled_game(graph_module, graph, VARIANT)
    assert solved(game, graph, **bounded(tmp_path, threads)).codes == expected(graph, everywhere=True)


@kinds
def test_turns_puzzles_and_scores_within_a_budget(turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path):
    rng = Random(f"{turns} {scored}")
    for number in range(4):
        graph = any_game(rng, turns=turns, scored=scored, mutual=True)
        game = compiled_game(graph_module, graph, VARIANT)
        with solve_game(game, **bounded(tmp_path / str(number), 2)).table as table:
            assert codes_of(table, graph) == right_codes(graph, everywhere=True)


@threads
@pytest.mark.parametrize("memory", [1, 200_000, 1_000_000])
def test_a_large_graph_within_a_budget(memory: int, threads: int, graph_module: ModuleType, tmp_path: Path):
    """Sixty-four ranges, a few ranges, and one: chunks of entries span two ranges, and blocks of updates fill up."""
    graph = large_graph()
    game = compiled_game(graph_module, graph, VARIANT)
    solution = solved(game, graph, **bounded(tmp_path, threads, memory=memory))
    assert solution.hash == solved(game, graph).hash


@pytest.mark.parametrize("end", [LOSS, TIE])
def test_a_long_line_within_a_budget(end: int, graph_module: ModuleType, tmp_path: Path):
    """There is an update at every level, and the last ones change nothing."""
    graph = union([chain(300, end), chain(129, LOSS)])
    game = compiled_game(graph_module, graph, VARIANT)
    assert solved(game, graph, **bounded(tmp_path, 1)).codes == expected(graph, everywhere=True)


def test_a_game_too_long_to_store_is_refused_within_a_budget_too(graph_module: ModuleType, tmp_path: Path):
    longest = compiled_game(graph_module, chain(16_382, LOSS, first_tier=2), VARIANT)
    assert solve_game(longest, **bounded(tmp_path / "longest", 1)).table.probe(0).remoteness == 16_382
    longer = compiled_game(graph_module, chain(16_384, LOSS, first_tier=2), VARIANT)
    with pytest.raises(PerfectPlayError, match="more than 16382 plies"):
        solve_game(longer, **bounded(tmp_path / "longer", 1))
