"""After the loss of a worker in the middle of a component, the solve continues from the last checkpoint."""

from __future__ import annotations

from itertools import count, cycle
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from perfectplay.cluster.component import MAX_RESUMES, Checkpoints
from perfectplay.cluster.pool import WorkerLost
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game

from .compiled_graphs import compiled_game
from .graphs import TURNS, any_game, union
from .local_pool import LocalPool, solve_locally
from .test_shares import VARIANTS, Countdown


def save_every(monkeypatch: pytest.MonkeyPatch, levels: int) -> None:
    """Save a checkpoint before the first level, and after every `levels` levels."""
    turns = cycle([True, *(False for _ in range(levels))])
    monkeypatch.setattr(Checkpoints, "is_due", property(lambda _: next(turns)))


class LosingPool(LocalPool):
    """Loses a worker at some calls of `run_level` and continues with one fewer; records the first worker's calls."""

    def __init__(self, game: Game, workers: int, *, at: tuple[int, ...]) -> None:
        self._at, self._calls = at, count()
        self.calls: list[str] = []
        self.levels: list[int] = []
        super().__init__(game, workers)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        if method == "run_level" and next(self._calls) in self._at:
            self._count = max(1, self._count - 1)
            raise WorkerLost("on purpose")
        if worker == 0:
            self.calls.append(method)
            self.levels += [arguments[0].level] if method == "run_level" else []
        return super().call(worker, method, *arguments, returns=returns)


@pytest.mark.parametrize("scored", [False, True], ids=["", "scored"])
@pytest.mark.parametrize("turns", TURNS)
def test_a_lost_worker_changes_nothing(
    turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rng = Random(f"{turns} {scored}")
    save_every(monkeypatch, 1)
    for name in ("survey", "rank alone"):
        graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(20))
        game = compiled_game(graph_module, graph, VARIANTS[name])
        right = solve_game(game, save=False, threads=1).hash
        pool = LosingPool(game, 3, at=(7, 21))
        assert solve_locally(game, tmp_path / name, 3, pool=pool).hash == right, name
        assert pool.calls.count("restore_values") >= 1


def test_a_deep_component_goes_back_to_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """150 levels, saved after every 10; a worker is lost at level 126."""
    game = make_game(Countdown(), name="countdown")
    right = solve_game(game, save=False).hash
    save_every(monkeypatch, 10)
    pool = LosingPool(game, 2, at=(2 * 125,))
    assert solve_locally(game, tmp_path / "table", 2, pool=pool).hash == right
    assert pool.levels == [*range(1, 126), *range(121, 151)]
    assert pool.calls.count("settle_units") == 1


def test_a_damaged_checkpoint_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    game = make_game(Countdown(), name="countdown")
    right = solve_game(game, save=False).hash
    save_every(monkeypatch, 100)

    class DamagingPool(LosingPool):
        def put(self, value: Any) -> Any:
            box = super().put(value)
            if isinstance(value, list) and value and value[0].dtype.itemsize == 4:  # entries
                box.value[0][0] ^= 1
            return box

    pool = DamagingPool(game, 2, at=(20,))
    assert solve_locally(game, tmp_path / "table", 2, pool=pool).hash == right
    assert pool.calls.count("restore_values") == MAX_RESUMES
    assert pool.calls.count("settle_units") == 2
