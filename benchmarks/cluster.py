"""Solves whole games with Ray in every way that docs/cluster.md speaks of, and shows that the table is always the same.

    python benchmarks/cluster.py hashes GAME [--workers 1 --workers 2 ...]   one node, so many workers
    python benchmarks/cluster.py nodes GAME       two simulated nodes, each with its own object store
    python benchmarks/cluster.py tiny GAME        an object store that must spill to disk
    python benchmarks/cluster.py kills GAME [N]   N random workers killed, in as many solves as that takes
    python benchmarks/cluster.py lost-node GAME   a simulated node dies
    python benchmarks/cluster.py ratios           what two workers gain, and cost
    python benchmarks/cluster.py writing          how quickly the driver writes a table

GAME is quantik, gobblet, or connect4-python (docs/examples/connect4-python, on a board of 4×4). The quick version of
this, on small games, is among the tests. Ratios are of Gobblet and of Connect Four in Python on a board of 4×6, with
7,917,955 positions, by the command itself, the start and end of Ray included: some four minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ray.cluster_utils import Cluster as SimulatedCluster

from perfectplay.cluster import checkpoints, driver
from perfectplay.cluster.pool import RayPool
from perfectplay.cluster.writer import record_of
from perfectplay.game.engine import game_kernel
from perfectplay.game.loading import load_game
from perfectplay.solve.options import Cluster
from perfectplay.solve.solve import Solution, new_info, solve_game
from perfectplay.table.backends import open_to_solve
from perfectplay_native.limits import BLOCK_SLOTS

ROOT = Path(__file__).parent.parent
PYTHON_GAME = ROOT / "docs" / "examples" / "connect4-python" / "perfectplay_connect4_python" / "plugin.py"
GAMES: dict[str, tuple[str, dict[str, object]]] = {
    "quantik": ("quantik", {}),
    "gobblet": ("gobblet", {}),
    "connect4-python": (str(PYTHON_GAME), {"width": 4, "height": 4}),
}
LARGE_BOARD = ["--width", "4", "--height", "6"]
LEAST_STORE = 80 << 20
"""About the least that Ray allows."""

SECONDS_BETWEEN_CHECKPOINTS = 2.0
"""Where something dies: so that they are needed."""


def solve(name: str, cluster: Cluster) -> Solution:
    word, options = GAMES[name]
    with tempfile.TemporaryDirectory() as directory:
        solution = solve_game(load_game(word, **options), backend="ray", directory=Path(directory), cluster=cluster)
        solution.table.close()
    return solution


def right_hash(name: str) -> str:
    golden = json.loads((ROOT / "tests" / "golden" / "hashes.json").read_text())
    if name in golden:
        return str(golden[name])
    word, options = GAMES[name]
    solution = solve_game(load_game(word, **options), save=False)
    solution.table.close()
    return solution.hash


def tell(what: str, solution: Solution, right: str) -> bool:
    same = solution.hash == right
    per_position = (solution.exchanged or 0) / solution.stats.positions
    verdict = "the same" if same else f"WRONG, should be {right}"
    took = f"{solution.seconds:.1f} s, {solution.cpu_seconds:.1f} CPU-s"
    print(f"{what}: hash {solution.hash} {verdict}; {took}, {per_position:.2f} bytes exchanged a position", flush=True)
    return same


class Nodes:
    """Simulated nodes of one core each; with few, small object stores."""

    def __init__(self, *stores: int) -> None:
        first, *others = stores
        self.cluster = SimulatedCluster(
            initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": first}
        )
        self.others = [self.cluster.add_node(num_cpus=1, object_store_memory=size) for size in others]

    def __enter__(self) -> Nodes:
        return self

    def __exit__(self, *error: object) -> None:
        self.cluster.shutdown()

    def lose_one(self) -> bool:
        self.cluster.remove_node(self.others.pop())
        print("lost a node", flush=True)
        return True


class WatchedPool(RayPool):
    """Lets another thread know the workers, and counts how often they begin again with a checkpoint."""

    current: RayPool | None = None
    resumed = 0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        WatchedPool.current = self

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        WatchedPool.resumed += worker == 0 and method == "restore"
        return super().call(worker, method, *arguments, returns=returns)


def disturb(seconds: Callable[[], float], times: int, act: Callable[[], bool]) -> threading.Thread:
    """Do something while a solve runs, so many seconds apart; the thread ends when it has succeeded so many times."""

    def run() -> None:
        done = 0
        while done < times:
            time.sleep(seconds())
            if WatchedPool.current is not None:
                done += act()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def kill_a_worker(chance: random.Random) -> bool:
    """Whether a worker was there to be killed."""
    pool = WatchedPool.current
    if pool is None or not pool.pids:
        return False
    try:
        os.kill(victim := chance.choice(pool.pids), signal.SIGKILL)
    except ProcessLookupError:
        return False
    print(f"killed worker {victim}", flush=True)
    return True


def timed(*command: str) -> dict[str, Any]:
    """What a solve says, and how long the whole command took."""
    with tempfile.TemporaryDirectory() as directory:
        started = time.monotonic()
        whole = [sys.executable, "-m", "perfectplay", *command, "--dir", directory, "--json"]
        done = subprocess.run(whole, capture_output=True, text=True, check=True)
        said = {**json.loads(done.stdout), "wall": time.monotonic() - started}
    what = " ".join(word for word in command if not word.endswith(".py"))
    each = 1e9 * said["cpu_seconds"] / said["positions"]
    sent = f", {said['bytes_per_position']:.2f} bytes exchanged a position" if "workers" in said else ""
    took = f"{said['wall']:.1f} s, {said['cpu_seconds']:.1f} CPU-s: {each:.0f} ns a position"
    print(f"{what}: {took}{sent}; load {os.getloadavg()[0]:.1f}", flush=True)
    return said


def show_ratios() -> bool:
    """Whether two workers gain what they should, and all hashes are the same."""
    ray = ["--backend", "ray", "--workers"]
    memory, one, two = (timed("gobblet", *how) for how in (["--threads", "2"], [*ray, "1"], [*ray, "2"]))
    slow_one, slow_two = (timed(str(PYTHON_GAME), *LARGE_BOARD, *ray, workers) for workers in "12")
    ratios = [
        ("Gobblet, CPU of 2 workers : of 2 threads in memory", two["cpu_seconds"] / memory["cpu_seconds"], 1.35),
        ("Gobblet, wall time of 2 workers : of 1", two["wall"] / one["wall"], 0.65),
        ("Connect Four in Python, wall time of 2 workers : of 1", slow_two["wall"] / slow_one["wall"], 0.6),
    ]
    for what, ratio, most in ratios:
        print(f"{what}: {ratio:.2f} (at most {most})")
    same = memory["hash"] == one["hash"] == two["hash"] and slow_one["hash"] == slow_two["hash"]
    print("all hashes are the same" if same else "the hashes DIFFER")
    return same and all(ratio <= most for _, ratio, most in ratios)


def show_writing() -> None:
    """A quarter of a gigabyte of blocks as workers make them, three times."""
    game = load_game("gobblet")
    blocks = [np.random.default_rng(1).integers(0, 60, BLOCK_SLOTS, dtype=np.uint8)] * 64
    for _ in range(3):
        with tempfile.TemporaryDirectory() as directory:
            store = open_to_solve(game, Path(directory) / "table", new_info(game, game_kernel(game)))
            started = time.monotonic()
            for tier in range(4):
                store.write_tiers([(record_of(tier, 64 * BLOCK_SLOTS, blocks), blocks)])
            speed = 256 * BLOCK_SLOTS / (time.monotonic() - started)
            store.close()
        print(f"{speed / 1e6:.0f} MB/s; load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["hashes", "nodes", "tiny", "kills", "lost-node", "ratios", "writing"])
    parser.add_argument("game", choices=GAMES, nargs="?", default="gobblet")
    parser.add_argument("times", nargs="?", type=int, default=20)
    parser.add_argument("--workers", type=int, action="append")
    given = parser.parse_args()
    if given.what == "ratios":
        sys.exit(not show_ratios())
    if given.what == "writing":
        return show_writing()
    driver.RayPool = WatchedPool  # type: ignore[misc]
    if given.what in ("kills", "lost-node"):
        checkpoints.CHECKPOINT_SECONDS = SECONDS_BETWEEN_CHECKPOINTS
    right, chance = right_hash(given.game), random.Random(given.times)
    good = True
    if given.what == "hashes":
        for workers in given.workers or [1, 2, 4]:
            good &= tell(f"{workers} workers", solve(given.game, Cluster(workers=workers)), right)
    elif given.what == "kills":
        killing = disturb(lambda: chance.uniform(1, 3), given.times, lambda: kill_a_worker(chance))
        while killing.is_alive():  # a quick game is solved again until that many were killed
            good &= tell("killed", solve(given.game, Cluster(workers=2)), right)
    else:
        stores = (LEAST_STORE, LEAST_STORE) if given.what == "tiny" else (1 << 30, 1 << 30)
        with Nodes(*stores) as nodes:
            if given.what == "lost-node":
                disturb(lambda: 8.0, 1, nodes.lose_one)
            good = tell(given.what, solve(given.game, Cluster(workers=2, address=nodes.cluster.address)), right)
    if WatchedPool.resumed:
        print(f"{WatchedPool.resumed} times back to a checkpoint")
    sys.exit(not good)


if __name__ == "__main__":
    main()
