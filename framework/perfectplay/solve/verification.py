"""Proves a table: every stored value is derived again from its children, using only the forward rules.

In a table of outcomes without remoteness, wrong values on a cycle can agree with their children. Such a table is proven
from the last tiers to the first, with an order of the positions that the engine claims and the proof checks (verify.c).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from perfectplay.compile.kernel import describe_rules, solving_kernel
from perfectplay.errors import DamagedTable, Interrupted, PluginError
from perfectplay.game.engine import cpu_seconds, run_in_background
from perfectplay.plan.sizes import FIXED_MEMORY
from perfectplay.solve.options import require_enough_memory
from perfectplay.table.records import TierRecord
from perfectplay.table.table import Table
from perfectplay.threads import Progress
from perfectplay.tiers.order import TierScan, components, tier_graph, tier_sizes
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine, Fault
from perfectplay_native.kernel import slot_of
from perfectplay_native.positions import Positions
from perfectplay_native.values import count_codes

EXAMPLES = 10
"""The largest number of wrong positions in a report."""

KEY_BATCH = 1 << 16
"""Keys looked up between two checks for a stop request."""


@dataclass(frozen=True, slots=True)
class BadPosition:
    """A stored value that contradicts the values of the position's children."""

    tier: int
    index: int
    position: int | None
    stored: str
    expected: str


@dataclass(slots=True)
class VerifyReport:
    """The result of a verification."""

    checked: int = 0
    bad: int = 0
    examples: list[BadPosition] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    rules: str = ""
    """The rules that were used: "C kernel", "Python, compiled" or "Python"."""
    workers: int | None = None
    """The number of workers; None if the verification used threads."""


