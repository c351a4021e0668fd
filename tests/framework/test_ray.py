"""Workers as Ray's actors. What they compute is tested in tests/native/test_shares.py, without Ray."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import ray

from perfectplay.cluster import driver
from perfectplay.cluster.checkpoints import Checkpoints
from perfectplay.cluster.messages import GameSpec
from perfectplay.cluster.pool import RayPool
from perfectplay.cluster.verification import verify_by_workers
from perfectplay.cluster.worker import Worker
from perfectplay.errors import Interrupted, UsageError
from perfectplay.game.loading import load_game, make_game
from perfectplay.progress import Progress
from perfectplay.solve.options import Cluster
from perfectplay.solve.solve import solve_game

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

DOTS = Path(__file__).parents[2] / "docs" / "examples" / "dots.py"
SOLVE = [sys.executable, "-m", "perfectplay"]


@pytest.fixture(scope="module")
def little_ray() -> Iterator[None]:
    """A Ray that takes little: two cores, and an object store of the least size."""
    little = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}
    ray.init(address="local", log_to_driver=False, **little)
    yield
    ray.shutdown()


class Killing(RayPool):
    """Kills a worker in the middle of a component."""

    victims: list[int]
    steps: list[str]
    """What the first worker was asked for."""

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        answer = super().call(worker, method, *arguments, returns=returns)
        if worker == 0:
            self.steps.append(method)
        if method == "level" and arguments[0] == 3 and not self.victims:
            self.victims.append(self.pids[worker])
            os.kill(self.victims[0], signal.SIGKILL)
        return answer


@pytest.mark.parametrize("saved", [False, True], ids=["", "since the last checkpoint"])
def test_a_killed_worker_costs_nothing_but_time(
    saved: bool, little_ray: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    Killing.victims, Killing.steps = [], []
    monkeypatch.setattr(driver, "RayPool", Killing)
    monkeypatch.setattr(driver, "SHARED_SLOTS", 256)
    monkeypatch.setattr(driver, "WORTH_SHARING", 256)
    turns = cycle([saved, False])
    monkeypatch.setattr(Checkpoints, "is_due", property(lambda _: next(turns)))
    game = load_game("morris", men="three", flying=True)
    solution = solve_game(game, backend="ray", directory=tmp_path, cluster=Cluster(workers=2))
    solution.table.close()
    assert len(Killing.victims) == 1
    assert Killing.steps.count("restore") == saved
    assert solution.workers == 2
    assert solution.exchanged
    assert solution.hash == "a181e47363db0ff0"  # tests/golden/hashes.json


def test_a_stopped_solve_is_resumed_and_proven(little_ray: None, tmp_path: Path):
    game, stop = load_game("morris", men="three"), threading.Event()

    def stop_early(progress: Progress) -> None:
        if progress.tiers_done:
            stop.set()

    cluster = Cluster(workers=2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="ray", directory=tmp_path, cluster=cluster, progress=stop_early, stop=stop)
    solution = solve_game(game, backend="ray", directory=tmp_path, cluster=cluster)
    report = verify_by_workers(solution.table, cluster)
    solution.table.close()
    assert solution.resumed
    assert solution.hash == "c7647ae41fac4eec"
    assert (report.checked, report.bad, report.workers) == (solution.stats.positions, 0, 2)


DYING = """
import os, signal
from perfectplay.cluster import driver, writer
from perfectplay.cli import main

class Pool(driver.RayPool):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        print(*self.pids, flush=True)

class Dying(writer.Writer):
    def write(self, record, blocks):
        super().write(record, blocks)
        self.drain()
        if record.tier < 3:
            os.kill(os.getpid(), signal.SIGKILL)

