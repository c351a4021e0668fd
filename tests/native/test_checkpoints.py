"""When a worker is lost in the middle of a component, the others go back to the last checkpoint only."""

from __future__ import annotations

from itertools import count, cycle
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from perfectplay.cluster import driver
from perfectplay.cluster.checkpoints import MOST_RESUMES, Checkpoints
from perfectplay.cluster.pool import WorkerLost
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game

from .compiled_graphs import compiled_game
from .graphs import TURNS, any_game, union
from .local_pool import LocalPool, solve_locally
from .test_shares import VARIANTS, Countdown


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "SHARED_SLOTS", 1)
    monkeypatch.setattr(driver, "WORTH_SHARING", 1)
    monkeypatch.setattr(driver, "WORTH_SHARING_PYTHON", 1)


def save_every(monkeypatch: pytest.MonkeyPatch, levels: int) -> None:
    """Save a checkpoint before the first level, and after every `levels` levels."""
    turns = cycle([True, *(False for _ in range(levels))])
    monkeypatch.setattr(Checkpoints, "is_due", property(lambda _: next(turns)))


class Losing(LocalPool):
    """Loses a worker at some steps, and continues without it. Records the steps of the first worker."""

    def __init__(self, game: Game, workers: int, *, at: tuple[int, ...]) -> None:
        self._at, self._calls = at, count()
        self.steps: list[tuple[Any, ...]] = []
        super().__init__(game, workers)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        if method == "level" and next(self._calls) in self._at:
            self._count = max(1, self._count - 1)
            raise WorkerLost("by the test")
        if worker == 0:
            self.steps.append((method, *arguments[:2]) if method == "level" else (method,))
        return super().call(worker, method, *arguments, returns=returns)


@pytest.mark.parametrize("scored", [False, True], ids=["", "scored"])
@pytest.mark.parametrize("turns", TURNS)
def test_a_lost_worker_does_not_change_the_table(
    turns: str, scored: bool, graph_module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rng = Random(f"{turns} {scored}")
    save_every(monkeypatch, 1)
    for name in ("survey", "rank alone"):
        graph = union(any_game(rng, turns=turns, scored=scored) for _ in range(20))
        game = compiled_game(graph_module, graph, VARIANTS[name])
        right = solve_game(game, save=False, threads=1).hash
        pool = Losing(game, 3, at=(7, 21))
        table_hash, _ = solve_locally(game, tmp_path / name, 3, pool=pool)
        assert table_hash == right, name
        assert pool.steps.count(("restore",)) >= 1


def test_a_deep_component_goes_back_to_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """150 levels, saved after every 10; a worker is lost at level 126."""
    game = make_game(Countdown(), name="countdown")
    right = solve_game(game, save=False).hash
    save_every(monkeypatch, 10)
    pool = Losing(game, 2, at=(2 * 125,))
    table_hash, _ = solve_locally(game, tmp_path / "table", 2, pool=pool)
    levels = [step[1] for step in pool.steps if step[0] == "level"]
    assert table_hash == right
    assert levels == [*range(1, 126), *range(121, 151)]
    assert pool.steps.count(("settle",)) == 1


def test_a_damaged_checkpoint_is_discarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    game = make_game(Countdown(), name="countdown")
    right = solve_game(game, save=False).hash
    save_every(monkeypatch, 100)

    class Damaging(Losing):
        def put(self, value: Any) -> Any:
            box = super().put(value)
            if isinstance(value, list) and value and value[0].dtype.itemsize == 4:  # entries
                box.value[0][0] ^= 1
            return box

    pool = Damaging(game, 2, at=(20,))
    table_hash, _ = solve_locally(game, tmp_path / "table", 2, pool=pool)
    assert table_hash == right
    assert pool.steps.count(("restore",)) == MOST_RESUMES
    assert pool.steps.count(("settle",)) == 2
