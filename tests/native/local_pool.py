"""Workers that run one after the other in this process, without Ray, so that many games can be tested quickly."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from perfectplay.cluster.backend import RayBackend
from perfectplay.cluster.driver import ClusterSolve
from perfectplay.cluster.messages import DamagedMessage
from perfectplay.cluster.pool import WorkerLost
from perfectplay.cluster.worker import Worker
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.solve.options import Cluster
from perfectplay.solve.solve import new_info
from perfectplay_native.engine import Propagation


class Box:
    """A value after serialization, as with Ray."""

    def __init__(self, value: Any) -> None:
        self.value = pickle.loads(pickle.dumps(value))


class LocalPool:
    def __init__(self, game: Game, workers: int) -> None:
        self._game, self._count = game, workers
        self.revive()

    @property
    def size(self) -> int:
        return len(self._workers)

    def put(self, value: Any) -> Box:
        return Box(value)

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        values = [each.value if isinstance(each, Box) else each for each in arguments]
        try:
            answer = getattr(self._workers[worker], method)(*values)
        except DamagedMessage as error:  # raised by the receiver of the result, as with Ray
            answer = WorkerLost(str(error)) if returns == 1 else [WorkerLost(str(error)) for _ in range(returns)]
        return Box(answer) if returns == 1 else [Box(each) for each in answer]

    def wait(self, refs: Sequence[Box]) -> list[Box]:
        return [refs[0]]

    def get(self, refs: Sequence[Box]) -> list[Any]:
        values = [ref.value for ref in refs]
        for value in values:
            if isinstance(value, WorkerLost):
                raise value
        return values

    def revive(self) -> None:
        self._workers = [Worker(self._game, None) for _ in range(self._count)]

    def close(self) -> None:
        pass


def solve_locally(
    game: Game, path: Path, workers: int, *, pool: Any = None, audit: float = 0.0
) -> tuple[str, ClusterSolve]:
    """Solve a game with workers. Returns the hash of the table, and the solve."""
    kernel = game_kernel(game)
    store = RayBackend().open(game, path, new_info(game, kernel))
    solve = ClusterSolve(
        *(game, kernel, store, None, None, Propagation.AUTO, None, threading.Event(), lambda shape: None),
        cluster=Cluster(workers=workers, audit=audit),
    )
    solve._pool = pool or LocalPool(game, workers)
    try:
        solve.run()
        return store.info.hash or "", solve
    finally:
        solve.close()
        store.close()
