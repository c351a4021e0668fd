"""Solves Dōbutsu shōgi, verifies the table, checks every published figure, and measures CPU time and memory.

    python benchmarks/large/dobutsu.py             seven minutes of CPU time, 2 GiB of disk
    python benchmarks/large/dobutsu.py --enumerated    the same game with a kernel that has no index

Tanaka (2009) counted positions with the mover first and mirror images folded. The perfect index has one slot for all
positions in which the lion can be taken. Enumerated, each of them has a slot, and the total is his 246,803,167.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from perfectplay import hookimpl, make_game, solve_game, survey
from perfectplay_dobutsu.rules import ENUMERATED
from perfectplay_native.kernel import Kernel

LEVELS = Path(__file__).with_name("dobutsu_levels.txt")
GOLDEN_HASHES = Path(__file__).parents[2] / "tests" / "golden" / "hashes.json"
UNFINISHED = {"positions": 99_485_568, "wins": 56_474_473, "losses": 40_328_395, "endless_draws": 2_682_700}
REACHABLE = 246_803_167
FIRST_MOVES = {"B3xB2": 76, "B4-A3": 78, "B4-C3": 78, "C4-C3": 78}
DEEPEST = 173

wrong: list[str] = []


def check(what: str, actual: object, expected: object) -> None:
    if actual != expected:
        wrong.append(what)
    print(f"    {what}: {actual}" + ("" if actual == expected else f"  WRONG, should be {expected}"), flush=True)


def at_most(what: str, value: float, limit: float) -> None:
    if value > limit:
        wrong.append(what)
        print(f"    {value:.0f} {what}  TOO MUCH, limit {limit:.0f}", flush=True)


def solve(*arguments: str, max_cpu: float = math.inf, max_memory: float = math.inf) -> dict[str, Any]:
    """Run a command, print and check its cost (CPU-seconds, MiB). Returns its JSON."""
    command = ["solve", *arguments]
    print(f"$ {' '.join(command)}", flush=True)
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    print(f"    CPU {used.ru_utime + used.ru_stime:.0f} s, peak memory {used.ru_maxrss >> 10} MiB", flush=True)
    if status:
        sys.exit(f"the command failed with exit code {os.waitstatus_to_exitcode(status)}")
    at_most("CPU-seconds", used.ru_utime + used.ru_stime, max_cpu)
    at_most("MiB of memory", used.ru_maxrss >> 10, max_memory)
    answer: dict[str, Any] = json.loads(output)
    return answer


def levels() -> dict[int, int]:
    lines = [line for line in LEVELS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {level: int(count) for level, count in enumerate(" ".join(lines).split(), start=1)}


def ranked(directory: str) -> None:
    golden = json.loads(GOLDEN_HASHES.read_text())["dobutsu"]
    solved = solve("dobutsu", "--dir", directory, max_cpu=200, max_memory=2048)
    check("hash", solved["hash"], golden)
    shown = solve("show", "dobutsu", "--dir", directory)
    check("the start is lost in", shown["remoteness"] if shown["outcome"] == "loss" else shown["outcome"], 78)
    check("first moves", {each["moves"][0]: each["remoteness"] for each in reversed(shown["moves"])}, FIRST_MOVES)
    counted = solve("stats", "dobutsu", "--reachable", "--dir", directory)
    tier = counted["tiers"][0]
    for name, expected in UNFINISHED.items():
        check(f"unfinished {name}", tier[name], expected)
    check("deepest win", counted["longest_win"], DEEPEST)
    by_level = {each["remoteness"]: each["wins"] + each["losses"] for each in counted["by_remoteness"]}
    by_level[1] -= 1  # the slot of all positions in which the lion can be taken
    published = levels()
    check("levels that differ", [level for level in published if by_level.get(level) != published[level]], [])
    verified = solve("verify", "dobutsu", "--dir", directory)
    check("values that are wrong", verified["bad"], 0)
    on_disk = solve("dobutsu", "--backend", "lmdb", "--memory", "512M", "--dir", str(Path(directory) / "lmdb"))
    check("hash", on_disk["hash"], golden)
    compact = solve("compact", "dobutsu", "--memory", "1G", "--dir", directory, max_memory=1024)
    at_most("MiB of compact table", compact["bytes"] / (1 << 20), 43)


class Enumerated:
    """The plugin without the index."""

    @hookimpl
    def kernel(self) -> Kernel:
        return ENUMERATED


def enumerated() -> None:
    solution = solve_game(make_game(Enumerated(), name="dobutsu-enumerated"), save=False)
    print(f"enumerated: CPU {solution.cpu_seconds:.0f} s, peak memory {solution.peak.total >> 20} MiB")
    at_most("CPU-seconds", solution.cpu_seconds, 350)
    at_most("MiB of memory", solution.peak.total >> 20, 3072)
    with solution.table as table:
        counts = survey(table)
        tier = counts.tiers[0]
        unfinished = (tier.positions, tier.wins, tier.losses, tier.endless_draws)
        check("unfinished positions, won, lost, drawn", unfinished, tuple(UNFINISHED.values()))
        check("reachable positions", counts.total.positions - 1, REACHABLE)  # one slot has no lion
        check("deepest win", counts.total.longest_win, DEEPEST)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--enumerated", action="store_true", help="solve without the perfect index")
    if parser.parse_args().enumerated:
        enumerated()
    else:
        with tempfile.TemporaryDirectory() as directory:
            ranked(directory)
    sys.exit(f"WRONG: {', '.join(wrong)}" if wrong else 0)


if __name__ == "__main__":
    main()
