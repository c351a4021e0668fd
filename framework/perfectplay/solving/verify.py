"""The proof of a table: every stored value is derived again from its children, by the forward rules alone."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from perfectplay.errors import DamagedTable
from perfectplay.progress import Progress
from perfectplay.solving import background
from perfectplay.tables.records import TierRecord
from perfectplay.tables.table import Table
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine, Fault, count_codes
from perfectplay_native.kernel import slot_of

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


def verify_table(
    table: Table,
    *,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> VerifyReport:
    """Check every value of a finished table.

    On the way everything else is checked that an answer rests on: the tiers are those of the game, the start is in the
    table, every position of an enumerated game is found where its value stands, blocks have the right checksums,
    and codes are as often there as the records say. TableError where one of these does not hold.
    """
    table.require_complete()
    _check_tiers(table)
    started, cpu_started = time.monotonic(), background.cpu_seconds()
    stop = stop or threading.Event()
    engine = Engine(table.kernel, tiers=max(table.records) + 1, threads=threads)
    report = VerifyReport()
    slots = sum(record.size for record in table.records.values())
    tiers_done = 0

    def tell() -> None:
        if progress is not None:
            done = engine.progress.positions
            seconds = time.monotonic() - started
            progress(
                Progress(
                    phase="verifying",
                    positions=done,
                    total=slots,
                    tiers_done=tiers_done,
                    tiers=len(table.records),
                    seconds=seconds,
                )
            )

    def verify_tier(record: TierRecord) -> None:
        _check_counts(table, record)
        if record.tier in table.keys:
            _check_keys(table, engine, record.tier, stop)
        wrong, faults = engine.verify(record.tier, examples=EXAMPLES)
        report.checked += record.size - (record.counts.get(NO_POSITION_CODE, 0) if table.kernel.ranked else 0)
        report.bad += wrong
        report.examples += [_bad(fault) for fault in faults][: EXAMPLES - len(report.examples)]

    try:
        for tier, record in table.records.items():
            keys = table.keys.get(tier)
            engine.define(tier, record.size, None if keys is None else table.store.key_blocks(keys))
            engine.attach(tier, record.width, table.store.value_blocks(record))
        if engine.find(table.game.start()) is None:
            raise _damaged(table, "the start is not in it")
        for record in sorted(table.records.values(), key=lambda r: r.tier):
            background.run(partial(verify_tier, record), game=table.game, stop=stop, cancel=engine.stop, tell=tell)
            tiers_done += 1
    finally:
        engine.close()
    report.seconds = time.monotonic() - started
    report.cpu_seconds = background.cpu_seconds() - cpu_started
    return report


def _check_tiers(table: Table) -> None:
    """The tiers are the game's, and have as many values as it has positions."""
    kernel = table.kernel
    if kernel.ranked:
        expected = {tier: kernel.tier_size(tier) for tier in range(kernel.tier_count)}
    else:
        expected = {tier: record.size for tier, record in table.keys.items()}
    found = {tier: record.size for tier, record in table.records.items()}
    wrong = sorted(tier for tier in {*expected, *found} if expected.get(tier) != found.get(tier))
    if wrong or not found:
        raise _damaged(table, f"tier {wrong[0]} is not that of the game" if wrong else "it has no tiers")


def _check_counts(table: Table, record: TierRecord) -> None:
    counts: Counter[int] = Counter()
    for block in table.values(record.tier):
        counts.update(count_codes(block))
    if counts != record.counts:
        raise _damaged(table, f"the values of tier {record.tier} are not those that its record counts")


def _check_keys(table: Table, engine: Engine, tier: int, stop: threading.Event) -> None:
    """Every position is found in its own place: keys are canonical, of this tier, in order, and each is there once."""
    first = 0
    for block in table.store.key_blocks(table.keys[tier]):
        keys = np.frombuffer(block, dtype=np.uint64)
        for start in range(0, len(keys), KEYS_AT_A_TIME):
            part = keys[start : start + KEYS_AT_A_TIME]
            slots = np.arange(slot_of(tier, first), slot_of(tier, first) + len(part), dtype=np.uint64)
            lost = part[engine.find_many(part) != slots]
            if len(lost):
                raise _damaged(table, f"position {lost[0]} of tier {tier} cannot be found")
            if stop.is_set():
                return
            first += len(part)


def _damaged(table: Table, what: str) -> DamagedTable:
    return DamagedTable(f"the table of {table.game.identity} is damaged: {what}")


def _bad(fault: Fault) -> BadPosition:
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
