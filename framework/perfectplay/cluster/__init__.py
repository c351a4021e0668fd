"""Solving on several machines: Ray workers share the tiers (docs/cluster.md).

This module registers the backend `ray`. It does not load the driver or Ray, so that listing the backends is fast.
"""

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
    from perfectplay.solve.steps import SolveState, Steps


class RayBackend:
    """Workers on one or several machines. The table is an ordinary LMDB table, written tier by tier."""

    durable = True
    store = LmdbStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return open_to_solve(game, path, info)

    def read(self, path: Path) -> Store | None:
        return None  # the lmdb backend reads these tables

    def make_steps_factory(self, cluster: Cluster) -> Callable[[SolveState], Steps]:
        from perfectplay.cluster.driver import ClusterSteps
        from perfectplay.cluster.pool import load_ray

        load_ray(cluster)  # fail before anything is written
        return partial(ClusterSteps, cluster=cluster)


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("ray", RayBackend())
