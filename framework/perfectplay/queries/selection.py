"""Positions of a table with their values, part by part: all of them or those that are wanted.

A slot may stand for two positions, one the other with colours and side to move swapped. People know them as two, so
what comes out of here lists both, each in the game's canonical form. The order is that of the table: tier by tier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfectplay.errors import UsageError
from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay.wording import outcomes_only
from perfectplay_native.engine import Positions, canonicalize_many

if TYPE_CHECKING:
    from perfectplay.tables.records import TierRecord
    from perfectplay.tables.table import Table

ROW = np.dtype([("position", "<u8"), ("code", "<u2")])
"""A canonical position and its value code (`Value.from_code` reads it), for the side to move."""

SCORED_ROW = np.dtype([("position", "<u8"), ("code", "<u4")])
"""The same where the game has scores, which are in the codes."""

Rows = npt.NDArray[Any]
"""An array of dtype ROW or SCORED_ROW."""

CHUNK = 1 << 16
"""Slots looked at at a time."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which positions are wanted; by default all. `outcome` is for the side to move."""

    outcome: Outcome | None = None
    remoteness: int | None = None
    """Exactly so many plies to the end."""
    max_remoteness: int | None = None
    """Endless draws have no remoteness, so a bound leaves them out."""
    tiers: frozenset[int] | None = None
    limit: int | None = None
    """The first so many in the order of the table."""

    def wants(self, value: Value) -> bool:
        if self.outcome not in (None, value.outcome) or self.remoteness not in (None, value.remoteness):
            return False
        bound, plies = self.max_remoteness, value.remoteness
        return bound is None or (plies is not None and plies <= bound)


def selected_tiers(table: Table, wanted: Selection) -> list[tuple[TierRecord, list[int]]]:
    """The solved tiers that hold wanted positions, each with the wanted codes in it.

    UsageError for unknown tiers, and for a remoteness where the table knows none.
    """
    if table.outcomes_only and (wanted.remoteness, wanted.max_remoteness) != (None, None):
        raise UsageError(f"no position can be chosen by its plies: {outcomes_only(puzzle=table.game.is_puzzle)}")
    unknown = sorted((wanted.tiers or frozenset()) - set(table.records))
    if unknown:
        known = ", ".join(map(str, sorted(table.records)[:20])) + (", …" if len(table.records) > 20 else "")
        raise UsageError(f"the table of {table.game.name} has no tier {unknown[0]}; there are {known}")
    found = []
    for tier, record in sorted(table.records.items()):
        if wanted.tiers is None or tier in wanted.tiers:
            codes = [c for c in record.counts if c != NO_POSITION_CODE and wanted.wants(Value.from_code(c))]
            if codes:
                found.append((record, codes))
    return found


def count_selected(table: Table, wanted: Selection) -> int:
    """How many rows `select` gives, known without reading the values."""
    slots = sum(record.counts[code] for record, codes in selected_tiers(table, wanted) for code in codes)
    start = np.array([table.game.start()], dtype=np.uint64)
    rows = slots if table.game.colour_swapped(start) is None else 2 * slots
    return rows if wanted.limit is None else min(rows, wanted.limit)


def select(table: Table, wanted: Selection) -> Iterator[Rows]:
    """The wanted positions with their values, in parts of some ten thousand."""
    left = wanted.limit
    for record, codes in selected_tiers(table, wanted):
        is_wanted = _chosen(codes)
        for first, values in _chunks(table, record.tier):
            hits = np.flatnonzero(is_wanted(values))
            if not len(hits):
                continue
            positions = table.positions(record.tier, first, len(values))[hits]
            rows = _rows(table, positions, values[hits])[:left]
            yield rows
            if left is not None:
                left -= len(rows)
                if left == 0:
                    return


def rebatched(parts: Iterable[Rows], least: int) -> Iterator[Rows]:
    """The same rows in parts of at least so many; filters leave parts of a few rows each."""
    held: list[Rows] = []
    count = 0
    for part in parts:
        held.append(part)
        count += len(part)
        if count >= least:
            yield np.concatenate(held)
            held.clear()
            count = 0
    if held:
        yield np.concatenate(held)


def _chosen(codes: list[int]) -> Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]:
    """Tells of many codes which are among the chosen; without scores by a look into a list."""
    if max(codes) >= 1 << 16:
        return lambda values: np.isin(values, codes)
    chosen = np.zeros(1 << 16, dtype=bool)
    chosen[codes] = True
    # A scored tier may hold higher codes, which are not wanted then. `take`, for indexing crashes in numpy (2.x) when
    # memory runs out.
    return lambda values: chosen.take(values) if values.itemsize < 4 else np.isin(values, codes)


def _chunks(table: Table, tier: int) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Values of a tier with the index of the first of them."""
    first = 0
    for block in table.values(tier):
        for start in range(0, len(block), CHUNK):
            yield first + start, block[start : start + CHUNK]
        first += len(block)


def _rows(table: Table, positions: Positions, codes: npt.NDArray[Any]) -> Rows:
    """Each position, followed by its twin where it shares its slot with one."""
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.stack([positions, swapped], axis=1).ravel()
        codes = np.repeat(codes, 2)
    rows = np.empty(len(positions), dtype=SCORED_ROW if table.scored else ROW)
    rows["position"] = canonicalize_many(table.kernel, positions)
    rows["code"] = codes
    return rows
