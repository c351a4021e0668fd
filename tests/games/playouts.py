"""Random games by the rules of a reference."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any


def playouts(reference: Any, start: Any, count: int) -> Iterator[Any]:
    """Yield `count` positions of random games from `start`, including finished ones."""
    generator = random.Random(1)
    position = start
    for _ in range(count):
        yield position
        moves = sorted(reference.moves(position))
        position = reference.apply(position, generator.choice(moves)) if moves else start
