"""A table in numbers: how many positions of each kind, tier by tier and ply by ply, and which last longest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from perfectplay.queries.sampling import random_positions
from perfectplay.queries.selection import Selection, select
from perfectplay.solving.reachability import Reached, find_reached
from perfectplay.tables.records import Statistics
from perfectplay.values import Outcome, Status, Value

if TYPE_CHECKING:
    from perfectplay.progress import Progress
    from perfectplay.tables.table import Table

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
    ...     print(survey(table).total.draws)
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
