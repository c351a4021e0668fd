"""Solves the ladder game to a directory and prints the hash; slowly, if a second argument is given. A test kills it."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import ladder

from perfectplay import make_game, solve_game

fast_moves = ladder.moves


def slow_moves(position: int) -> list[int]:
    time.sleep(0.00002)
    return fast_moves(position)


if len(sys.argv) > 2:
    ladder.moves = ladder.hookimpl(slow_moves)
solution = solve_game(make_game(ladder, name="ladder"), backend="lmdb", directory=Path(sys.argv[1]))
solution.table.close()
print(solution.hash)
