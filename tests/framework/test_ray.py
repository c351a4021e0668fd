"""Workers as Ray actors. tests/native/test_shares.py tests their results without Ray."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import ray

from perfectplay.cluster.component import Checkpoints
from perfectplay.cluster.driver import ClusterSteps, SharingLimits
from perfectplay.cluster.messages import GameSource
from perfectplay.cluster.pool import RayPool
from perfectplay.cluster.verification import verify_with_workers
from perfectplay.cluster.worker import Worker
from perfectplay.errors import Interrupted, UsageError
from perfectplay.game.loading import load_game, make_game
from perfectplay.solve.options import Cluster, SolveOptions
from perfectplay.solve.solve import run_solve, solve_game
from perfectplay.threads import Progress

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own

DOTS = Path(__file__).parents[2] / "docs" / "examples" / "dots.py"
SOLVE = [sys.executable, "-m", "perfectplay"]


@pytest.fixture(scope="module")
def small_ray() -> Iterator[None]:
    """A Ray with two cores and an object store of the smallest size."""
    size = {"num_cpus": 2, "object_store_memory": 80 << 20, "include_dashboard": False}
    ray.init(address="local", log_to_driver=False, **size)
    yield
    ray.shutdown()


class KillingPool(RayPool):
    """Kills a worker in the middle of a component."""

    victims: list[int]
    calls: list[str]
    """The methods called on the first worker."""

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        result = super().call(worker, method, *arguments, returns=returns)
        if worker == 0:
            self.calls.append(method)
        if method == "run_level" and arguments[0].level == 3 and not self.victims:
            self.victims.append(self.pids[worker])
            os.kill(self.victims[0], signal.SIGKILL)
        return result


@pytest.mark.parametrize("saved", [False, True], ids=["", "since the last checkpoint"])
def test_a_killed_worker_costs_nothing_but_time(
    saved: bool, small_ray: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    KillingPool.victims, KillingPool.calls = [], []
    turns = cycle([saved, False])
    monkeypatch.setattr(Checkpoints, "is_due", property(lambda _: next(turns)))
    game = load_game("morris", men="three", flying=True)
    limits = SharingLimits(min_slots=256, min_slots_cyclic=256)
    steps = partial(ClusterSteps, cluster=Cluster(workers=2), limits=limits, start_pool=KillingPool)
    solution = run_solve(game, SolveOptions(backend="ray", directory=tmp_path), steps)
    solution.table.close()
    assert len(KillingPool.victims) == 1
    assert KillingPool.calls.count("restore_values") == saved
    assert solution.workers == 2
    assert solution.exchanged
    assert solution.hash == "a181e47363db0ff0"  # tests/golden/hashes.json


def test_a_stopped_solve_is_resumed_and_verified(small_ray: None, tmp_path: Path):
    game, stop = load_game("morris", men="three"), threading.Event()

    def stop_early(progress: Progress) -> None:
        if progress.tiers_done:
            stop.set()

    cluster = Cluster(workers=2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="ray", directory=tmp_path, cluster=cluster, progress=stop_early, stop=stop)
    solution = solve_game(game, backend="ray", directory=tmp_path, cluster=cluster)
    report = verify_with_workers(solution.table, cluster)
    solution.table.close()
    assert solution.resumed
    assert solution.hash == "c7647ae41fac4eec"
    assert (report.checked, report.bad, report.workers) == (solution.stats.positions, 0, 2)


DYING = """
import os, signal
from perfectplay.cluster import driver
from perfectplay.cli import main

class DyingWriter(driver.TableWriter):
    def write(self, record, blocks):
        super().write(record, blocks)
        self.drain()
        if record.tier < 3:
            os.kill(os.getpid(), signal.SIGKILL)

start = driver.ClusterSteps.solve_components

def print_pids_and_start(steps):
    print(*steps.pool.pids, flush=True)
    start(steps)

