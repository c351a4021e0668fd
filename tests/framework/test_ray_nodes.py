"""Running clusters: one made by `ray start`, and two simulated machines of which one is lost."""

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
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from ray.cluster_utils import Cluster as SimulatedCluster

from perfectplay.cluster.driver import ClusterSteps, SharingLimits
from perfectplay.cluster.pool import RayPool
from perfectplay.errors import PerfectPlayError
from perfectplay.game.loading import load_game
from perfectplay.solve.options import Cluster, SolveOptions
from perfectplay.solve.solve import run_solve, solve_game

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 80 << 20, "include_dashboard": False}


@pytest.fixture
def machines() -> Iterator[SimulatedCluster]:
    cluster = SimulatedCluster(initialize_head=True, head_node_args=NODE)
    cluster.add_node(**NODE)
    yield cluster
    cluster.shutdown()


def test_a_lost_machine_costs_nothing_but_time(machines: SimulatedCluster, tmp_path: Path):
    sizes: list[int] = []

    class LosingPool(RayPool):
        def restart(self) -> None:
            super().restart()
            sizes.append(self.size)

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            if method == "run_level" and arguments[0].level == 3 and len(sizes) == 1 and machines.worker_nodes:
                machines.remove_node(next(iter(machines.worker_nodes)))
            return super().call(worker, method, *arguments, returns=returns)

    game, cluster = load_game("morris", men="three", flying=True), Cluster(workers=2, address=machines.address)
    limits = SharingLimits(min_slots=256, min_slots_cyclic=256)
    steps = partial(ClusterSteps, cluster=cluster, limits=limits, start_pool=LosingPool)
    solution = run_solve(game, SolveOptions(backend="ray", directory=tmp_path), steps)
    solution.table.close()
    assert sizes == [2, 1]
    assert solution.hash == "a181e47363db0ff0"  # tests/golden/hashes.json


TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef0123456789abcdef"}
"""The environment that sets a token for a head and for processes that join it."""


@contextmanager
def started_head(folder: str) -> Iterator[str]:
    """Start a cluster in another process, as a user does, and yield its address."""
    options = ["--port=0", "--node-ip-address=127.0.0.1", "--num-cpus=2", "--object-store-memory=83886080"]
    start = "from ray.scripts.scripts import main; main()"
    command = [sys.executable, "-c", start, "start", "--head", "--block", f"--temp-dir={folder}", *options]
    output, address = Path(folder) / "head.log", Path(folder) / "ray_current_cluster"
    with output.open("w") as log:
        head = subprocess.Popen(
            [*command, "--include-dashboard=false", "--disable-usage-stats"],
            env={**os.environ, **TOKEN},
            stdout=log,
            stderr=log,
        )
    try:
        while not (address.exists() and address.read_text()):
            assert head.poll() is None, output.read_text()
            time.sleep(0.1)
        yield address.read_text()
        assert head.poll() is None, output.read_text()  # the commands must not stop it
    finally:
        head.send_signal(signal.SIGTERM)
        head.wait()


def test_a_cluster_is_joined_and_left_as_it_was(tmp_path: Path):
    """The second command needs both cores of the cluster, so the first must have released them."""
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


def test_an_unreachable_cluster_is_reported_at_once(tmp_path: Path):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # without listening
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(PerfectPlayError, match=f"no Ray cluster is reachable at {address} .*ray start --head"):
            solve_game(
                load_game("morris", men="three"), backend="ray", directory=tmp_path, cluster=Cluster(address=address)
            )
