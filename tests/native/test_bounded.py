"""Components larger than the memory budget: parents are informed by mail, range by range, and the table is the same."""

from __future__ import annotations

from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from perfectplay.errors import PerfectPlayError
from perfectplay.solve import options as budget
from perfectplay.solve import solve as strong

from .compiled_graphs import RANKED_VARIANTS, compiled_game
from .graphs import LOSS, TIE, any_game, random_graph, union
from .test_engine import chain, codes_of, expected, large_graph, solved
from .test_turns_and_scores import kinds, right_codes

VARIANT = RANKED_VARIANTS["expand and retract"]
threads = pytest.mark.parametrize("threads", [1, 2])


@pytest.fixture(autouse=True)
def no_least_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of `memory` is the engine's, be it one byte: then every array is in a scratch file."""
    monkeypatch.setattr(budget, "FIXED_MEMORY", 0)
    monkeypatch.setattr(budget, "SMALLEST_BUDGET", 1)


def by_mail(directory: Path, workers: int, *, memory: int = 1) -> dict[str, object]:
    return {"backend": "lmdb", "save": True, "directory": directory, "threads": workers, "memory": memory}


@threads
@pytest.mark.parametrize("games", [1, 20, 200])  # of one range and up to sixty-four
def test_random_games_by_mail(games: int, threads: int, graph_module: ModuleType, tmp_path: Path):
    graph = union(random_graph(Random(number), sisters=True) for number in range(games))
    game = compiled_game(graph_module, graph, VARIANT)
    assert solved(game, graph, **by_mail(tmp_path, threads)).codes == expected(graph, everywhere=True)


@kinds
def test_turns_puzzles_and_scores_by_mail(turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path):
    rng = Random(f"{turns} {scored}")
    for number in range(4):
        graph = any_game(rng, turns=turns, scored=scored, sisters=True)
        game = compiled_game(graph_module, graph, VARIANT)
        with strong.solve_game(game, **by_mail(tmp_path / str(number), 2)).table as table:
            assert codes_of(table, graph) == right_codes(graph, everywhere=True)


@threads
@pytest.mark.parametrize("memory", [1, 200_000, 1_000_000])
def test_a_large_graph_by_mail(memory: int, threads: int, graph_module: ModuleType, tmp_path: Path):
    """Sixty-four ranges, few ranges, and all that fits: chunks of entries lie in two ranges, blocks of letters fill."""
    graph = large_graph()
    game = compiled_game(graph_module, graph, VARIANT)
    bounded = solved(game, graph, **by_mail(tmp_path, threads, memory=memory))
    assert bounded.hash == solved(game, graph).hash


@pytest.mark.parametrize("end", [LOSS, TIE])
def test_a_long_line_by_mail(end: int, graph_module: ModuleType, tmp_path: Path):
    """A letter at every level, and the last ones tell a parent nothing new."""
    graph = union([chain(300, end), chain(129, LOSS)])
    game = compiled_game(graph_module, graph, VARIANT)
    assert solved(game, graph, **by_mail(tmp_path, 1)).codes == expected(graph, everywhere=True)


def test_a_game_too_long_to_store_is_refused_by_mail_too(graph_module: ModuleType, tmp_path: Path):
    longest = compiled_game(graph_module, chain(16_382, LOSS, first_tier=2), VARIANT)
    assert strong.solve_game(longest, **by_mail(tmp_path / "longest", 1)).table.probe(0).remoteness == 16_382
    longer = compiled_game(graph_module, chain(16_384, LOSS, first_tier=2), VARIANT)
    with pytest.raises(PerfectPlayError, match="more than 16382 plies"):
        strong.solve_game(longer, **by_mail(tmp_path / "longer", 1))
