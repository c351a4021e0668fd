"""A table in numbers: how many positions of each kind, tier by tier and ply by ply, and which last longest."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.selection import Selection, random_positions, select
from perfectplay.game.engine import run_in_background
from perfectplay.progress import Progress
from perfectplay.table.records import Statistics
from perfectplay.tiers.order import components
from perfectplay.values import Outcome, Status, Value
from perfectplay_native.engine import Engine
from perfectplay_native.values import count_codes

if TYPE_CHECKING:
    from perfectplay.progress import Progress
    from perfectplay.table.table import Table

LONGEST_SHOWN = 5
"""How many of the longest wins are named."""

BRANCHING_SAMPLE = 2_000
"""Positions whose moves are counted."""


@dataclass(frozen=True, slots=True)
class Branching:
    """Legal moves of a position that is not finished, on average over a sample."""

    sample: int
    moves: float
    distinct: float
    """Counting moves that are the same up to symmetry once."""
    most: int
    """The most moves of any position in the sample."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What `survey` found. All values are for the side to move; a slot that two positions share counts once."""

    total: Statistics
    tiers: dict[int, Statistics]
    reachable: bool
    """Whether only what play from the start can reach was counted."""
    tiers_solved: int
    tiers_known: int | None
    """How many tiers there are; None where that is not known yet."""
    bytes: int
    """What the table takes on disk; 0 while it is only in memory."""
    longest_wins: list[int] = field(default_factory=list)
    """Some of the positions whose win takes longest."""
    branching: Branching | None = None

    @property
    def by_remoteness(self) -> dict[int, dict[str, int]]:
        """For each remoteness how many wins, losses and ties; endless draws have none."""
        rows: dict[int, dict[str, int]] = {}
        for code, count in self.total.by_code.items():
            value = Value.from_code(code)
            if value.remoteness is not None:
                row = rows.setdefault(value.remoteness, {"wins": 0, "losses": 0, "ties": 0})
                row[{Outcome.WIN: "wins", Outcome.LOSS: "losses", Outcome.DRAW: "ties"}[value.outcome]] += count
        return dict(sorted(rows.items()))


def survey(
    table: Table,
    *,
    reachable: bool = False,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Survey:
    """Count a table's positions; of an unfinished table, those of the tiers that are solved.

    With `reachable`, only positions that play from the start can reach are counted, which takes a walk over all of
    them: minutes for hundreds of millions.

    >>> from perfectplay import load_game, open_table
    >>> with open_table(load_game("gobblet")) as table:
    ...     print(survey(table).total.endless_draws)
    104224
    """
    reached = find_reached(table, threads=threads, progress=progress, stop=stop) if reachable else Reached(table, None)
    counts = reached.counts()
    total = Statistics.of(counts.values())
    return Survey(
        total=total,
        tiers={tier: Statistics.of([tier_counts]) for tier, tier_counts in counts.items()},
        reachable=reachable,
        tiers_solved=len(table.records),
        tiers_known=_tiers_known(table),
        bytes=table.size_on_disk,
        longest_wins=_longest_wins(table, reached, total.longest_win),
        branching=_branching(table),
    )


def _tiers_known(table: Table) -> int | None:
    if table.kernel.ranked:
        return table.kernel.tier_count
    return None if table.info.status == "enumerating" else len(table.keys)


def _longest_wins(table: Table, reached: Reached, longest: int | None) -> list[int]:
    if longest is None:
        return []
    of_slot: dict[object, int] = {}  # of two positions that share a slot, one will do
    for rows in select(table, Selection(outcome=Outcome.WIN, remoteness=longest)):
        for position in filter(reached.__contains__, map(int, rows["position"])):
            of_slot.setdefault(table.slot(position), position)
            if len(of_slot) == LONGEST_SHOWN:
                return list(of_slot.values())
    return list(of_slot.values())


def _branching(table: Table) -> Branching | None:
    if not table.records or not table.statistics.positions:
        return None
    game = table.game
    sample = [
        game.move_classes(position)
        for position in map(int, np.unique(random_positions(table, BRANCHING_SAMPLE)))
        if game.status(position) is Status.ONGOING
    ]
    if not sample:
        return None
    moves = [sum(map(len, classes)) for classes in sample]
    return Branching(len(sample), sum(moves) / len(sample), sum(map(len, sample)) / len(sample), max(moves))


# Which positions of a table play can reach from the start.
#
# A game that the engine enumerates has no others. A perfect index has: every board that the pieces can make has a slot,
# also those that no game comes to. A slot counts as reached if play reaches a position that it stands for.

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
            run_in_background(
                partial(expand, component.tiers), game=table.game, stop=stop, cancel=engine.stop, tell=tell
            )
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
