"""Compares perfectplay with OpenSpiel's MinimaxSolver on OpenSpiel games, and plays games with the perfect bot.

    python benchmarks/openspiel.py                                 # every game below, and 10,000 games of the bot
    python benchmarks/openspiel.py --larger --games 0              # larger ones
    python benchmarks/openspiel.py --repeat 3 "hex(board_size=3)"

Each solver runs in a separate process, after solving a game of four states there, so loading costs neither time nor
memory. Seconds are processor time of all threads, the best of the repeats. Memory is the growth of the process at its
peak. Only unfinished states are counted, because MinimaxSolver does not store finished ones. Where it has fewer states,
it merges states that differ only in the player to move. The exit status is 1 if a value differs or the bot loses.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

GAMES = [
    "tic_tac_toe",
    "connect_four(rows=4,columns=4)",
    "mnk(m=4,n=3,k=3)",
    "breakthrough(rows=5,columns=3)",
    "hex(board_size=3)",
    "y(board_size=3)",
    "nim(pile_sizes=1;3;5;7)",
    "clobber(rows=4,columns=3)",
    "dots_and_boxes(num_rows=2,num_cols=2)",
    "dots_and_boxes(num_rows=2,num_cols=2,utility_margin=true)",
    "havannah(board_size=2)",
    "gomoku(size=3,connect=3)",
    "checkers(rows=8,columns=2)",
]
"""Games without cycles, which OpenSpiel's recursion can solve. For others see tests/games/openspiel."""


LARGER = ["clobber(rows=4,columns=4)", "connect_four(rows=4,columns=5)"]

SMALLEST = "nim(pile_sizes=1;1)"

Solved = tuple[float, int]
"""The value of the start for the first player, and the number of unfinished states solved."""


def ours(name: str) -> Callable[[], Solved]:
    from perfectplay import Value, load_game, solve_game

    game = load_game("openspiel", game=name)

    def solve() -> Solved:
        with solve_game(game, save=False).table as table:
            value = table.probe(game.start())
            counts = table.statistics.by_code.items()
            unfinished = sum(count for code, count in counts if Value.from_code(code).remoteness != 0)
            return value.score or int(value.outcome), unfinished

    return solve


def theirs(name: str) -> Callable[[], Solved]:
    import pyspiel
    from open_spiel.python.algorithms.minimax_solver import MinimaxSolver

    sys.setrecursionlimit(100_000)
    solver = MinimaxSolver(name)
    start = str(pyspiel.load_game(name).new_initial_state())

    def solve() -> Solved:
        table = solver.solve()
        return float(table[start].value), len(table)

    return solve


def measure(who: str, name: str) -> None:
    """Solve, and print the cost as JSON; runs in a separate process."""
    load = ours if who == "ours" else theirs
    load(SMALLEST)()
    solve = load(name)
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    value, states = solve()
    seconds = time.process_time() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"value": value, "states": states, "seconds": seconds, "kib": grown}))


def run_solver(who: str, name: str, repeat: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", who, name]
    answers: list[dict[str, float]] = []
    for _ in range(repeat):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        answers.append(json.loads(done.stdout.splitlines()[-1]))
    return min(answers, key=lambda answer: answer["seconds"])


def play(games: int) -> int:
    """The number of games that a perfect bot loses against random play; it begins every other game."""
    import random

    import pyspiel
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    from perfectplay import load_game, solve_game
    from perfectplay.agents import TablePlayer
    from perfectplay.agents.openspiel import OpenSpielBot

    with solve_game(load_game("openspiel", game="tic_tac_toe"), save=False).table as table:
        game, chance, lost = pyspiel.load_game("tic_tac_toe"), random.Random(1), 0
        bot = OpenSpielBot(TablePlayer(table, seed=1))
        for number in range(games):
            mine = number % 2
            bots = [bot, bot]
            bots[1 - mine] = pyspiel.make_uniform_random_bot(1 - mine, number)
            lost += evaluate_bots(game.new_initial_state(), bots, chance)[mine] < 0
    return lost


def compare(name: str, repeat: int) -> bool:
    """Print one line about a game. Returns whether the values agree."""
    both = run_solver("ours", name, repeat), run_solver("theirs", name, repeat)
    states = " ".join(f"{each['states']:>9,}" for each in both)
    seconds = " ".join(f"{each['seconds']:>7.2f}" for each in both)
    speeds = " ".join(f"{each['states'] / each['seconds']:>7,.0f}" for each in both)
    memory = " ".join(f"{each['kib'] / 1024:>6.1f}" for each in both)
    same = both[0]["value"] == both[1]["value"]
    print(
        f"{name:<58}{both[0]['value']:>5g}  {states}  {seconds}  {speeds}  {memory}{'' if same else '  DIFFERS'}",
        flush=True,
    )
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs=2, metavar=("WHO", "GAME"), help=argparse.SUPPRESS)
    parser.add_argument("--larger", action="store_true", help="games of some hundred thousand states and more")
    parser.add_argument("--repeat", type=int, default=1, help="measurements, of which the best counts (default: 1)")
    parser.add_argument("--games", type=int, default=10_000, help="games of the bot (default: 10000)")
    parser.add_argument("names", nargs="*", metavar="GAME", help="these games only, and none of the bot's")
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure)
    print(
        f"{'ours, OpenSpiel:':<58}value  {'unfinished states':>19}  {'CPU seconds':>15}  {'states/s':>15}  {'MiB':>13}"
    )
    right = [compare(name, options.repeat) for name in options.names or (LARGER if options.larger else GAMES)]
    lost = 0
    if options.games and not options.names:
        lost = play(options.games)
        print(f"the bot lost {lost} of {options.games:,} games of tic-tac-toe against random play")
    sys.exit(0 if all(right) and not lost else 1)


if __name__ == "__main__":
    main()
