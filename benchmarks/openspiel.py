"""OpenSpiel's games solved here and by OpenSpiel's MinimaxSolver: values, states a second, memory; and the bot's games.

    python benchmarks/openspiel.py            # every game below
    python benchmarks/openspiel.py --games 10000

Each solver runs in a process of its own. States are all that play can reach, finished ones included, for both.
Memory is what the process grew by at its peak. Exit status 1 where a value differs or the bot loses.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

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
"""Those that OpenSpiel's recursion ends on. Cyclic ones, and one for one player, are in tests/games/openspiel."""


def ours(name: str) -> tuple[float, int]:
    from perfectplay import load_game, solve_game

    game = load_game("openspiel", game=name)
    with solve_game(game).table as table:
        value = table.probe(game.start())
        return value.score or int(value.outcome), table.statistics.positions


def theirs(name: str) -> tuple[float, int]:
    import pyspiel
    from open_spiel.python.algorithms.minimax_solver import MinimaxSolver

    sys.setrecursionlimit(100_000)
    solved = MinimaxSolver(name).solve()
    return float(solved[str(pyspiel.load_game(name).new_initial_state())].value), len(solved)


def measure(who: str, name: str) -> None:
    """In a process of its own: solve, and print what it took as JSON."""
    import pyspiel  # noqa: F401  (loading is not measured)
    from open_spiel.python.algorithms import minimax_solver  # noqa: F401

    import perfectplay.solving.strong  # noqa: F401

    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    value, states = (ours if who == "ours" else theirs)(name)
    seconds = time.process_time() - started
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"value": value, "states": states, "seconds": seconds, "kib": grown}))


def asked(who: str, name: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--measure", who, name], capture_output=True, text=True, check=True
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def play(games: int) -> int:
    """How many games a perfect bot loses against random play, beginning in every other one."""
    import random

    import pyspiel
    from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

    from perfectplay import load_game, solve_game
    from perfectplay.agents import TablePlayer
    from perfectplay.agents.openspiel import OpenSpielBot

    with solve_game(load_game("openspiel", game="tic_tac_toe")).table as table:
        game, chance, lost = pyspiel.load_game("tic_tac_toe"), random.Random(1), 0
        bot = OpenSpielBot(TablePlayer(table, seed=1))
        for number in range(games):
            mine = number % 2
            bots = [bot, bot]
            bots[1 - mine] = pyspiel.make_uniform_random_bot(1 - mine, number)
            lost += evaluate_bots(game.new_initial_state(), bots, chance)[mine] < 0
    return lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measure", nargs=2, metavar=("WHO", "GAME"), help=argparse.SUPPRESS)
    parser.add_argument("--games", type=int, default=10_000, help="games of the bot (default: 10000)")
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure)
    wrong = 0
    print(f"{'game':<58} {'value':>5} {'states':>8}   {'states/s':>9} {'OpenSpiel':>9}   {'MiB':>6} {'OpenSpiel':>9}")
    for name in GAMES:
        mine, other = asked("ours", name), asked("theirs", name)
        wrong += mine["value"] != other["value"]
        speeds = [mine["states"] / each["seconds"] for each in (mine, other)]
        memory = [each["kib"] / 1024 for each in (mine, other)]
        print(
            f"{name:<58} {mine['value']:>5g} {mine['states']:>8,}   {speeds[0]:>9,.0f} {speeds[1]:>9,.0f}   "
            f"{memory[0]:>6.1f} {memory[1]:>9.1f}{'' if mine['value'] == other['value'] else '   DIFFERS'}",
            flush=True,
        )
    lost = play(options.games)
    print(f"the bot lost {lost} of {options.games:,} games of tic-tac-toe against random play")
    sys.exit(1 if wrong or lost else 0)


if __name__ == "__main__":
    main()
