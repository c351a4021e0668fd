"""How much quicker a game is with its rules in C: Connect Four on 4 × 4, the same rules in Python and in C.

    pip install ./docs/examples/connect4-python
    python benchmarks/python_and_c.py

CPU time of the solve alone. The quick one is mostly noise, so it is the best of many.
"""

from __future__ import annotations

from perfectplay import load_game, solve_game

RUNS = 40


def solved_in(name: str, runs: int) -> float:
    """CPU seconds of the quickest of some solves."""
    game = load_game(name, mirror=False)
    return min(solve_game(game, save=False).cpu_seconds for _ in range(runs))


def main() -> None:
    in_python, in_c = solved_in("connect4-python", 1), solved_in("connect4", RUNS)
    print(f"Python {in_python:.1f} s, C {in_c:.3f} s: {in_python / in_c:.0f} times as fast")


if __name__ == "__main__":
    main()
