"""Which positions of a table play can reach from the start.

A game that the engine enumerates has no others. A perfect index has: every board that the pieces can make has a slot,
also those that no game comes to. A slot counts as reached if play reaches a position that it stands for.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perfectplay.progress import Progress
from perfectplay.solving import background
from perfectplay.solving.tier_order import components
from perfectplay_native.engine import Engine, count_codes

if TYPE_CHECKING:
    from perfectplay.tables.table import Table

Bitmap = npt.NDArray[np.uint64]
"""One bit a slot: slot i is bit i % 64 of word i // 64."""


class Reached:
    """The positions of a table that play from the start can reach."""

    def __init__(self, table: Table, bitmaps: Sequence[Bitmap] | None) -> None:
        self._table = table
        self._bitmaps = bitmaps
        """One for each tier; None where all is reached."""

    def __contains__(self, position: int) -> bool:
        slot = self._table.slot(position)
        if slot is None or self._bitmaps is None:
            return slot is not None
        tier, index = slot
        return bool(int(self._bitmaps[tier][index // 64]) >> index % 64 & 1)

    def counts(self) -> dict[int, Mapping[int, int]]:
        """For each tier, how often each value code stands among what is reached."""
        records = sorted(self._table.records.items())
        if self._bitmaps is None:
            return {tier: record.counts for tier, record in records}
        return {tier: _counts(self._table, tier, self._bitmaps[tier]) for tier, _ in records}


def find_reached(
    table: Table,
    *,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Reached:
    """Walk a finished table from the start; minutes for hundreds of millions of positions, one bit of memory each."""
    table.require_complete()
    ranked = table.kernel.ranked
    return Reached(table, _bitmaps(table, threads, progress, stop or threading.Event()) if ranked else None)


def _bitmaps(
    table: Table, threads: int | None, progress: Callable[[Progress], None] | None, stop: threading.Event
) -> list[Bitmap]:
    """A bitmap of every tier, from breadth-first passes over the tiers in the order of play."""
    kernel = table.kernel
    sizes = {tier: record.size for tier, record in table.records.items()}
    graph = {tier: kernel.tier_children(tier) or [t for t in sizes if t >= tier] for tier in sizes}
    reached = [np.zeros(-(-sizes.get(tier, 0) // 64), dtype=np.uint64) for tier in range(kernel.tier_count)]
    engine = Engine(kernel, tiers=kernel.tier_count, threads=threads)
    started, tiers_done, positions = time.monotonic(), 0, table.statistics.positions

    def tell() -> None:
        if progress is not None:
            done, seconds = engine.progress.positions, time.monotonic() - started
            progress(
                Progress(
                    phase="reaching",
                    positions=done,
                    total=positions,
                    tiers_done=tiers_done,
                    tiers=len(sizes),
                    seconds=seconds,
                )
            )

    def expand(tiers: tuple[int, ...]) -> None:
        expanded = {tier: np.zeros_like(reached[tier]) for tier in tiers}
        while sum(engine.mark_reachable(tier, reached, expanded[tier]) for tier in tiers):
            pass

    try:
        for tier, size in sizes.items():
            engine.define(tier, size)
        start = table.slot(table.game.start())
        assert start is not None
        reached[start[0]][start[1] // 64] |= np.uint64(1 << start[1] % 64)
        for component in reversed(components(graph)):
            background.run(partial(expand, component.tiers), game=table.game, stop=stop, cancel=engine.stop, tell=tell)
            tiers_done += len(component.tiers)
    finally:
        engine.close()
    return reached


def _counts(table: Table, tier: int, bitmap: Bitmap) -> dict[int, int]:
    bits = bitmap.view(np.uint8)  # little-endian words: byte b holds slots 8b to 8b + 7
    totals: Counter[int] = Counter()
    first = 0
    for block in table.values(tier):
        wanted = np.unpackbits(bits[first // 8 : -(-(first + len(block)) // 8)], bitorder="little")[: len(block)]
        totals.update(count_codes(np.ascontiguousarray(block[wanted.astype(bool)])))
        first += len(block)
    return dict(sorted(totals.items()))
