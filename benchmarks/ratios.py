"""Compares verifying and compacting with solving: ratios of CPU time, sizes, and cold probes of compact tables.

python benchmarks/ratios.py                          Gobblet, Quantik, Dōbutsu and Quixo 5×4: an hour, 3 GiB of disk
python benchmarks/ratios.py --repeat 1 quantik       one run of one game

Verifying and compacting should take at most 1.5 times as long as solving, and a cold probe at most 50 µs. Each time is
the least of several runs, because other processes can only make it longer.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from perfectplay import load_game, open_table
from perfectplay.table.compact import CompactTable
from perfectplay.table.table import Table
from perfectplay_native.limits import NO_POSITION

GAMES = {
    "gobblet": ("gobblet",),
    "quantik": ("quantik",),
    "dobutsu": ("dobutsu",),
    "quixo": ("quixo", "--width", "5", "--height", "4"),
}
HASHES = {
    "gobblet": "df622b445fd507bc",
    "quantik": "b0804d02fd6664b9",
    "dobutsu": "8e4b75d2a2d0c446",
    "quixo": "2ff1daaff079cddf",
}
LIMITS = {"gobblet": 4.8, "quantik": 9.8, "dobutsu": 39.3}
"""The sizes in MiB that compact tables may exceed by 10 %."""

PROBES = 3000


def run_solve(*words: str) -> tuple[dict[str, object], float]:
    """Run a command; return its output and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "perfectplay", *words, "--json", "--quiet"], capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    reply: dict[str, object] = json.loads(done.stdout)
    return reply, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def run_repeatedly(repeat: int, *words: str) -> tuple[dict[str, object], float]:
    """Return the output of the last run and the least CPU seconds of all."""
    runs = [run_solve(*words) for _ in range(repeat)]
    return runs[-1][0], min(seconds for _, seconds in runs)


def random_positions(table: Table, count: int) -> list[int]:
    """Return positions of random slots."""
    random = np.random.default_rng(5)
    records = list(table.records.values())
    sizes = np.array([record.size for record in records], dtype=float)
    positions: list[int] = []
    while len(positions) < count:
        record = records[random.choice(len(records), p=sizes / sizes.sum())]
        position = int(table.positions(record.tier, int(random.integers(record.size)), 1)[0])
        if position != NO_POSITION:
            positions.append(position)
    return positions


def probe_seconds(table: CompactTable, positions: list[int]) -> float:
    """Return the CPU time per probe if the frames of every probe have to be unpacked."""
    started = time.process_time()
    for position in positions:
        table.store.drop_cache()
        table.get(position)
    return (time.process_time() - started) / len(positions)


def compare(name: str, repeat: int, directory: Path) -> None:
    words = GAMES[name]
    place = ("--dir", str(directory))
    solution, solving = run_repeatedly(repeat, *words, *place, "--force")
    proof, verifying = run_repeatedly(repeat, "verify", *words, *place)
    print(f"{name:8} solve {solving:6.1f} s   verify {verifying:6.1f} s, {verifying / solving:.2f} times")
    right = "as expected" if solution["hash"] == HASHES[name] else f"NOT {HASHES[name]}"
    print(f"{'':8} hash {solution['hash']}, {right}; {proof['checked']:,} positions verified", flush=True)
    if name not in LIMITS:
        return
    compacting = []
    for number in range(repeat):
        target = str(directory / f"compact{number}")
        compacting.append(run_solve("compact", *words, *place, "--output", target)[1])
    game = load_game(name)
    with open_table(game, directory / name) as table:
        positions = random_positions(table, PROBES)
    with open_table(game, directory / "compact0") as compact:
        assert isinstance(compact, CompactTable)
        probe = min(probe_seconds(compact, positions) for _ in range(repeat))
        size = compact.size_on_disk / 2**20
    ratio = min(compacting) / solving
    print(f"{'':8} compact {min(compacting):.1f} s, {ratio:.2f} times; {size:.1f} MiB, {size / LIMITS[name]:.2f} times")
    print(f"{'':8} cold probe {1e6 * probe:.0f} µs", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", help=f"of {', '.join(GAMES)}; all of them by default")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each command")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("PERFECTPLAY_TABLES")) as folder:
        for name in arguments.games or GAMES:
            compare(name, arguments.repeat, Path(folder) / name)


if __name__ == "__main__":
    main()
