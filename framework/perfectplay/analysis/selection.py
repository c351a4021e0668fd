"""Selects positions of a table, with their values: all of them, filtered, or at random.

One slot may represent two positions, one of which is the other with the colours and the side to move swapped. This
module lists both, each in the game's canonical form. The order is that of the table, tier by tier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.moves import rate_moves
from perfectplay.errors import TableError, UsageError
from perfectplay.game.wording import outcomes_only
from perfectplay.values import ENDLESS_CODE, NO_POSITION_CODE, UNKNOWN_REMOTENESS, Outcome, Value
from perfectplay_native.engine import NO_SLOT
from perfectplay_native.positions import Positions, canonicalize_many

if TYPE_CHECKING:
    from perfectplay.table.records import TierRecord
    from perfectplay.table.table import Table

ROW = np.dtype([("position", "<u8"), ("code", "<u2")])
"""A canonical position and its value code for the side to move (see `Value.from_code`)."""

SCORED_ROW = np.dtype([("position", "<u8"), ("code", "<u4")])
"""The same for a game with scores, whose codes are longer."""

Rows = npt.NDArray[Any]
"""An array of dtype ROW or SCORED_ROW."""

Codes = npt.NDArray[Any]
"""An array of value codes."""

MAX_RANDOM = 10_000_000
"""How many random positions may be drawn at once. `solve random` has the same limit."""

CHUNK = 1 << 16
"""Slots processed at a time."""


# ---- filters ----


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter for positions; by default it selects all. `outcome` is for the side to move."""

    outcome: Outcome | None = None
    remoteness: int | None = None
    """The exact number of plies to the end."""
    max_remoteness: int | None = None
    """The maximum number of plies to the end. Endless draws have none, so a maximum excludes them."""
    tiers: frozenset[int] | None = None
    limit: int | None = None
    """The maximum number of positions; the first ones in the order of the table are selected."""

    def matches(self, value: Value) -> bool:
        if self.outcome not in (None, value.outcome) or self.remoteness not in (None, value.remoteness):
            return False
        maximum, plies = self.max_remoteness, value.remoteness
        return maximum is None or (plies is not None and plies <= maximum)


def selected_tiers(table: Table, selection: Selection) -> list[tuple[TierRecord, list[int]]]:
    """Return the solved tiers that contain selected positions, each with the selected value codes.

    Raises UsageError for an unknown tier, and for a remoteness if the table stores outcomes only.
    """
    if table.outcomes_only and (selection.remoteness, selection.max_remoteness) != (None, None):
        raise UsageError(f"cannot select positions by remoteness: {outcomes_only(puzzle=table.game.is_puzzle)}")
    missing = sorted((selection.tiers or frozenset()) - set(table.records))
    if missing:
        existing = ", ".join(map(str, sorted(table.records)[:20])) + (", …" if len(table.records) > 20 else "")
        raise UsageError(f"the table of {table.game.name} has no tier {missing[0]} (solved tiers: {existing})")
    tiers = []
    for tier, record in sorted(table.records.items()):
        if selection.tiers is None or tier in selection.tiers:
            codes = [c for c in record.counts if c != NO_POSITION_CODE and selection.matches(Value.from_code(c))]
            if codes:
                tiers.append((record, codes))
    return tiers


def count_selected(table: Table, selection: Selection) -> int:
    """Return the number of rows that `select` yields, without reading the values."""
    slots = sum(record.counts[code] for record, codes in selected_tiers(table, selection) for code in codes)
    rows = slots * positions_per_slot(table)
    return rows if selection.limit is None else min(rows, selection.limit)


def positions_per_slot(table: Table) -> int:
    """Return 2 if every slot represents a position and the same with colours swapped, otherwise 1."""
    return 1 if table.game.colour_swapped(np.array([table.game.start()], dtype=np.uint64)) is None else 2


def select(table: Table, selection: Selection) -> Iterator[Rows]:
    """Yield the selected positions with their value codes, in parts of some ten thousand rows."""
    remaining = selection.limit
    for record, codes in selected_tiers(table, selection):
        is_selected = _membership_test(codes)
        for first, values in _chunks(table, record.tier):
            hits = np.flatnonzero(is_selected(values))
            if not len(hits):
                continue
            positions = table.positions(record.tier, first, len(values))[hits]
            rows = _rows(table, positions, values[hits])[:remaining]
            yield rows
            if remaining is not None:
                remaining -= len(rows)
                if remaining == 0:
                    return


