"""Two simulated machines, each with its own object store, of which one is lost in the middle of a component."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster as SimulatedCluster

from perfectplay.distributed import driver
from perfectplay.distributed.pool import RayPool
from perfectplay.loading import load_game
from perfectplay.solving.cluster import Cluster
from perfectplay.solving.strong import solve_game

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}


@pytest.fixture
def machines() -> Iterator[SimulatedCluster]:
    cluster = SimulatedCluster(initialize_head=True, head_node_args=NODE)
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


def test_a_lost_machine_costs_nothing_but_time(
    machines: SimulatedCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    sizes: list[int] = []

    class Losing(RayPool):
        def revive(self) -> None:
            super().revive()
            sizes.append(self.size)

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if method == "level" and arguments[0] == 3 and len(sizes) == 1 and machines.worker_nodes:
                machines.remove_node(next(iter(machines.worker_nodes)))
            return super().call(worker, method, *arguments, returns=returns)

    monkeypatch.setattr(driver, "RayPool", Losing)
    monkeypatch.setattr(driver, "SHARED_SLOTS", 256)
    monkeypatch.setattr(driver, "WORTH_SHARING", 256)
    game, cluster = load_game("morris", men="three", flying=True), Cluster(workers=2, address=machines.address)
    solution = solve_game(game, backend="ray", directory=tmp_path, cluster=cluster)
    solution.table.close()
    assert sizes == [2, 1]
    assert solution.hash == "a181e47363db0ff0"  # tests/golden/hashes.json
