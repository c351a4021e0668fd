"""Registers the ray backend. Ray itself is loaded only once it is chosen, and named only in pool.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfectplay.game.spec import hookimpl
from perfectplay.table.backends import open_to_solve
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TableInfo
from perfectplay.table.store import Store

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.solve.options import Cluster
    from perfectplay.solve.solve import Solve


class RayBackend:
    """Workers on one machine or many; the table is an ordinary one, and grows tier by tier as with lmdb."""

    durable = True
    store = LmdbStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return open_to_solve(game, path, info)

    def read(self, path: Path) -> Store | None:
        return None  # lmdb does

    def solver(self, cluster: Cluster) -> Callable[..., Solve]:
        from perfectplay.cluster.driver import ClusterSolve
        from perfectplay.cluster.pool import load_ray

        load_ray()  # before anything is written
        return partial(ClusterSolve, cluster=cluster)


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("ray", RayBackend())
