"""Compares the speed of rules in Python, compiled rules and a kernel in C: Connect Four.

    pip install ./docs/examples/connect4-python
    python benchmarks/python_and_c.py [WIDTH HEIGHT]

Prints the CPU time of the solve alone. Short solves are repeated, and the best of them counts.
"""

from __future__ import annotations

import sys
import time

from perfectplay import load_game, solve_game
from perfectplay.compile.kernel import find_compiled

SECONDS = 10
"""How long a solve is repeated."""


def measure(name: str, width: int, height: int, *, compiled: bool = True) -> float:
    """Return the CPU seconds of the fastest of several solves, without translating and compiling the rules."""
    game = load_game(name, width=width, height=height, mirror=False)
    game.compile_rules = compiled
    find_compiled(game)
    times, deadline = [], time.monotonic() + SECONDS
    while not times or time.monotonic() < deadline:
        times.append(solve_game(game, save=False).cpu_seconds)
    return min(times)


def main() -> None:
    width, height = map(int, sys.argv[1:3] or (4, 4))
    in_c = measure("connect4", width, height)
    compiled = measure("connect4-python", width, height)
    in_python = measure("connect4-python", width, height, compiled=False)
    for rules, seconds in (("C", in_c), ("Python, compiled", compiled), ("Python", in_python)):
        print(f"{rules:<16}  {seconds:8.3f} s  {in_python / seconds:4.0f} times as fast as Python")


if __name__ == "__main__":
    main()
