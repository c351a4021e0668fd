"""Measures the problem-setting opponent against the levels `casual` and `strong` from drawn starts.

    python benchmarks/opponent.py [GAMES]

For comparison, a plain perfect player chooses at random among the moves with the best value. Each player begins every
other game. The table checks every move of both: none may fall below the value of the position.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable

from perfectplay import Match, Outcome, Strength, Table, choose_move, load_game, solve_game
from perfectplay.analysis.moves import best_of, rate_each_move
from perfectplay.game.match import MatchResult

VARIANTS = (("morris", {"men": "six"}), ("morris", {"men": "three", "flying": True}), ("connect4", {}))
MAX_PLIES = 400
"""A longer game counts as a draw."""

Chooser = Callable[[Table, Match, random.Random], int]


def plain(table: Table, match: Match, rng: random.Random) -> int:
    """Return a random one of the moves with the best value."""
    return rng.choice(best_of(rate_each_move(table.game, table, int(match.position)))).move


def problems(table: Table, match: Match, rng: random.Random) -> int:
    """Return the move of the opponent at its full strength."""
    return choose_move(table.game, table, match.position, Strength.PERFECT, rng, seen=match.positions)


def play(table: Table, chooser: Chooser, level: Strength, own: int, rng: random.Random) -> MatchResult | None:
    """Play one game. Returns its result; None if it is too long. `own` is the player who uses the chooser."""
    match = Match(table.game)
    while (result := match.result) is None and len(match.moves) < MAX_PLIES:
        position = match.position
        if match.to_move != own:
            match.play(choose_move(table.game, table, position, level, rng, seen=match.positions))
            continue
        before = table.probe(position)
        match.play(chooser(table, match, rng))
        after = match.moves[-1].value(table)
        assert (after.outcome, after.score) == (before.outcome, before.score), f"{match!r} fell below {before}"
    return result


def measure(table: Table, chooser: Chooser, level: Strength, games: int) -> Counter[str]:
    """Return the numbers of wins, draws and losses."""
    rng, counts = random.Random(26), Counter[str]()
    for number in range(games):
        own = number % 2
        result = play(table, chooser, level, own, rng)
        winner = None if result is None else result.winner
        counts["draws" if winner is None else "wins" if winner == own else "losses"] += 1
    return counts


def main() -> None:
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    print(f"{games:,} games each; a win is 1 point, a draw ½")
    for name, options in VARIANTS:
        game = load_game(name, **options)
        with solve_game(game, save=False).table as table:
            assert table.probe(game.start()).outcome is Outcome.DRAW
            for level in (Strength.CASUAL, Strength.STRONG):
                for chooser in (plain, problems):
                    started = time.monotonic()
                    counts = measure(table, chooser, level, games)
                    points = (counts["wins"] + counts["draws"] / 2) / games
                    shares = ", ".join(f"{kind} {counts[kind] / games:.1%}" for kind in ("wins", "draws", "losses"))
                    seconds = time.monotonic() - started
                    print(
                        f"{game.identity} against {level}, {chooser.__name__}: {points:.1%} ({shares}) {seconds:.0f} s",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