def verify_table(
    table: Table,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> VerifyReport:
    """Check every value of a finished table and return a report.

    Also checks that the table has the tiers of the game, that it contains the start, that a lookup of every position of
    an enumerated game finds its value, that all checksums match, and that the records count the values correctly.
    Raises TableError if one of these checks fails.

    Verifying a table of outcomes takes as much memory as solving it; with `memory`, arrays beyond that number of bytes
    are kept in files beside the table.
    """
    require_enough_memory(memory)
    check_structure(table)
    started, cpu_started = time.monotonic(), cpu_seconds()
    with closing(Engine(solving_kernel(table.game), tiers=max(table.records) + 1, threads=threads)) as engine:
        if memory is not None:
            engine.set_memory(memory - FIXED_MEMORY, None if table.store.path is None else str(table.store.path))
        proof = _Verification(table, engine, progress, stop or threading.Event())
        if table.outcomes_only:
            proof.verify_outcomes()
        else:
            proof.verify_full_values()
    report = proof.report
    report.rules = describe_rules(table.game)
    report.seconds = time.monotonic() - started
    report.cpu_seconds = cpu_seconds() - cpu_started
    return report


class _Verification:
    """The state of one verification in this process."""

    def __init__(
        self, table: Table, engine: Engine, progress: Callable[[Progress], None] | None, stop: threading.Event
    ) -> None:
        self.table, self.engine, self.progress, self.stop = table, engine, progress, stop
        self.report = VerifyReport()
        self.started = time.monotonic()
        self.total = sum(record.size for record in table.records.values())
        self.done = self.tiers_done = 0

    def verify_full_values(self) -> None:
        """Compare every value with those of its children, in any order of tiers."""
        for record in self.table.records.values():
            self._define(record)
            self._attach(record)
        for _, record in sorted(self.table.records.items()):
            self._verify(record)

    def verify_outcomes(self) -> None:
        """Prove tiers from the last to the first. A tier is attached only when all tiers it depends on are proven."""
        records = self.table.records
        graph = tier_graph(self.table.kernel, self.table.keys, TierScan(check=self._check_stop))
        if missing := graph.keys() - records.keys():
            raise damage_error(self.table, f"tier {min(missing)} is missing")
        order = components(graph)
        self.total += sum(records[tier].size for step in order if step.cyclic for tier in step.tiers)
        for step in order:
            for tier in step.tiers:
                self._define(records[tier])
            try:
                self._run(partial(self.engine.find_decision_order, step.tiers, cyclic=step.cyclic))
            except PluginError:
                if not self.report.bad:
                    raise
                return  # this component depends on values already known to be wrong
            self.done += sum(records[tier].size for tier in step.tiers) if step.cyclic else 0
            for tier in step.tiers:
                self._attach(records[tier])
            for tier in step.tiers:
                self._verify(records[tier])

    def _check_stop(self) -> None:
        if self.stop.is_set():
            raise Interrupted("interrupted")

    def _define(self, record: TierRecord) -> None:
        keys = self.table.keys.get(record.tier)
        self.engine.define(record.tier, record.size, None if keys is None else self.table.store.key_blocks(keys))

    def _attach(self, record: TierRecord) -> None:
        self.engine.attach(record.tier, record.width, self.table.store.value_blocks(record))

    def _verify(self, record: TierRecord) -> None:
        self._run(partial(self._verify_tier, record))
        self.done += record.size
        self.tiers_done += 1

    def _verify_tier(self, record: TierRecord) -> None:
        report = self.report
        _check_counts(self.table, record)
        if record.tier in self.table.keys:
            _check_keys(self.table, self.engine, record.tier, self.stop)
        wrong, faults = self.engine.verify(record.tier, examples=EXAMPLES)
        report.checked += count_positions(self.table, record)
        report.bad += wrong
        report.examples += [describe_fault(fault) for fault in faults][: EXAMPLES - len(report.examples)]

    def _run(self, work: Callable[[], None]) -> None:
        run_in_background(
            work, game=self.table.game, stop=self.stop, cancel=self.engine.stop, report=self._report_progress
        )

    def _report_progress(self) -> None:
        if self.progress is None:
            return
        self.progress(
            Progress(
                phase="verifying",
                positions=min(self.total, self.done + self.engine.progress.positions),
                total=self.total,
                tiers_done=self.tiers_done,
                tiers=len(self.table.records),
                seconds=time.monotonic() - self.started,
            )
        )


def count_positions(table: Table, record: TierRecord) -> int:
    """Return the number of a tier's slots that hold a position."""
    return record.size - (record.counts.get(NO_POSITION_CODE, 0) if table.kernel.ranked else 0)


def check_structure(table: Table) -> None:
    """Raise TableError unless a table is finished, has the game's tiers in the right sizes, and contains the start."""
    table.require_complete()
    kernel = table.kernel
    tiers: Iterable[int] = range(kernel.tier_count) if kernel.ranked else table.keys
    if kernel.layout is not None:  # which tiers play can reach becomes clear when the children are verified
        tiers = [tier for tier in table.records if tier < kernel.tier_count]
    expected = tier_sizes(kernel, table.keys, tiers)
    actual = {tier: record.size for tier, record in table.records.items()}
    wrong = sorted(tier for tier in {*expected, *actual} if expected.get(tier) != actual.get(tier))
    if wrong or not actual:
        raise damage_error(table, f"tier {wrong[0]} does not match the game" if wrong else "it has no tiers")
    if table.slot(table.game.start()) is None:
        raise damage_error(table, "the start is missing")


def _check_counts(table: Table, record: TierRecord) -> None:
    counts: Counter[int] = Counter()
    for block in table.values(record.tier):
        counts.update(count_codes(block))
    compare_counts(table, record, counts)


def compare_counts(table: Table, record: TierRecord, counts: Counter[int]) -> None:
    """Raise DamagedTable if a tier's values are not those that its record counts."""
    if counts != record.counts:
        raise damage_error(table, f"the values of tier {record.tier} do not match the counts in its record")


def _check_keys(table: Table, engine: Engine, tier: int, stop: threading.Event) -> None:
    """Raise DamagedTable if a key cannot be looked up: it is not canonical, in another tier, misplaced or repeated."""
    first = 0
    for block in table.store.key_blocks(table.keys[tier]):
        keys = np.frombuffer(block, dtype=np.uint64)
        for start in range(0, len(keys), KEY_BATCH):
            part = keys[start : start + KEY_BATCH]
            if (lost := find_lost_position(engine, tier, first, part)) is not None:
                raise damage_error(table, f"position {lost} of tier {tier} cannot be found")
            if stop.is_set():
                return
            first += len(part)


def find_lost_position(engine: Engine, tier: int, first: int, keys: Positions) -> int | None:
    """Return a position that a lookup does not find in its slot; `first` is the index of the first key."""
    slots = np.arange(slot_of(tier, first), slot_of(tier, first) + len(keys), dtype=np.uint64)
    lost = keys[engine.find_many(keys) != slots]
    return int(lost[0]) if len(lost) else None


def damage_error(table: Table, what: str) -> DamagedTable:
    return DamagedTable(f"the table of {table.game.identity} is damaged: {what}")


def describe_fault(fault: Fault) -> BadPosition:
    return BadPosition(
        tier=fault.tier,
        index=fault.index,
        position=fault.position,
        stored=_describe_code(fault.stored),
        expected="no value fits its children" if fault.expected is None else _describe_code(fault.expected),
    )


def _describe_code(code: int) -> str:
    try:
        return str(Value.from_code(code))
    except ValueError:
        return "no position"
