"""Workers in this process, one after the other: the algorithm without Ray, so that many games can be tried quickly."""

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
    """A value that was carried away and back, as Ray would."""

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
        given = [each.value if isinstance(each, Box) else each for each in arguments]
        try:
            answer = getattr(self._workers[worker], method)(*given)
        except DamagedMessage as error:  # raised by whoever gets it, as Ray would
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
    """The hash of the table that so many workers make."""
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
