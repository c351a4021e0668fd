"""Verifies a table with workers: each derives the values of some blocks again, with only the tiers they lead to.

This helps where the rules are in Python, which threads cannot speed up, and where one machine is too slow.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from perfectplay.cluster.driver import MAX_LOSSES
from perfectplay.cluster.messages import BlockReport, Ref, VerifyTask
from perfectplay.cluster.pool import Pool, RayPool, WorkerLost, sum_cpu_seconds
from perfectplay.cluster.transfer import TierTransfer
from perfectplay.compile.kernel import describe_rules, solving_kernel
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game.engine import cpu_seconds, translate_error
from perfectplay.solve.options import Cluster
from perfectplay.solve.verification import (
    EXAMPLES,
    VerifyReport,
    check_structure,
    compare_counts,
    count_positions,
    damage_error,
    describe_fault,
)
from perfectplay.table.table import Table
from perfectplay.threads import Progress
from perfectplay.tiers.order import tier_children
from perfectplay_native.limits import BLOCK_SLOTS

SLOW_SLOTS = 1 << 12
"""Slots per part for a game in Python; for a game in C, a part is a block."""

PARTS_PER_WORKER = 2
"""Parts that a worker has at a time, so that it never waits for the driver."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """Consecutive slots of one block."""

    tier: int
    first: int
    count: int


def verify_with_workers(
    table: Table,
    cluster: Cluster,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> VerifyReport:
    """Check every value of a finished table as `verify_table` does, with the workers of a cluster."""
    if table.outcomes_only:
        raise UsageError(
            "a table of outcomes is verified by threads, not by workers; leave out --workers and --address"
        )
    check_structure(table)
    verification = ClusterVerification(table, progress)
    stop = stop or threading.Event()
    with closing(RayPool(cluster, table.game, None, stop, verification.report_progress)) as pool:
        try:
            return verification.run(pool)
        except BaseException as error:
            raise translate_error(error, table.game) from None


class ClusterVerification:
    """The state of one verification: the parts to verify, those at the workers, and the results."""

    def __init__(
        self, table: Table, progress: Callable[[Progress], None] | None, *, slow_slots: int = SLOW_SLOTS
    ) -> None:
        self.table, self.progress = table, progress
        self.started, self.cpu_started = time.monotonic(), cpu_seconds()
        length = BLOCK_SLOTS if solving_kernel(table.game).cheap else slow_slots
        self.waiting: deque[Part] = deque()
        for _, record in sorted(table.records.items()):
            for first in range(0, record.size, length):
                self.waiting.append(Part(record.tier, first, min(length, record.size - first)))
        self.uses: Counter[int] = Counter()  # by tier, the number of parts that need it
        for part in self.waiting:
            self.uses.update(self._needed_tiers(part))
        self.running: dict[Ref, tuple[Part, int]] = {}
        self.counts: dict[int, Counter[int]] = {tier: Counter() for tier in table.records}
        self.bad: list[tuple[Part, BlockReport]] = []
        self.done = 0

    def run(self, pool: Pool) -> VerifyReport:
        table = self.table
        sizes = {tier: record.size for tier, record in table.records.items()}
        transfer = TierTransfer(pool, table.store, sizes, table.keys, table.records)
        losses = 0
        while self.waiting or self.running:
            try:
                self._start_parts(pool, transfer)
                self._collect(pool, transfer)
                losses = 0
            except WorkerLost as loss:
                losses += 1
                if losses > MAX_LOSSES:
                    raise PerfectPlayError(f"lost a worker {MAX_LOSSES} times in a row ({loss})") from None
                self.waiting.extendleft(sorted((part for part, _ in self.running.values()), reverse=True))
                self.running.clear()
                pool.restart()
                transfer.reset()
        for record in table.records.values():
            compare_counts(table, record, self.counts[record.tier])
        return self._make_report(pool)

    def _start_parts(self, pool: Pool, transfer: TierTransfer) -> None:
        """Give parts to the workers that have the fewest."""
        load = [0 for _ in range(pool.size)]
        for _, worker in self.running.values():
            load[worker] += 1
        while self.waiting and min(load) < PARTS_PER_WORKER:
            worker, part = load.index(min(load)), self.waiting[0]
            attachment = transfer.prepare(worker, dict.fromkeys(self._needed_tiers(part), True))
            task = VerifyTask(attachment.message, part.tier, part.first, part.count, EXAMPLES)
            ref = pool.call(worker, "verify_block", task, *attachment.pieces)
            self.running[ref] = (self.waiting.popleft(), worker)
            load[worker] += 1

    def _needed_tiers(self, part: Part) -> set[int]:
        keys = self.table.keys.get(part.tier)
        return {part.tier, *(tier_children(self.table.kernel, part.tier) if keys is None else keys.children)}

    def _collect(self, pool: Pool, transfer: TierTransfer) -> None:
        for ref in pool.wait(list(self.running)):
            report: BlockReport = pool.get([ref])[0]
            part, _ = self.running.pop(ref)
            if report.lost is not None:
                raise damage_error(self.table, f"position {report.lost} of tier {part.tier} cannot be found")
            self.counts[part.tier].update(report.counts)
            if report.wrong:
                self.bad.append((part, report))
            self.done += part.count
            for tier in self._needed_tiers(part):
                self.uses[tier] -= 1
                if not self.uses[tier]:
                    transfer.discard(tier)

    def _make_report(self, pool: Pool) -> VerifyReport:
        faults = [fault for _, report in sorted(self.bad, key=lambda each: each[0]) for fault in report.faults]
        return VerifyReport(
            checked=sum(count_positions(self.table, record) for record in self.table.records.values()),
            bad=sum(report.wrong for _, report in self.bad),
            examples=[describe_fault(fault) for fault in faults[:EXAMPLES]],
            seconds=time.monotonic() - self.started,
            cpu_seconds=cpu_seconds() - self.cpu_started + sum_cpu_seconds(pool),
            rules=describe_rules(self.table.game),
            workers=pool.size,
        )

    def report_progress(self) -> None:
        if self.progress is not None:
            self.progress(
                Progress(
                    phase="verifying",
                    positions=self.done,
                    total=sum(record.size for record in self.table.records.values()),
                    tiers=len(self.table.records),
                    seconds=time.monotonic() - self.started,
                )
            )
