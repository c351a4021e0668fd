"""The proof of a table: every stored value is derived again from its children, by the forward rules alone.

Outcomes alone can agree with their children and yet be wrong where play may go round: so they are proven from the last
tiers to the first, with an order beside them that the engine makes and the proof checks (verify.c says how).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from perfectplay.errors import DamagedTable, PluginError
from perfectplay.game.engine import cpu_seconds, run_in_background
from perfectplay.plan.sizes import FIXED_MEMORY
from perfectplay.progress import Progress
from perfectplay.solve.options import require_enough
from perfectplay.table.records import TierRecord
from perfectplay.table.table import Table
from perfectplay.tiers.order import components, tier_graph
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine, Fault
from perfectplay_native.kernel import slot_of
from perfectplay_native.positions import Positions
from perfectplay_native.values import count_codes

EXAMPLES = 10
"""How many wrong positions are named."""

KEYS_AT_A_TIME = 1 << 16


@dataclass(frozen=True, slots=True)
class BadPosition:
    """A stored value that its children contradict."""

    tier: int
    index: int
    position: int | None
    stored: str
    expected: str


@dataclass(slots=True)
class VerifyReport:
    """What a verification found."""

    checked: int = 0
    bad: int = 0
    examples: list[BadPosition] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    workers: int | None = None
    """How many workers there were; None where there were threads instead."""


def verify_table(
    table: Table,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> VerifyReport:
    """Check every value of a finished table.

    On the way everything else is checked that an answer rests on: the tiers are those of the game, the start is in the
    table, every position of an enumerated game is found where its value stands, blocks have the right checksums,
    and codes are as often there as the records say. TableError where one of these does not hold.

    Outcomes alone take as much memory as solving them does; with `memory`, what goes beyond it is in files beside the
    table.
    """
    table.require_complete()
    require_enough(memory)
    check_tiers(table)
    if table.slot(table.game.start()) is None:
        raise damaged(table, "the start is not in it")
    started, cpu_started = time.monotonic(), cpu_seconds()
    with closing(Engine(table.kernel, tiers=max(table.records) + 1, threads=threads)) as engine:
        if memory is not None:
            engine.set_memory(memory - FIXED_MEMORY, None if table.store.path is None else str(table.store.path))
        proof = _Proof(table, engine, progress, stop or threading.Event())
        (proof.of_outcomes if table.outcomes_only else proof.of_full_values)()
    report = proof.report
    report.seconds = time.monotonic() - started
    report.cpu_seconds = cpu_seconds() - cpu_started
    return report


class _Proof:
    """One run: what its steps share."""

    def __init__(
        self, table: Table, engine: Engine, progress: Callable[[Progress], None] | None, stop: threading.Event
    ) -> None:
        self.table, self.engine, self.progress, self.stop = table, engine, progress, stop
        self.report = VerifyReport()
        self.started = time.monotonic()
        self.total = sum(record.size for record in table.records.values())
        self.done = self.tiers_done = 0

    def of_full_values(self) -> None:
        """Every value beside those of its children, wherever these are."""
        for record in self.table.records.values():
            self._define(record)
            self._attach(record)
        for _, record in sorted(self.table.records.items()):
            self._verify(record)

    def of_outcomes(self) -> None:
        """From the last tiers to the first: those that are not proven yet are not there for the others to rest on."""
        records = self.table.records
        order = components(tier_graph(self.table.kernel, self.table.keys))
        self.total += sum(records[tier].size for step in order if step.cyclic for tier in step.tiers)
        for step in order:
            for tier in step.tiers:
                self._define(records[tier])
            try:
                self._run(partial(self.engine.find_decision_order, step.tiers, cyclic=step.cyclic))
            except PluginError:
                if not self.report.bad:
                    raise
                return  # it rests on values that are wrong: so much is certain, and no more can be said
            self.done += sum(records[tier].size for tier in step.tiers) if step.cyclic else 0
            for tier in step.tiers:
                self._attach(records[tier])
            for tier in step.tiers:
                self._verify(records[tier])

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
        report.checked += record.size - (record.counts.get(NO_POSITION_CODE, 0) if self.table.kernel.ranked else 0)
        report.bad += wrong
        report.examples += [bad_position(fault) for fault in faults][: EXAMPLES - len(report.examples)]

    def _run(self, work: Callable[[], None]) -> None:
        run_in_background(work, game=self.table.game, stop=self.stop, cancel=self.engine.stop, tell=self._tell)

    def _tell(self) -> None:
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


def positions_of(table: Table, record: TierRecord) -> int:
    """How many of a tier's slots hold a position."""
    return record.size - (record.counts.get(NO_POSITION_CODE, 0) if table.kernel.ranked else 0)


def check_tiers(table: Table) -> None:
    """The tiers are the game's, and have as many values as it has positions."""
    kernel = table.kernel
    if kernel.ranked:
        expected = {tier: kernel.tier_size(tier) for tier in range(kernel.tier_count)}
    else:
        expected = {tier: record.size for tier, record in table.keys.items()}
    found = {tier: record.size for tier, record in table.records.items()}
    wrong = sorted(tier for tier in {*expected, *found} if expected.get(tier) != found.get(tier))
    if wrong or not found:
        raise damaged(table, f"tier {wrong[0]} is not that of the game" if wrong else "it has no tiers")


def _check_counts(table: Table, record: TierRecord) -> None:
    counts: Counter[int] = Counter()
    for block in table.values(record.tier):
        counts.update(count_codes(block))
    compare_counts(table, record, counts)


def compare_counts(table: Table, record: TierRecord, counts: Counter[int]) -> None:
    """The codes of a tier are as often there as its record says."""
    if counts != record.counts:
        raise damaged(table, f"the values of tier {record.tier} are not those that its record counts")


def _check_keys(table: Table, engine: Engine, tier: int, stop: threading.Event) -> None:
    """Every position is found in its own place: keys are canonical, of this tier, in order, and each is there once."""
    first = 0
    for block in table.store.key_blocks(table.keys[tier]):
        keys = np.frombuffer(block, dtype=np.uint64)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            part = keys[start : start + KEYS_AT_A_TIME]
            if (lost := lost_position(engine, tier, first, part)) is not None:
                raise damaged(table, f"position {lost} of tier {tier} cannot be found")
            if stop.is_set():
                return
            first += len(part)


def lost_position(engine: Engine, tier: int, first: int, keys: Positions) -> int | None:
    """A position that is not found in its place, the first of these having the index `first`."""
    slots = np.arange(slot_of(tier, first), slot_of(tier, first) + len(keys), dtype=np.uint64)
    lost = keys[engine.find_many(keys) != slots]
    return int(lost[0]) if len(lost) else None


def damaged(table: Table, what: str) -> DamagedTable:
    return DamagedTable(f"the table of {table.game.identity} is damaged: {what}")


def bad_position(fault: Fault) -> BadPosition:
    return BadPosition(
        tier=fault.tier,
        index=fault.index,
        position=fault.position,
        stored=_words(fault.stored),
        expected="no value fits its children" if fault.expected is None else _words(fault.expected),
    )


def _words(code: int) -> str:
    try:
        return str(Value.from_code(code))
    except ValueError:
        return "no position"
