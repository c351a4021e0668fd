"""Solves whole games with Ray in every way that docs/cluster.md describes, and compares the hash of the table.

    python benchmarks/cluster.py hashes GAME [--workers 1 --workers 2 ...]   one node, each number of workers
    python benchmarks/cluster.py nodes GAME       two simulated nodes, each with its own object store
    python benchmarks/cluster.py tiny GAME        an object store that must spill to disk
    python benchmarks/cluster.py kills GAME [N]   N random workers killed, in as many solves as necessary
    python benchmarks/cluster.py lost-node GAME   a simulated node dies
    python benchmarks/cluster.py ratios           time and cost of two workers compared with one
    python benchmarks/cluster.py writing          speed at which the driver writes a table

GAME is quantik, gobblet, or connect4 (on a board of 4×4). The tests contain a quick version with small games. `ratios`
solves Gobblet, and Connect Four on a board of 4×6 with `--no-compile` (7,917,955 positions), by the command and
including the start and end of Ray. It takes about four minutes on two cores.
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
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ray.cluster_utils import Cluster as SimulatedCluster

from perfectplay.cluster.driver import ClusterSteps, SharingLimits
from perfectplay.cluster.pool import RayPool
from perfectplay.cluster.transfer import make_record
from perfectplay.game.engine import game_kernel
from perfectplay.game.loading import load_game
from perfectplay.solve.options import Cluster, SolveOptions
from perfectplay.solve.solve import Solution, new_info, run_solve, solve_game
from perfectplay.table.backends import open_to_solve
from perfectplay_native.limits import BLOCK_SLOTS

ROOT = Path(__file__).parent.parent
GAMES: dict[str, tuple[str, dict[str, object]]] = {
    "quantik": ("quantik", {}),
    "gobblet": ("gobblet", {}),
    "connect4": ("connect4", {"width": 4, "height": 4}),
}
IN_PYTHON = ["connect4", "--width", "4", "--height", "6", "--no-compile"]
SMALLEST_STORE = 80 << 20
"""About the smallest object store that Ray allows, in bytes."""

FREQUENT_CHECKPOINTS = SharingLimits(checkpoint_seconds=2.0)
"""For runs in which workers die, so that checkpoints are restored."""


def solve(name: str, cluster: Cluster, limits: SharingLimits | None = None) -> Solution:
    word, options = GAMES[name]
    steps = partial(ClusterSteps, cluster=cluster, limits=limits, start_pool=WatchedPool)
    with tempfile.TemporaryDirectory() as directory:
        solution = run_solve(load_game(word, **options), SolveOptions(backend="ray", directory=Path(directory)), steps)
        solution.table.close()
    return solution


def expected_hash(name: str) -> str:
    golden = json.loads((ROOT / "tests" / "golden" / "hashes.json").read_text())
    if name in golden:
        return str(golden[name])
    word, options = GAMES[name]
    solution = solve_game(load_game(word, **options), save=False)
    solution.table.close()
    return solution.hash


def report(what: str, solution: Solution, expected: str) -> bool:
    """Print the result of a solve; return whether its hash is the expected one."""
    same = solution.hash == expected
    per_position = (solution.exchanged or 0) / solution.stats.positions
    verdict = "correct" if same else f"WRONG, should be {expected}"
    cost = f"{solution.seconds:.1f} s, {solution.cpu_seconds:.1f} CPU-s"
    print(
        f"{what}: hash {solution.hash} {verdict}; {cost}, {per_position:.2f} bytes exchanged per position", flush=True
    )
    return same


class Nodes:
    """Simulated nodes with one core each and object stores of the given sizes."""

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
    """Makes the workers known to another thread, and counts restored checkpoints."""

    current: RayPool | None = None
    restores = 0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        WatchedPool.current = self

    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        WatchedPool.restores += worker == 0 and method == "restore_values"
        return super().call(worker, method, *arguments, returns=returns)


def disturb(seconds: Callable[[], float], times: int, act: Callable[[], bool]) -> threading.Thread:
    """Call `act` every few seconds while a solve runs; the thread ends when it has succeeded `times` times."""

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
    """Kill a random worker; return whether there was one."""
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
    """Return the JSON summary of a solve with the time of the whole command."""
    with tempfile.TemporaryDirectory() as directory:
        started = time.monotonic()
        whole = [sys.executable, "-m", "perfectplay", *command, "--dir", directory, "--json"]
        done = subprocess.run(whole, capture_output=True, text=True, check=True)
        summary = {**json.loads(done.stdout), "wall": time.monotonic() - started}
    what = " ".join(command)
    each = 1e9 * summary["cpu_seconds"] / summary["positions"]
    sent = f", {summary['bytes_per_position']:.2f} bytes exchanged per position" if "workers" in summary else ""
    cost = f"{summary['wall']:.1f} s, {summary['cpu_seconds']:.1f} CPU-s: {each:.0f} ns per position"
    print(f"{what}: {cost}{sent}; load {os.getloadavg()[0]:.1f}", flush=True)
    return summary


def show_ratios() -> bool:
    """Print the ratios; return whether they are within their limits and all hashes agree."""
    ray = ["--backend", "ray", "--workers"]
    memory, one, two = (timed("gobblet", *how) for how in (["--threads", "2"], [*ray, "1"], [*ray, "2"]))
    slow_one, slow_two = (timed(*IN_PYTHON, *ray, workers) for workers in "12")
    ratios = [
        ("Gobblet, CPU of 2 workers : of 2 threads in memory", two["cpu_seconds"] / memory["cpu_seconds"], 1.35),
        ("Gobblet, wall time of 2 workers : of 1", two["wall"] / one["wall"], 0.65),
        ("Connect Four in Python, wall time of 2 workers : of 1", slow_two["wall"] / slow_one["wall"], 0.6),
    ]
    for what, ratio, limit in ratios:
        print(f"{what}: {ratio:.2f} (at most {limit})")
    same = memory["hash"] == one["hash"] == two["hash"] and slow_one["hash"] == slow_two["hash"]
    print("all hashes are the same" if same else "the hashes DIFFER")
    return same and all(ratio <= limit for _, ratio, limit in ratios)


def show_writing() -> None:
    """Write 256 MiB of blocks as workers make them, three times."""
    game = load_game("gobblet")
    blocks = [np.random.default_rng(1).integers(0, 60, BLOCK_SLOTS, dtype=np.uint8)] * 64
    for _ in range(3):
        with tempfile.TemporaryDirectory() as directory:
            store = open_to_solve(game, Path(directory) / "table", new_info(game, game_kernel(game)))
            started = time.monotonic()
            for tier in range(4):
                store.write_tiers([(make_record(tier, 64 * BLOCK_SLOTS, blocks), blocks)])
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
    expected, chance = expected_hash(given.game), random.Random(given.times)
    limits = FREQUENT_CHECKPOINTS if given.what in ("kills", "lost-node") else None
    good = True
    if given.what == "hashes":
        for workers in given.workers or [1, 2, 4]:
            good &= report(f"{workers} workers", solve(given.game, Cluster(workers=workers)), expected)
    elif given.what == "kills":
        killing = disturb(lambda: chance.uniform(1, 3), given.times, lambda: kill_a_worker(chance))
        while killing.is_alive():  # solve again until that many workers were killed
            good &= report("killed", solve(given.game, Cluster(workers=2), limits), expected)
    else:
        stores = (SMALLEST_STORE, SMALLEST_STORE) if given.what == "tiny" else (1 << 30, 1 << 30)
        with Nodes(*stores) as nodes:
            if given.what == "lost-node":
                disturb(lambda: 8.0, 1, nodes.lose_one)
            cluster = Cluster(workers=2, address=nodes.cluster.address)
            good = report(given.what, solve(given.game, cluster, limits), expected)
    if WatchedPool.restores:
        print(f"restored a checkpoint {WatchedPool.restores} times")
    sys.exit(not good)


if __name__ == "__main__":
    main()
