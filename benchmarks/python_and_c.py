"""Compares the speed of rules in Python and in C: Connect Four on 4 × 4.

    pip install ./docs/examples/connect4-python
    python benchmarks/python_and_c.py

Prints the CPU time of the solve alone. The C solve is so short that the best of many runs counts.
"""

from __future__ import annotations

from perfectplay import load_game, solve_game

RUNS = 40


def measure(name: str, runs: int) -> float:
    """CPU seconds of the fastest of several solves."""
    game = load_game(name, mirror=False)
    return min(solve_game(game, save=False).cpu_seconds for _ in range(runs))


def main() -> None:
    in_python, in_c = measure("connect4-python", 1), measure("connect4", RUNS)
    print(f"Python {in_python:.1f} s, C {in_c:.3f} s: {in_python / in_c:.0f} times as fast")


if __name__ == "__main__":
    main()
