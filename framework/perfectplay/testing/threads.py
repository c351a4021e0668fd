"""Does a kernel in C answer the same when several threads ask at once? One with a static buffer does not."""

from __future__ import annotations

import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay_native.engine import DIGESTED, kernel_digests

THREADS = 4
SECONDS = 0.3
"""How long they ask: a race that is there shows itself within some thousand questions."""


def contradiction(subject: GameUnderTest, positions: Collection[int]) -> str | None:
    """What is wrong, if a thread was told something else than who asks alone."""
    kernel = subject.game.kernel
    if kernel is None or not positions:
        return None
    alone = np.array(list(positions), dtype=np.uint64)
    expected = kernel_digests(kernel, alone)
    deadline = time.monotonic() + SECONDS

    def ask(number: int) -> tuple[int, int] | None:
        """Ask in an order of its own until time is up; the position and the function that were answered otherwise."""
        order = np.random.default_rng(number).permutation(alone.size)
        while time.monotonic() < deadline:
            different = np.argwhere(kernel_digests(kernel, alone[order]) != expected[order])
            if different.size:
                place, function = different[0]
                return int(alone[order[place]]), int(function)
        return None

    with ThreadPoolExecutor(THREADS) as pool:
        found = next(filter(None, pool.map(ask, range(THREADS))), None)
    if found is None:
        return None
    position, function = found
    return (
        f"when several threads ask at once, the kernel's {DIGESTED[function]} answers differently in "
        f"{subject.name(position)}: a function must keep nothing between calls, not even in a static variable"
    )
