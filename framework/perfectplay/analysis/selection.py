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

from perfectplay.analysis.moves import rate_moves
from perfectplay.errors import TableError, UsageError
from perfectplay.game.wording import outcomes_only
from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.engine import NO_SLOT
from perfectplay_native.positions import Positions, canonicalize_many

if TYPE_CHECKING:
    from perfectplay.table.records import TierRecord
    from perfectplay.table.table import Table

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


# Random positions of a table: for looking around, for samples, for tests.


def random_positions(table: Table, count: int, seed: int | None = None) -> Positions:
    """`count` positions of the solved tiers, canonical, each position as likely as any other; the same for a seed.

    A position may come more than once. Where two positions share a slot, each is as likely. TableError if no tier
    is solved yet.
    """
    tiers = sorted(table.records)
    inhabited = [table.records[tier].size - table.records[tier].counts.get(NO_POSITION_CODE, 0) for tier in tiers]
    if not sum(inhabited):
        raise TableError(f"the table of {table.game.name} has no solved position yet")
    generator = np.random.default_rng(seed)
    share = np.array(inhabited) / sum(inhabited)
    picked = [_in_tier(table, tiers[place], generator) for place in generator.choice(len(tiers), size=count, p=share)]
    positions = np.array(picked, dtype=np.uint64)
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.where(generator.random(count) < 0.5, positions, swapped)
    return canonicalize_many(table.kernel, positions)


def _in_tier(table: Table, tier: int, generator: np.random.Generator) -> int:
    """A random position of a tier: slots are drawn until one holds a position."""
    size = table.records[tier].size
    while True:
        position = int(table.positions(tier, int(generator.integers(size)), 1)[0])
        if position != NO_SLOT:
            return position


# Positions worth looking at, found by chance: one of a given value, or one in which a single move wins.

PUZZLE_MOVES = 4
"""A puzzle leaves at least so many moves, up to symmetry, to choose from."""
PUZZLE_DEPTH = 3
"""Its win takes at least so many plies, where the game has such wins: otherwise one sees it at once."""
_TRIES = 3_000


def random_of_value(table: Table, value: Value, seed: int) -> int | None:
    """A position of this value, another for another seed; None where there is none.

    Tiers are as likely as they have such positions; within a tier one block is searched.
    """
    tiers = [(tier, record.counts[value.code]) for tier, record in table.records.items() if value.code in record.counts]
    if not tiers:
        return None
    generator = np.random.default_rng(seed)
    counts = np.array([count for _, count in tiers], dtype=float)
    tier = tiers[int(generator.choice(len(tiers), p=counts / counts.sum()))][0]
    blocks = table.values(tier)
    sizes = np.cumsum([0, *map(len, blocks)])
    for number in generator.permutation(len(blocks)):
        hits = np.flatnonzero(blocks[number] == value.code)
        if len(hits):
            return int(table.positions(tier, int(sizes[number] + generator.choice(hits)), 1)[0])
    return None


def random_puzzle(table: Table, seed: int) -> int | None:
    """A won position in which exactly one move, up to symmetry, wins, and there are others to be tempted by.

    None where a few thousand random positions hold none. Where only outcomes are known, the win may be quick.
    """
    longest = table.statistics.longest_win or 0
    fallback = None
    for position in map(int, random_positions(table, _TRIES, seed)):
        value = table.get(position)
        if value is None or value.outcome is not Outcome.WIN:
            continue
        deep = value.remoteness is None or value.remoteness >= min(PUZZLE_DEPTH, longest)
        if not deep and fallback is not None:
            continue
        rated = rate_moves(table.game, table, position, known_only=True)
        if len(rated) >= PUZZLE_MOVES and sum(each.value.outcome is Outcome.WIN for each in rated) == 1:
            if deep:
                return position
            fallback = position
    return fallback


# Value codes as columns, for pandas, polars and the like.

Column = np.ma.MaskedArray[Any, np.dtype[Any]]


def value_columns(codes: npt.ArrayLike) -> dict[str, Column]:
    """The columns `outcome` (1 win, 0 draw, -1 loss, for the side to move) and `remoteness` (plies to the end).

    Codes of a game with scores take four bytes each: then there is `score` too, by how much the side to move wins.
    `codes` are those of `Table.probe_many` and `select`. What is not known is masked: everything where there is no
    value, the remoteness of an endless draw, all remoteness of a table of outcomes.
    `pandas.DataFrame(value_columns(codes))` makes a table of it.

    >>> columns = value_columns([55, 0, 4])
    >>> columns["outcome"].tolist(), columns["remoteness"].tolist()
    ([1, 0, None], [13, None, None])
    """
    codes = np.asarray(codes)
    given, places = np.unique(codes, return_inverse=True)
    values = [None if code == NO_POSITION_CODE else Value.from_code(code) for code in given.tolist()]
    outcomes = [None if value is None else int(value.outcome) for value in values]
    plies = [None if value is None else value.remoteness for value in values]
    columns = {"outcome": _column(outcomes, np.int8)[places], "remoteness": _column(plies, np.int32)[places]}
    if codes.dtype == np.uint32:
        scores = [None if value is None else value.score for value in values]
        columns["score"] = _column(scores, np.int32)[places]
    return columns


def _column(values: list[int | None], kind: type[np.signedinteger[Any]]) -> Column:
    mask = [value is None for value in values]
    return np.ma.array([value or 0 for value in values], mask=mask, dtype=kind)
