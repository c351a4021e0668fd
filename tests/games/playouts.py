"""Random games by the rules of a reference, and the files of tests/perft."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

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


def perft_lines(game: str) -> list[str]:
    """Return the lines of a perft file: a position, and its counts for 1, 2, 3, … plies."""
    lines = (PERFT / f"{game}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line[:1] not in ("", "#")]
