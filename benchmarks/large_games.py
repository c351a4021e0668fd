"""Solves large games and checks what is published about them, with the CPU time and the memory of each solve.

python benchmarks/large_games.py                  every game of benchmarks/large
python benchmarks/large_games.py quixo connect4   these alone
python benchmarks/large_games.py --list           what would be solved, and the figures expected
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

from large.facts import Facts

FOLDER = Path(__file__).with_name("large")


def facts_of(game: str) -> tuple[Facts, ...]:
    """Those of the game's module; none for a module that is a script of its own."""
    facts: tuple[Facts, ...] | None = getattr(importlib.import_module(f"large.{game}"), "FACTS", None)
    if facts is None:
        print(f"{game} has a script of its own: python benchmarks/large/{game}.py --help")
    return facts or ()


def check(facts: Facts, directory: str) -> bool:
    saving = ("--dir", directory) if "--backend" in facts.command else ("--no-save",)
    command = ["solve", *facts.command, *saving, "--json"]
    print("$", *command, flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    print(f"    CPU {used.ru_utime + used.ru_stime:.1f} s, peak memory {used.ru_maxrss >> 10} MiB")
    if status:
        print(f"    FAILED, with exit code {os.waitstatus_to_exitcode(status)}")
        return False
    answer = json.loads(output)
    wrong = {name: value for name, value in facts.expected.items() if answer[name] != value}
    for name, value in facts.expected.items():
        print(f"    {name}: {answer[name]}" + (f"  WRONG, should be {value}" if name in wrong else ""), flush=True)
    return not wrong


def main() -> None:
    known = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "facts"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(known)}")
    parser.add_argument("--list", action="store_true", help="solve nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.games) - set(known):
        parser.error(f"there are no figures of {', '.join(sorted(unknown))}: choose among {', '.join(known)}")
    everything = [facts for game in arguments.games or known for facts in facts_of(game)]
    if arguments.list:
        for facts in everything:
            print("solve", *facts.command)
            print("   ", facts.source)
            print("   ", ", ".join(f"{name} {value}" for name, value in facts.expected.items()))
        return
    with tempfile.TemporaryDirectory() as directory:
        failed = [facts.command for facts in everything if not check(facts, directory)]
    sys.exit(f"{len(failed)} of {len(everything)} are wrong" if failed else 0)


if __name__ == "__main__":
    main()
