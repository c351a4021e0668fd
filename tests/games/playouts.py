"""Random games and plain solutions by the rules of a reference, and the files of tests/perft."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from perfectplay import Outcome, Value

PERFT = Path(__file__).parents[1] / "perft"


def playouts(reference: Any, start: Any, count: int, seed: int = 1) -> Iterator[Any]:
    """Yield `count` positions of random games from `start`, including finished ones."""
    generator = random.Random(seed)
    position = start
    for _ in range(count):
        yield position
        moves = sorted(reference.moves(position), key=str)
        position = reference.apply(position, generator.choice(moves)) if moves else start


def play_choices(reference: Any, start: Any, choices: Sequence[int]) -> Any:
    """Return the position after these choices among the legal moves, or the end of the game if that comes first."""
    position = start
    for choice in choices:
        moves = sorted(reference.moves(position), key=str)
        if not moves:
            break
        position = reference.apply(position, moves[choice % len(moves)])
    return position


ENDS = {"LOST": Outcome.LOSS, "DRAWN": Outcome.DRAW, "WON": Outcome.WIN}


def solve_plainly(reference: Any, start: Any, name: Callable[[Any], Hashable]) -> dict[Any, Value]:
    """Return the values of all positions that can be reached from `start`, by their names; turns alternate.

    Follows the definition of a value: the positions are scanned once for each number of plies to the end.
    """
    children: dict[Hashable, list[Hashable]] = {}
    values: dict[Hashable, Value] = {}
    unexplored = [start]
    while unexplored:
        position = unexplored.pop()
        if name(position) not in children:
            after = []
            if (status := reference.status(position)) == "ONGOING":
                after = [reference.apply(position, move) for move in reference.moves(position)]
            else:
                values[name(position)] = Value(ENDS[status], 0)
            children[name(position)] = [name(child) for child in after]
            unexplored += after
    for decide in (_decide_win_or_loss, _decide_tie):  # a tie is a draw that the rules end
        for plies in count(1):
            decided = {}
            for each, after in children.items():
                if each not in values and (outcome := decide([values.get(child) for child in after])) is not None:
                    decided[each] = Value(outcome, plies)
            if not decided:
                break
            values |= decided
    return values | {each: Value(Outcome.DRAW, None) for each in children if each not in values}


def _decide_win_or_loss(replies: list[Value | None]) -> Outcome | None:
    outcomes = {None if value is None else value.outcome for value in replies}
    return Outcome.WIN if Outcome.LOSS in outcomes else Outcome.LOSS if outcomes == {Outcome.WIN} else None


def _decide_tie(replies: list[Value | None]) -> Outcome | None:
    return Outcome.DRAW if any(value is not None and value.outcome is Outcome.DRAW for value in replies) else None


def perft_lines(game: str) -> list[str]:
    """Return the lines of a perft file: a position, and its counts for 1, 2, 3, … plies."""
    lines = (PERFT / f"{game}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line[:1] not in ("", "#")]