def merge_small_parts(parts: Iterable[Rows], minimum: int) -> Iterator[Rows]:
    """Yield the same rows in parts of at least `minimum` rows, because filters produce parts of a few rows each."""
    pending: list[Rows] = []
    count = 0
    for part in parts:
        pending.append(part)
        count += len(part)
        if count >= minimum:
            yield np.concatenate(pending)
            pending.clear()
            count = 0
    if pending:
        yield np.concatenate(pending)


def _membership_test(codes: list[int]) -> Callable[[Codes], npt.NDArray[np.bool_]]:
    """Return a function that marks the values equal to one of these codes. Codes of 16 bits use a lookup table."""
    if max(codes) >= 1 << 16:
        return lambda values: np.isin(values, codes)
    lookup = np.zeros(1 << 16, dtype=bool)
    lookup[codes] = True
    # A scored tier may contain codes outside the lookup table. `take` is used because indexing crashes in numpy 2 when
    # memory runs out.
    return lambda values: lookup.take(values) if values.itemsize < 4 else np.isin(values, codes)


def _chunks(table: Table, tier: int) -> Iterator[tuple[int, Codes]]:
    """Yield the values of a tier in chunks, each with the index of its first value."""
    first = 0
    for block in table.values(tier):
        for start in range(0, len(block), CHUNK):
            yield first + start, block[start : start + CHUNK]
        first += len(block)


def _rows(table: Table, positions: Positions, codes: Codes) -> Rows:
    """Return a row for each position, followed by one for the position that shares its slot, if any."""
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.stack([positions, swapped], axis=1).ravel()
        codes = np.repeat(codes, 2)
    rows = np.empty(len(positions), dtype=SCORED_ROW if table.scored else ROW)
    rows["position"] = canonicalize_many(table.kernel, positions)
    rows["code"] = codes
    return rows


# ---- value codes as columns ----

Column = np.ma.MaskedArray[Any, np.dtype[Any]]

_OUTCOMES = np.array([0, -1, 0, 1], dtype=np.int8)
"""Outcomes by the two lowest bits of a code."""


def value_columns(codes: npt.ArrayLike) -> dict[str, Column]:
    """Decode value codes, as `Table.probe_many` and `select` return them, for the side to move.

    Returns the columns `outcome` (1 win, 0 draw, -1 loss), `remoteness` (plies to the end), and for the four-byte codes
    of a game with scores `score` (by how much the side to move wins). Unknown values are masked: all columns if there
    is no value, the remoteness of an endless draw, and every remoteness in a table of outcomes.
    `pandas.DataFrame(value_columns(codes))` makes a data frame of them.

    >>> columns = value_columns([55, 0, 4])
    >>> columns["outcome"].tolist(), columns["remoteness"].tolist()
    ([1, 0, None], [13, None, None])
    """
    scored = np.asarray(codes).dtype == np.uint32
    codes = np.asarray(codes).astype(np.uint32, copy=False)
    missing = codes == NO_POSITION_CODE
    remoteness = codes >> 2 & UNKNOWN_REMOTENESS
    no_remoteness = missing | (codes == ENDLESS_CODE) | (remoteness == UNKNOWN_REMOTENESS)
    columns: dict[str, Column] = {
        "outcome": np.ma.array(_OUTCOMES[codes & 3], mask=missing),
        "remoteness": np.ma.array(remoteness, mask=no_remoteness, dtype=np.int32),
    }
    if scored:
        columns["score"] = np.ma.array((codes >> 16).astype(np.int16), mask=missing, dtype=np.int32)
    return columns


# ---- random positions ----

MIN_PUZZLE_MOVES = 4
"""Number of moves, up to symmetry, that a random puzzle has in a game with that many."""
MIN_PUZZLE_PLIES = 3
"""Minimum number of plies to the win, if the game has wins of that length. Shorter wins are too obvious."""
_PUZZLE_TRIES = 3_000
_PUZZLES_PER_LEVEL = 9
"""How many puzzles are compared to find one of a level."""


