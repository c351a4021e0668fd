"""Workers in this process, one after the other: the cluster's algorithm without Ray, to test many games quickly."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perfectplay.cluster.driver import ClusterSteps, SharingLimits
from perfectplay.cluster.messages import DamagedMessage
from perfectplay.cluster.pool import WorkerLost
from perfectplay.cluster.worker import Worker
from perfectplay.game.game import Game
from perfectplay.solve.options import Cluster, SolveOptions
from perfectplay.solve.solve import run_solve
from perfectplay.solve.steps import SolveState

SHARE_ALL = SharingLimits(min_slots=1, min_slots_python=1, min_slots_cyclic=1)
"""Components of any size are shared by all workers."""


class Box:
    """A value that was pickled and unpickled, as by Ray."""

    def __init__(self, value: Any) -> None:
        self.value = pickle.loads(pickle.dumps(value))


class LocalPool:
    def __init__(self, game: Game, workers: int) -> None:
        self._game, self._count = game, workers
        self.restart()

    @property
    def size(self) -> int:
        return len(self._workers)

    def put(self, value: Any) -> Box:
        return Box(value)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        values = [each.value if isinstance(each, Box) else pickle.loads(pickle.dumps(each)) for each in arguments]
        try:
            result = getattr(self._workers[worker], method)(*values)
        except DamagedMessage as error:  # raised when the result is fetched, as by Ray
            result = WorkerLost(str(error)) if returns == 1 else [WorkerLost(str(error)) for _ in range(returns)]
        return Box(result) if returns == 1 else [Box(each) for each in result]

    def wait(self, refs: Sequence[Box]) -> list[Box]:
        return [refs[0]]

    def get(self, refs: Sequence[Box]) -> list[Any]:
        values = [ref.value for ref in refs]
        for value in values:
            if isinstance(value, WorkerLost):
                raise value
        return values

    def restart(self) -> None:
        self._workers = [Worker(self._game, None) for _ in range(self._count)]

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class LocalSolution:
    """A game solved by workers in this process."""

    hash: str
    exchanged: int
    steps: ClusterSteps


def solve_locally(
    game: Game,
    directory: Path,
    workers: int,
    *,
    pool: LocalPool | None = None,
    limits: SharingLimits = SHARE_ALL,
    audit: float = 0.0,
) -> LocalSolution:
    cluster = Cluster(workers=workers, audit=audit)
    pool = pool or LocalPool(game, workers)
    created: list[ClusterSteps] = []

    def make_steps(state: SolveState) -> ClusterSteps:
        created.append(ClusterSteps(state, cluster=cluster, limits=limits, start_pool=lambda *_: pool))
        return created[0]

    solution = run_solve(game, SolveOptions(backend="ray", directory=directory, cluster=cluster), make_steps)
    solution.table.close()
    return LocalSolution(solution.hash, solution.exchanged or 0, created[0])
