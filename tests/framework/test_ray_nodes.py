"""Clusters that are there already: one that `ray start` made, and two simulated machines of which one is lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster as SimulatedCluster

from perfectplay.cluster import driver
from perfectplay.cluster.pool import RayPool
from perfectplay.errors import PerfectPlayError
from perfectplay.game.loading import load_game
from perfectplay.solve.options import Cluster
from perfectplay.solve.solve import solve_game

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


TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef0123456789abcdef"}
"""How a token is given to a head, and to those who join it."""


@contextmanager
def started_head(folder: str) -> Iterator[str]:
    """The address of a cluster that another process has started, as a user does."""
    options = ["--port=0", "--node-ip-address=127.0.0.1", "--num-cpus=2", "--object-store-memory=83886080"]
    start = "from ray.scripts.scripts import main; main()"
    command = [sys.executable, "-c", start, "start", "--head", "--block", f"--temp-dir={folder}", *options]
    said, address = Path(folder) / "head.log", Path(folder) / "ray_current_cluster"
    with said.open("w") as log:
        head = subprocess.Popen(
            [*command, "--include-dashboard=false", "--disable-usage-stats"],
            env={**os.environ, **TOKEN},
            stdout=log,
            stderr=log,
        )
    try:
        while not (address.exists() and address.read_text()):
            assert head.poll() is None, said.read_text()
            time.sleep(0.1)
        yield address.read_text()
        assert head.poll() is None, said.read_text()  # nobody has stopped it
    finally:
        head.send_signal(signal.SIGTERM)
        head.wait()


def test_a_cluster_is_joined_and_left_as_it_was(tmp_path: Path):
    """The second command needs both cores of the cluster: the first has given them back."""
    with tempfile.TemporaryDirectory(prefix="ray") as folder, started_head(folder) as address:
        where = ["--address", address, "--workers", "2", "--dir", str(tmp_path), "--json"]
        for command in (["morris", "--backend", "ray"], ["verify", "morris"]):
            whole = [sys.executable, "-m", "perfectplay", *command, "--men", "three", *where]
            done = subprocess.run(whole, env={**os.environ, **TOKEN}, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["workers"] == 2
        shown = subprocess.run(
            [sys.executable, "-m", "perfectplay", "morris", "--men", "three", "--dir", str(tmp_path), "--json"],
            capture_output=True,
            text=True,
        )
        assert json.loads(shown.stdout)["hash"] == "c7647ae41fac4eec"  # tests/golden/hashes.json


def test_where_no_cluster_is_one_line_says_so(tmp_path: Path):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(PerfectPlayError, match=f"nobody answers at {address} .*: start a cluster there with"):
            solve_game(
                load_game("morris", men="three"), backend="ray", directory=tmp_path, cluster=Cluster(address=address)
            )