driver.RayPool, driver.Writer = Pool, Dying
main()
"""
"""A driver that is killed when a part of the tiers is written."""


def test_a_killed_driver_takes_its_workers_along_and_the_solve_is_resumed(little_ray: None, tmp_path: Path):
    command = ["morris", "--men", "three", "--backend", "ray", "--workers", "2", "--dir", str(tmp_path)]
    died = subprocess.run([sys.executable, "-c", DYING, *command], capture_output=True, text=True)
    assert died.returncode == -signal.SIGKILL, died.stderr
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in died.stdout.split()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in died.stdout.split())
    solution = solve_game(
        load_game("morris", men="three"), backend="ray", directory=tmp_path, cluster=Cluster(workers=2)
    )
    solution.table.close()
    assert solution.resumed
    assert solution.hash == "c7647ae41fac4eec"


def test_the_command_starts_ray_and_stops_it(tmp_path: Path):
    """A game in Python, from a file; afterwards nothing of Ray is left, and the table is an ordinary one."""
    command = [*SOLVE, str(DOTS), "--dir", str(tmp_path), "--json"]
    done = subprocess.run([*command, "--backend", "ray", "--workers", "2"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["workers"] == 2
    assert made["bytes_exchanged"] > 0
    right = solve_game(load_game(str(DOTS)), save=False)
    right.table.close()
    assert made["hash"] == right.hash
    again = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert again["already_solved"]


STARTING_TWICE = """
import ray._private.services as services
from perfectplay.cli import main

start, started = services.start_ray_process, []

def start_badly(command, kind, *arguments, **more):
    made = start(command, kind, *arguments, **more)
    started.append(made.process.pid)
    if len(started) == 2:
        made.process.kill()
    return made

services.start_ray_process = start_badly
try:
    main()
finally:
    print(*started)
"""
"""The second process of Ray's own, which looks after this machine, ends at once the first time."""


def test_a_ray_that_does_not_start_is_started_again(tmp_path: Path):
    """On a machine with much to do its processes wait for each other, but only for so long."""
    command = [sys.executable, "-c", STARTING_TWICE, "morris", "--men", "three", "--dir", str(tmp_path)]
    done = subprocess.run([*command, "--backend", "ray", "--workers", "1", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    report, pids = done.stdout.rsplit("\n}\n", 1)
    assert json.loads(f"{report}}}")["hash"] == "c7647ae41fac4eec"
    first, _, *again = pids.split()
    assert len(again) == 2
    assert not Path(f"/proc/{first}").exists()


def test_what_workers_cannot_do_is_refused_in_one_line(tmp_path: Path):
    game = load_game("morris", men="three")
    with pytest.raises(UsageError, match="has workers, not threads: use --workers 2"):
        solve_game(game, backend="ray", directory=tmp_path, threads=2)
    with pytest.raises(UsageError, match="are for --backend ray"):
        solve_game(game, save=False, cluster=Cluster(workers=2))
    with pytest.raises(UsageError, match="--workers 100000 is too many for this machine"):
        Cluster(workers=100_000)
    both = [*SOLVE, "verify", "morris", "--threads", "2", "--workers", "2"]
    refused = subprocess.run(both, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "--threads cannot be combined with --workers" in refused.stderr
    made_here = make_game(import_module("perfectplay_gobblet.plugin"), name="here")
    with pytest.raises(UsageError, match="here is not installed"):
        solve_game(made_here, backend="ray", directory=tmp_path)


def test_a_worker_says_why_it_cannot_work_and_names_the_file_that_the_user_has(little_ray: None, tmp_path: Path):
    game = load_game(str(DOTS))
    away = GameSpec("away/dots.py", game.options, game.rules_version, DOTS.read_text(encoding="utf-8"))
    assert "`solve check away/dots.py" in Worker(away, None).game.advice
    missing = GameSpec("missing", {}, 1)
    with pytest.raises(UsageError, match="missing"):
        RayPool(Cluster(workers=1), missing, None, threading.Event(), lambda: None)


def test_without_ray_one_line_says_what_to_install(tmp_path: Path):
    script = "import sys; sys.modules['ray'] = None; from perfectplay.cli import main; main()"
    command = [sys.executable, "-c", script, "morris", "--men", "three", "--backend", "ray", "--dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'perfectplay[ray]'" in done.stderr
    assert not list(tmp_path.iterdir())
