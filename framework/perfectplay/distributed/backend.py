"""Registers the ray backend. Ray itself is loaded only once it is chosen, and named only in pool.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perfectplay.hookspecs import hookimpl
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.records import TableInfo
from perfectplay.tables.repairing import open_to_solve
from perfectplay.tables.store import Store

if TYPE_CHECKING:
    from perfectplay.game import Game
    from perfectplay.solving.cluster import Cluster
    from perfectplay.solving.strong import Solve


class RayBackend:
    """Workers on one machine or many; the table is an ordinary one, and grows tier by tier as with lmdb."""

    durable = True
    store = LmdbStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return open_to_solve(game, path, info)

    def read(self, path: Path) -> Store | None:
        return None  # lmdb does

    def solver(self, cluster: Cluster) -> Callable[..., Solve]:
        from perfectplay.distributed.driver import ClusterSolve
        from perfectplay.distributed.pool import load_ray

        load_ray()  # before anything is written
        return partial(ClusterSolve, cluster=cluster)


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("ray", RayBackend())
