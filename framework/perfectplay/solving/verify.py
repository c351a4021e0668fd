"""The proof of a table: every stored value is derived again from its children, by the forward rules alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from perfectplay.progress import Progress
from perfectplay.solving import background
from perfectplay.tables.records import TierRecord
from perfectplay.tables.table import Table
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine, Fault

EXAMPLES = 10
"""How many wrong positions are named."""


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
    """Check every value of a finished table; the checksums of all blocks are checked on the way."""
    table.require_complete()
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
        wrong, faults = engine.verify(record.tier, examples=EXAMPLES)
        report.checked += record.size - record.counts.get(NO_POSITION_CODE, 0)
        report.bad += wrong
        report.examples += [_bad(fault) for fault in faults][: EXAMPLES - len(report.examples)]

    try:
        for tier, record in table.records.items():
            keys = table.keys.get(tier)
            engine.define(tier, record.size, None if keys is None else table.store.key_blocks(keys))
            engine.attach(tier, record.width, table.store.value_blocks(record))
        for record in sorted(table.records.values(), key=lambda r: r.tier):
            background.run(partial(verify_tier, record), stop=stop, cancel=engine.stop, tell=tell)
            tiers_done += 1
    finally:
        engine.close()
    report.seconds = time.monotonic() - started
    report.cpu_seconds = background.cpu_seconds() - cpu_started
    return report


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
