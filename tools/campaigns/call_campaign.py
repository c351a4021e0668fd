"""Arbitrary calls from Python: every public method with right, wrong and absurd arguments.

    python -m tools.campaigns.call_campaign [--calls 50000] [--seed 1]

A call must return, or raise an error that names the argument: PerfectPlayError, TypeError, ValueError, LookupError or
OverflowError, or AttributeError of an argument itself. Values of positions must be right. Calls run in forked
children, so that a crash is noticed.
"""

from __future__ import annotations

import argparse
import collections
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay import (
    Game,
    Match,
    Outcome,
    PerfectPlayError,
    Position,
    Selection,
    Table,
    Value,
    best_line,
    choose_move,
    load_game,
    make_game,
    open_table,
    random_positions,
    rate_moves,
    select,
    solve_game,
)
from perfectplay.table.compaction import compact_table
from perfectplay_native.engine import NO_SLOT

from . import four
from .campaign import RIGHT, WRONG, in_child, ladder_game

CALLS_PER_CHILD = 500
EXPECTED = (PerfectPlayError, TypeError, ValueError, LookupError, OverflowError)
HUGE = 10**30
ODD: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 255, 1 << 31, (1 << 32) - 1, 1 << 62, 1 << 63, (1 << 64) - 1, 1 << 64, HUGE, -HUGE),
    *(0.0, 1.5, float("nan"), float("inf"), True, None, "", "0", "a1", "é\0", "9" * 999, b"0", [], [0], [HUGE], {}),
    *(np.uint8(255), np.int64(-1), np.uint64(2**64 - 1), np.float32(1), np.arange(3), np.zeros((2, 2)), [[0], [0, 1]]),
    *(object(), Ellipsis, Path("/dev/null"), Outcome.WIN, Value(Outcome.LOSS, 3), range(3), lambda: 0),
)
TABLE_METHODS = (
    *("probe", "get", "probe_many", "probe_few", "slot", "values", "positions", "find_value", "__getitem__"),
    "__contains__",
)
GAME_METHODS = (
    *("valid", "moves", "apply", "follow", "move_classes", "undo_moves", "canonicalize", "status", "score", "tier"),
    *("parents", "mover", "movers", "keeps_turn", "position", "encode", "decode", "notations", "format_move"),
    *("format_moves", "parse_move", "board", "command_line"),
)
POSITION_METHODS = ("apply", "value", "values", "best", "svg", "__eq__", "__format__")
MATCH_METHODS = ("play", "play_names", "push", "undo", "redo", "copy")
FUNCTIONS = (rate_moves, best_line, choose_move, random_positions, select, Selection, Match, Position)


class Calls:
    """Solved games, their tables of each kind, and the right values."""

    def __init__(self, directory: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.places: list[tuple[Game, Path, dict[int, int]]] = []
        for game in (
            ladder_game(),
            make_game(four, name="four"),
            load_game("quixo", width=3, height=3),
            load_game("dots", rows=1, columns=2),
        ):
            with solve_game(game, backend="lmdb", directory=directory / "plain").table as table:
                every = np.concatenate([table.positions(tier, 0, r.size) for tier, r in table.records.items()])
                every = every[every != NO_SLOT]
                right = dict(zip(every.tolist(), table.probe_many(every).tolist(), strict=True))
                packed = compact_table(table, directory / "compact" / game.identity)
                self.places += [(game, table.store.path, right), (game, packed, right)]

    def run(self, count: int) -> collections.Counter[str]:
        counts: collections.Counter[str] = collections.Counter()
        for first in range(0, count, CALLS_PER_CHILD):
            calls, seed = min(CALLS_PER_CHILD, count - first), self.random.randrange(2**32)
            game, path, right = self.random.choice(self.places)
            code = in_child(lambda g=game, p=path, r=right, s=seed, n=calls: _make_calls(g, p, r, random.Random(s), n))
            counts["calls"] += calls
            if code != RIGHT:
                counts[f"CRASHED by signal {-code}" if code < 0 else "WRONG"] += 1
                print(f"{game.identity}, {path.parent.name}, seed {seed}: exit code {code}", file=sys.stderr)
        return counts


def _make_calls(game: Game, path: Path, right: dict[int, int], dice: random.Random, count: int) -> int:
    known = list(right)
    with open_table(game, path) as table:
        for _ in range(count):
            objects = (*ODD, *dice.sample(known, 20), *dice.sample(known, 5), table, game, list(table.records)[-1])
            function = _choose(game, table, dice.choice(known), dice)
            arguments = [dice.choice(objects) for _ in range(dice.choice((0, 1, 1, 1, 1, 2, 2, 3, 3, 4)))]
            try:
                function(*arguments)
            except EXPECTED:
                pass
            except Exception as error:
                if isinstance(error, AttributeError) and any(error.obj is each for each in arguments):
                    continue  # Python's way to say that an argument has a wrong type
                print(f"{function}{tuple(arguments)}: {type(error).__name__}: {error}", file=sys.stderr)
                return WRONG
            if not _is_right(table, dice.sample(known, 3), right):
                return WRONG
        return RIGHT


def _choose(game: Game, table: Table, position: int, dice: random.Random) -> Callable[..., Any]:
    """Return a random method or function. Half of the time it is one of the table."""
    kind = dice.random()
    if kind < 0.5:
        return _method(table, dice.choice(TABLE_METHODS))
    if kind < 0.75:
        return _method(game, dice.choice(GAME_METHODS))
    if kind < 0.85:
        return _method(game.position(position), dice.choice(POSITION_METHODS))
    if kind < 0.9:
        return _method(Match(game), dice.choice(MATCH_METHODS))
    return dice.choice(FUNCTIONS)


def _method(owner: object, name: str) -> Callable[..., Any]:
    method: Callable[..., Any] = getattr(owner, name)
    return method


def _is_right(table: Table, positions: list[int], right: dict[int, int]) -> bool:
    wrong = [position for position in positions if table.probe(position).code != right[position]]
    if wrong:
        print(f"a wrong value for {wrong[0]}", file=sys.stderr)
    return not wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="calls-") as directory:
        for what, often in sorted(Calls(Path(directory), given.seed).run(given.calls).items()):
            print(f"{often:7}  {what}")


if __name__ == "__main__":
    main()