driver.ClusterSteps.solve_components, driver.TableWriter = print_pids_and_start, DyingWriter
main()
"""
"""A driver that is killed when it has written a part of the tiers."""


def test_the_workers_of_a_killed_driver_end_and_the_solve_is_resumed(small_ray: None, tmp_path: Path):
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
    """Solve a game in a Python file; the table can be read without Ray."""
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


WATCHED = """
import json, os, sys
from perfectplay.cluster import driver
from perfectplay.cli import main

start = driver.ClusterSteps.solve_components

def look_and_start(steps):
    _ = steps.pool
    import psutil  # Ray brings it
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    addresses = {each.laddr.ip for one in family for each in one.net_connections("inet") if each.status == "LISTEN"}
    token = os.environ["RAY_AUTH_TOKEN"]
    json.dump({"addresses": sorted(addresses), "mode": os.environ["RAY_AUTH_MODE"], "token": token}, sys.stderr)
    print(file=sys.stderr)
    start(steps)

driver.ClusterSteps.solve_components = look_and_start
main()
"""
"""A driver that prints where Ray listens."""


def test_a_local_ray_is_private_and_leaves_nothing_behind(tmp_path: Path, request: pytest.FixtureRequest):
    temporary, home = Path(tempfile.mkdtemp()), tmp_path / "home"  # Ray needs a short path
    request.addfinalizer(temporary.rmdir)  # fails if anything is left
    home.mkdir()
    arguments = ["morris", "--men", "three", "--backend", "ray", "--workers", "1", "--dir", str(tmp_path / "tables")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    environment |= {"HOME": str(home), "RAY_TMPDIR": str(temporary)}
    command = [sys.executable, "-c", WATCHED, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    report = json.loads(next(line for line in done.stderr.splitlines() if line.startswith("{")))
    assert {address.removeprefix("::ffff:") for address in report["addresses"]} == {"127.0.0.1"}
    assert report["mode"] == "token"
    assert len(report["token"]) == 64
    assert not (home / ".ray").exists(), "no token is stored"


def test_options_that_workers_do_not_support_are_refused(tmp_path: Path):
    game = load_game("morris", men="three")
    with pytest.raises(UsageError, match=r"workers, not threads.*--workers 2"):
        solve_game(game, backend="ray", directory=tmp_path, threads=2)
    with pytest.raises(UsageError, match=r"--workers.*--backend ray"):
        solve_game(game, save=False, cluster=Cluster(workers=2))
    with pytest.raises(UsageError, match="--workers 100000 is too many"):
        Cluster(workers=100_000)
    both = [*SOLVE, "verify", "morris", "--threads", "2", "--workers", "2"]
    refused = subprocess.run(both, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "--threads" in refused.stderr
    assert refused.stderr.count("\n") == 1
    made_here = make_game(import_module("perfectplay_gobblet.plugin"), name="here")
    with pytest.raises(UsageError, match="here is not installed"):
        solve_game(made_here, backend="ray", directory=tmp_path)


def test_a_worker_reports_why_it_cannot_start_and_names_the_users_file(small_ray: None, tmp_path: Path):
    game = load_game(str(DOTS))
    away = GameSource("away/dots.py", game.options, game.rules_version, DOTS.read_text(encoding="utf-8"))
    assert "`solve check away/dots.py" in Worker(away, None).game.advice
    missing = GameSource("missing", {}, 1)
    with pytest.raises(UsageError, match="missing"):
        RayPool(Cluster(workers=1), missing, None, threading.Event(), lambda: None)


def test_without_ray_the_error_names_the_package_to_install(tmp_path: Path):
    script = "import sys; sys.modules['ray'] = None; from perfectplay.cli import main; main()"
    command = [sys.executable, "-c", script, "morris", "--men", "three", "--backend", "ray", "--dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'perfectplay[ray]'" in done.stderr
    assert not list(tmp_path.iterdir())
