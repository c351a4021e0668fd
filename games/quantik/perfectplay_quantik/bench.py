"""The rates that `solve bench` reports, each measured on one core with positions from random games."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

import numpy as np

from perfectplay_quantik import arrays
from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.notation import state_of
from perfectplay_quantik.rules import KERNEL

SECONDS = 0.5
"""The time for each measurement."""

PERFT_DEPTH = 4


def benchmarks(*, seconds: float = SECONDS) -> Iterator[tuple[str, float, str]]:
    """Yield (name, rate, unit) for each benchmark."""
    positions = np.array(sample_positions(20_000), dtype=np.uint64)
    canonical = np.empty_like(positions)
    states = [state_of(int(position)) for position in positions]
    words = np.array([state.bb for state in states], dtype=np.uint16)
    ended = ffi.new("uint64_t *")

    def one_by_one() -> int:
        for state in states:
            state.canonical_payload()
        return len(states)

    def batched() -> int:
        return len(arrays.canonical_payload(words))

    def solver_canonical() -> int:
        lib.quantik_canonical_positions(
            ffi.from_buffer("uint64_t[]", positions), ffi.from_buffer("uint64_t[]", canonical), len(positions)
        )
        return len(positions)

    def solver_children() -> int:
        return int(lib.quantik_count_children(ffi.from_buffer("uint64_t[]", positions), len(positions)))

    def perft() -> int:
        return int(lib.quantik_perft(0, PERFT_DEPTH, ended))

    yield "384-image canonical payloads from numpy", rate(batched, seconds), "states/s"
    yield "384-image canonical payloads one by one", rate(one_by_one, seconds), "states/s"
    yield "3072-image canonical positions", rate(solver_canonical, seconds), "positions/s"
    yield "distinct canonical children", rate(solver_children, seconds), "children/s"
    yield f"perft to depth {PERFT_DEPTH}", rate(perft, seconds), "nodes/s"


def sample_positions(count: int) -> list[int]:
    """Return the positions of random games with a fixed seed."""
    source = random.Random(384)
    positions: list[int] = []
    while len(positions) < count:
        position = KERNEL.start()
        while legal := KERNEL.moves(position):
            position = KERNEL.apply(position, source.choice(legal))
            positions.append(position)
    return positions[:count]


def rate(work: Callable[[], int], seconds: float) -> float:
    """Return the best rate per second of repeated runs of `work`, which returns the number of units done."""
    best = 0.0
    finish = time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        done = work()
        end = time.perf_counter()
        best = max(best, done / (end - start))
        if end > finish:
            return best
