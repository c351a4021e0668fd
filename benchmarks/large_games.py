"""Solves large games and checks the results against published facts, and CPU time, memory and disk against limits.

python benchmarks/large_games.py                  every game of benchmarks/large
python benchmarks/large_games.py quixo connect4   only these
python benchmarks/large_games.py --list           list the solves and the expected figures
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from large.facts import MAX_WRITTEN, Facts

FOLDER = Path(__file__).with_name("large")


def facts_of(game: str) -> tuple[Facts, ...]:
    """The facts of a game's module; none for a module that is a separate script."""
    facts: tuple[Facts, ...] | None = getattr(importlib.import_module(f"large.{game}"), "FACTS", None)
    if facts is None:
        print(f"{game} has a separate script: python benchmarks/large/{game}.py --help")
    return facts or ()


def check(facts: Facts, directory: str, cost_before: float) -> tuple[bool, float]:
    """Whether all facts hold, and the CPU time per position; `cost_before` is that of the previous solve."""
    saving = ("--dir", directory) if "--backend" in facts.command else ("--no-save",)
    command = ["solve", *facts.command, *saving, "--json"]
    print("$", *command, flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    cpu = used.ru_utime + used.ru_stime
    print(f"    CPU {cpu:.1f} s, {used.ru_stime / cpu:.1%} of it system time, peak memory {used.ru_maxrss >> 10} MiB")
    if status:
        print(f"    FAILED, with exit code {os.waitstatus_to_exitcode(status)}")
        return False, cost_before
    answer = json.loads(output)
    cost = cpu / answer["proven" if "prove" in command else "positions"]
    right = [_at_most("CPU-seconds", cpu, facts.max_cpu)]
    right.append(_at_most("of the CPU time in the system", used.ru_stime / cpu, facts.max_system))
    if (anonymous := answer.get("peak_anonymous")) is not None:
        print(f"    {anonymous >> 20} MiB of anonymous memory, {1e9 * cpu / answer['positions']:.0f} ns per position")
    if answer.get("table") is not None:
        size = sum(file.stat().st_size for file in Path(answer["table"]).iterdir())
        print(f"    {used.ru_oublock * 512 >> 20} MiB written to disk, for a table of {size >> 20} MiB")
        right.append(_at_most("times its size written", used.ru_oublock * 512 / size, MAX_WRITTEN))
    if facts.max_cost is not None:
        right.append(_at_most("times the CPU time per position", cost / cost_before, facts.max_cost))
    for name, value in facts.expected.items():
        right.append(answer[name] == value)
        print(f"    {name}: {answer[name]}" + ("" if right[-1] else f"  WRONG, should be {value}"), flush=True)
    return all(right), cost


def _at_most(what: str, value: float, limit: float | None) -> bool:
    if limit is not None:
        print(f"    {value:.2f} {what}" + ("" if value <= limit else f"  TOO MUCH, limit {limit}"), flush=True)
    return limit is None or value <= limit


def main() -> None:
    available = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "facts"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(available)}")
    parser.add_argument("--list", action="store_true", help="solve nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.games) - set(available):
        parser.error(f"no figures for {', '.join(sorted(unknown))}; choose from {', '.join(available)}")
    everything = [facts for game in arguments.games or available for facts in facts_of(game)]
    if arguments.list:
        for facts in everything:
            print("solve", *facts.command)
            print("   ", facts.source)
            print("   ", ", ".join(f"{name} {value}" for name, value in facts.expected.items()))
        return
    failed, cost = 0, 0.0
    with tempfile.TemporaryDirectory() as directory:
        for facts in everything:
            right, cost = check(facts, directory, cost)
            failed += not right
    sys.exit(f"{failed} of {len(everything)} are wrong" if failed else 0)


if __name__ == "__main__":
    main()
