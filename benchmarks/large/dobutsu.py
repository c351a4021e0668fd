"""Solves Dōbutsu shōgi, proves the table, and checks every published figure, with the CPU time and memory of each step.

    python benchmarks/large/dobutsu.py             some seven minutes of CPU time, 2 GiB of disk
    python benchmarks/large/dobutsu.py --enumerated    the same game through a kernel without an index of its own

Tanaka (2009) counted positions with the mover first and mirror images folded. The perfect index keeps one slot for all
in which the lion can be taken; enumerated, each has its own, and the total is his 246,803,167.
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
from perfectplay_dobutsu.kernels import ENUMERATED
from perfectplay_native.kernel import Kernel

LEVELS = Path(__file__).with_name("dobutsu_levels.txt")
GOLDEN_HASHES = Path(__file__).parents[2] / "tests" / "golden" / "hashes.json"
UNFINISHED = {"positions": 99_485_568, "wins": 56_474_473, "losses": 40_328_395, "endless_draws": 2_682_700}
REACHABLE = 246_803_167
FIRST_MOVES = {"B3xB2": 76, "B4-A3": 78, "B4-C3": 78, "C4-C3": 78}
DEEPEST = 173

wrong: list[str] = []


def check(what: str, found: object, expected: object) -> None:
    if found != expected:
        wrong.append(what)
    print(f"    {what}: {found}" + ("" if found == expected else f"  WRONG, should be {expected}"), flush=True)


def at_most(what: str, value: float, most: float) -> None:
    if value > most:
        wrong.append(what)
        print(f"    {value:.0f} {what}  TOO MUCH, at most {most:.0f}", flush=True)


def solve(*arguments: str, most_cpu: float = math.inf, most_memory: float = math.inf) -> dict[str, Any]:
    """Runs a command, prints and bounds what it took (CPU-seconds, MiB), and returns its JSON."""
    command = ["solve", *arguments]
    print(f"$ {' '.join(command)}", flush=True)
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    print(f"    CPU {used.ru_utime + used.ru_stime:.0f} s, peak memory {used.ru_maxrss >> 10} MiB", flush=True)
    if status:
        sys.exit(f"it failed, with exit code {os.waitstatus_to_exitcode(status)}")
    at_most("CPU-seconds", used.ru_utime + used.ru_stime, most_cpu)
    at_most("MiB of memory", used.ru_maxrss >> 10, most_memory)
    answer: dict[str, Any] = json.loads(output)
    return answer


def levels() -> dict[int, int]:
    lines = [line for line in LEVELS.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {level: int(count) for level, count in enumerate(" ".join(lines).split(), start=1)}


def ranked(directory: str) -> None:
    golden = json.loads(GOLDEN_HASHES.read_text())["dobutsu"]
    solved = solve("dobutsu", "--dir", directory, most_cpu=200, most_memory=2048)
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
    proven = solve("verify", "dobutsu", "--dir", directory)
    check("values that are wrong", proven["bad"], 0)
    on_disk = solve("dobutsu", "--backend", "lmdb", "--memory", "512M", "--dir", str(Path(directory) / "lmdb"))
    check("hash", on_disk["hash"], golden)
    compact = solve("compact", "dobutsu", "--memory", "1G", "--dir", directory, most_memory=1024)
    at_most("MiB of compact table", compact["bytes"] / (1 << 20), 40)


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
        found = survey(table)
        tier = found.tiers[0]
        counts = (tier.positions, tier.wins, tier.losses, tier.endless_draws)
        check("unfinished positions, won, lost, drawn", counts, tuple(UNFINISHED.values()))
        check("reachable positions", found.total.positions - 1, REACHABLE)  # one is left of all with the lion taken
        check("deepest win", found.total.longest_win, DEEPEST)


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