def random_positions(table: Table, count: int, seed: int | None = None) -> Positions:
    """Draw `count` canonical positions of the solved tiers, with replacement. The same seed draws the same positions.

    Every position is equally likely, including those that share a slot.
    Raises UsageError for more than `MAX_RANDOM`, and TableError if no tier is solved yet.
    """
    if not 0 <= (count := index(count)) <= MAX_RANDOM:
        raise UsageError(f"at most {MAX_RANDOM:,} random positions can be drawn at once, not {count:,}")
    tiers = sorted(table.records)
    counts = [table.records[tier].size - table.records[tier].counts.get(NO_POSITION_CODE, 0) for tier in tiers]
    if not sum(counts):
        raise TableError(f"the table of {table.game.name} has no solved position yet")
    generator = np.random.default_rng(seed)
    shares = np.array(counts) / sum(counts)
    chosen = generator.choice(len(tiers), size=count, p=shares)
    drawn = [_random_position(table, tiers[number], generator) for number in chosen]
    positions = np.array(drawn, dtype=np.uint64)
    swapped = table.game.colour_swapped(positions)
    if swapped is not None:
        positions = np.where(generator.random(count) < 0.5, positions, swapped)
    return canonicalize_many(table.kernel, positions)


def _random_position(table: Table, tier: int, generator: np.random.Generator) -> int:
    """Draw slots of a tier until one contains a position."""
    size = table.records[tier].size
    while True:
        position = int(table.positions(tier, int(generator.integers(size)), 1)[0])
        if position != NO_SLOT:
            return position


def random_of_value(table: Table, value: Value, seed: int) -> int | None:
    """Return a position with this value, depending on the seed, or None if there is none.

    A tier is drawn in proportion to its number of such positions. Within the tier, only one block is searched.
    """
    tiers = [(tier, record.counts[value.code]) for tier, record in table.records.items() if value.code in record.counts]
    if not tiers:
        return None
    generator = np.random.default_rng(seed)
    counts = np.array([count for _, count in tiers], dtype=float)
    tier = tiers[int(generator.choice(len(tiers), p=counts / counts.sum()))][0]
    blocks = table.values(tier)
    offsets = np.cumsum([0, *map(len, blocks)])
    for number in generator.permutation(len(blocks)):
        hits = np.flatnonzero(blocks[number] == value.code)
        if len(hits):
            return int(table.positions(tier, int(offsets[number] + generator.choice(hits)), 1)[0])
    return None


class PuzzleLevel(StrEnum):
    """How difficult a puzzle is, compared with others of the same game."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


def random_puzzle(table: Table, seed: int, level: PuzzleLevel | None = None) -> int | None:
    """Return a won position with several moves of which exactly one, up to symmetry, wins.

    Long wins among many moves are preferred; a table of outcomes has no lengths. With a level, the easiest, the middle
    or the hardest of several puzzles is chosen. Returns None if none of a few thousand random positions qualifies.
    """
    longest = table.statistics.longest_win or 0
    puzzles: list[tuple[bool, int, int]] = []  # whether it is good, its difficulty, the position
    wanted = 1 if level is None else _PUZZLES_PER_LEVEL
    for position in map(int, random_positions(table, _PUZZLE_TRIES, seed)):
        value = table.get(position)
        if value is None or value.outcome is not Outcome.WIN:
            continue
        rated = rate_moves(table.game, table, position, known_only=True)
        if len(rated) < 2 or sum(each.value.outcome is Outcome.WIN for each in rated) != 1:
            continue
        is_long = value.remoteness is None or value.remoteness >= min(MIN_PUZZLE_PLIES, longest)
        is_good = is_long and len(rated) >= MIN_PUZZLE_MOVES
        puzzles.append((is_good, (1 + (value.remoteness or 0)) * len(rated), position))
        if sum(good for good, _, _ in puzzles) == wanted:
            break
    if not puzzles:
        return None
    best = max(good for good, _, _ in puzzles)
    ranked = sorted((difficulty, position) for good, difficulty, position in puzzles if good == best)
    if level is None and not best:
        return ranked[-1][1]
    places = {None: 0, PuzzleLevel.EASY: 0, PuzzleLevel.MEDIUM: len(ranked) // 2, PuzzleLevel.HARD: -1}
    return ranked[places[level]][1]
