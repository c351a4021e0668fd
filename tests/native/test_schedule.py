"""The distribution of work: components to one or all workers, and positions of a Python game to their owners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from perfectplay.cluster import driver
from perfectplay.cluster.schedule import Schedule
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.tiers.order import Component
from perfectplay.values import Status
from perfectplay_native.share import Layout

from .local_pool import LocalPool, solve_locally


class Ready:
    """A pool whose workers have always finished."""

    size = 2

    def wait(self, refs: Sequence[Any]) -> list[Any]:
        return [refs[0]]


class RecordingSolve:
    """Solves nothing, and records the calls."""

    worth_a_message = 10
    most_alone = 1000

    def __init__(self, sizes: dict[int, int]) -> None:
        self.pool: Any = Ready()
        self.sizes = sizes
        self.alone: list[int] = []
        self.together: list[int] = []

    def slots(self, component: Component) -> int:
        return sum(self.sizes[tier] for tier in component.tiers)

    def is_large(self, component: Component) -> bool:
        return self.slots(component) >= 50

    def start_alone(self, component: Component, worker: int) -> list[Any]:
        self.alone.append(component.tiers[0])
        return [object()]

    def solve_together(self, component: Component) -> None:
        self.together.append(component.tiers[0])

    def finish(self, component: Component, replies: Any, makers: Any) -> None: ...
    def recover(self, loss: Exception) -> None: ...
    def forget(self, tier: int) -> None: ...


@pytest.mark.parametrize(
    ("sizes", "alone", "together"),
    [
        ([60, 70, 80], [0, 1, 2], []),
        ([60, 70, 80, 20], [0, 1, 2, 3], []),
        ([60, 200], [], [0, 1]),  # the worker with the small one would wait for the other
        ([200], [], [0]),
        ([2000, 2000], [], [0, 1]),  # too large for one worker
    ],
)
def test_large_components_are_shared_unless_there_is_one_for_every_worker(
    sizes: list[int], alone: list[int], together: list[int]
):
    recording = RecordingSolve(dict(enumerate(sizes)))
    Schedule(recording, [Component((tier,), True, ()) for tier in recording.sizes]).run()
    assert (recording.alone, recording.together) == (alone, together)


def test_components_that_become_ready_later_may_be_solved_alone():
    recording = RecordingSolve({0: 200, 1: 60, 2: 60})
    Schedule(recording, [Component((0,), True, ()), *(Component((tier,), True, (0,)) for tier in (1, 2))]).run()
    assert (sorted(recording.alone), recording.together) == ([1, 2], [0])


class Doubling:
    """Every move doubles the number of positions."""

    @hookimpl
    def start(self) -> int:
        return 1

    @hookimpl
    def moves(self, position: int) -> list[int]:
        return [0, 1] if position < 1 << 13 else []

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        return 2 * position + move

    @hookimpl
    def tier(self, position: int) -> int:
        return position.bit_length() - 1

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.ONGOING if position < 1 << 13 else Status.LOST


@pytest.mark.parametrize("workers", [2, 3])
def test_workers_enumerate_the_positions_that_they_will_solve(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """For a Python game, because each worker stores the results of its calls."""
    monkeypatch.setattr(driver, "WORTH_SHARING_PYTHON", 1)
    enumerated: list[list[int]] = [[] for _ in range(workers)]
    layouts: list[Layout] = []

    class Watched(LocalPool):
        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if method == "children":
                enumerated[worker] += arguments[0].tolist()
            if method == "begin" and worker == 0:
                layouts.append(arguments[3])
            return super().call(worker, method, *arguments, returns=returns)

    game = make_game(Doubling(), name="doubling")
    solve_locally(game, tmp_path / "table", workers, pool=Watched(game, workers))
    assert len(layouts) == 14
    for worker in range(workers):
        owned: list[int] = []
        for layout in reversed(layouts):
            for tier, first, length in layout.units(worker):
                owned += range((1 << tier) + first, (1 << tier) + first + length)
        assert enumerated[worker] == owned
