"""The distribution of work: components to one worker or to all, positions of a Python game to their owners."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perfectplay.cluster import driver
from perfectplay.cluster.component import Schedule
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.solve.options import Callbacks, Cluster
from perfectplay.tiers.order import Component
from perfectplay.values import Status
from perfectplay_native.share import Layout

from .local_pool import LocalPool, solve_locally


def test_a_failed_enumeration_does_not_silence_the_reports_of_the_workers(monkeypatch: pytest.MonkeyPatch):
    def fail(*arguments: object) -> None:
        raise RuntimeError("failed")

    def start_pool(*arguments: Any) -> InstantPool:
        report_functions.append(arguments[-1])
        return InstantPool()

    report_functions: list[Any] = []
    reports: list[str] = []
    state: Any = SimpleNamespace(
        store=SimpleNamespace(info=SimpleNamespace(status="enumerating")),
        options=SimpleNamespace(memory=None),
        game=None,
        callbacks=Callbacks(),
        slots_done=0,
        report=lambda phase, *numbers: reports.append(phase),
    )
    monkeypatch.setattr(driver, "enumerate_tiers", fail)
    steps = driver.ClusterSteps(state, cluster=Cluster(), start_pool=start_pool)
    with pytest.raises(RuntimeError, match="failed"):
        steps.enumerate()
    report_functions[0]()
    assert reports == ["solving"]


class InstantPool:
    """A pool whose workers finish at once."""

    size = 2

    def wait(self, refs: Sequence[Any]) -> list[Any]:
        return [refs[0]]


class RecordingSolver:
    """Solves nothing, and records the components that one worker or all workers were to solve."""

    min_shared_slots = 10
    max_single_slots = 1000

    def __init__(self, sizes: dict[int, int]) -> None:
        self.pool: Any = InstantPool()
        self.sizes = sizes
        self.single: list[int] = []
        self.shared: list[int] = []

    def count_slots(self, component: Component) -> int:
        return sum(self.sizes[tier] for tier in component.tiers)

    def is_large(self, component: Component) -> bool:
        return self.count_slots(component) >= 50

    def start_single(self, component: Component, worker: int) -> list[Any]:
        self.single.append(component.tiers[0])
        return [object()]

    def solve_shared(self, component: Component) -> None:
        self.shared.append(component.tiers[0])

    def finish(self, component: Component, replies: Any, makers: Any) -> None: ...
    def recover(self, loss: Exception) -> None: ...
    def discard_tier(self, tier: int) -> None: ...


@pytest.mark.parametrize(
    ("sizes", "single", "shared"),
    [
        ([60, 70, 80], [0, 1, 2], []),
        ([60, 70, 80, 20], [0, 1, 2, 3], []),
        ([60, 200], [], [0, 1]),  # otherwise one worker would wait for the other
        ([200], [], [0]),
        ([2000, 2000], [], [0, 1]),  # too large for one
    ],
)
def test_large_components_are_shared_if_there_are_fewer_than_workers(
    sizes: list[int], single: list[int], shared: list[int]
):
    solver = RecordingSolver(dict(enumerate(sizes)))
    Schedule(solver, [Component((tier,), True, ()) for tier in solver.sizes]).run()
    assert (solver.single, solver.shared) == (single, shared)


def test_components_that_become_ready_later_may_go_to_single_workers():
    solver = RecordingSolver({0: 200, 1: 60, 2: 60})
    Schedule(solver, [Component((0,), True, ()), *(Component((tier,), True, (0,)) for tier in (1, 2))]).run()
    assert (sorted(solver.single), solver.shared) == ([1, 2], [0])


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
def test_workers_enumerate_the_positions_that_they_will_solve(workers: int, tmp_path: Path):
    """The memo of a worker then contains the replies of a Python game's hooks that it needs."""
    expanded: list[list[int]] = [[] for _ in range(workers)]
    layouts: list[Layout] = []

    class WatchedPool(LocalPool):
        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if method == "expand_positions":
                expanded[worker] += arguments[0].positions.tolist()
            if method == "begin_share" and worker == 0:
                layouts.append(arguments[0].layout)
            return super().call(worker, method, *arguments, returns=returns)

    game = make_game(Doubling(), name="doubling")
    solve_locally(game, tmp_path / "table", workers, pool=WatchedPool(game, workers))
    assert len(layouts) == 14
    for worker in range(workers):
        owned: list[int] = []
        for layout in reversed(layouts):
            for tier, first, length in layout.units(worker):
                owned += range((1 << tier) + first, (1 << tier) + first + length)
        assert expanded[worker] == owned
