"""The proof of a table by workers: each derives the values of some blocks again, and needs only the tiers they lead to.

It gains where the rules are in Python, which threads cannot speed up, and where one machine is too slow.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass

from perfectplay.cluster.component import Pool
from perfectplay.cluster.holdings import Holdings
from perfectplay.cluster.messages import Checked, Ref, game_spec
from perfectplay.cluster.pool import RayPool, WorkerLost
from perfectplay.errors import PerfectPlayError, UsageError
from perfectplay.game.engine import cpu_seconds, translate_error
from perfectplay.progress import Progress
from perfectplay.solve.options import Cluster
from perfectplay.solve.verification import (
    EXAMPLES,
    VerifyReport,
    bad_position,
    check_tiers,
    compare_counts,
    damaged,
    positions_of,
)
from perfectplay.table.table import Table
from perfectplay.tiers.order import tier_children
from perfectplay_native.limits import BLOCK_SLOTS

SLOW_SLOTS = 1 << 12
"""Slots at a time of a game in Python; of one in C, a block."""

ASKED_AHEAD = 2
"""Parts that a worker has to do, so that it does not wait for us."""

MAX_LOSSES = 12
"""So many workers lost one after the other without a part proven, and we give up."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """Slots of a tier, all in one block."""

    tier: int
    first: int
    count: int


def verify_by_workers(
    table: Table,
    cluster: Cluster,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> VerifyReport:
    """What `verify_table` does, with the workers of a cluster."""
    table.require_complete()
    if table.outcomes_only:
        raise UsageError("outcomes alone are proven by threads, not by workers: leave out --workers and --address")
    check_tiers(table)
    if table.slot(table.game.start()) is None:
        raise damaged(table, "the start is not in it")
    verification = Verification(table, progress)
    pool = RayPool(cluster, game_spec(table.game), None, stop or threading.Event(), verification.tell)
    try:
        return verification.run(pool)
    except BaseException as error:
        raise translate_error(error, table.game) from None
    finally:
        pool.close()


class Verification:
    """One run: which parts are to be proven, who does which, and what was found."""

    def __init__(self, table: Table, progress: Callable[[Progress], None] | None) -> None:
        self.table, self.progress = table, progress
        self.started, self.cpu_started = time.monotonic(), cpu_seconds()
        self.todo: deque[Part] = deque()
        for record in sorted(table.records.values(), key=lambda each: each.tier):
            length = BLOCK_SLOTS if table.kernel.cheap else SLOW_SLOTS
            for first in range(0, record.size, length):
                self.todo.append(Part(record.tier, first, min(length, record.size - first)))
        self.users: Counter[int] = Counter()  # by tier: parts that need it
        for part in self.todo:
            self.users.update(self._needed(part))
        self.asked: dict[Ref, tuple[Part, int]] = {}
        self.counts: dict[int, Counter[int]] = {tier: Counter() for tier in table.records}
        self.bad: list[tuple[Part, Checked]] = []
        self.done = 0

    def run(self, pool: Pool) -> VerifyReport:
        table = self.table
        sizes = {tier: record.size for tier, record in table.records.items()}
        holdings = Holdings(pool, table.store, sizes, table.keys, table.records)
        losses = 0
        while self.todo or self.asked:
            try:
                self._ask(pool, holdings)
                self._collect(pool, holdings)
                losses = 0
            except WorkerLost as loss:
                losses += 1
                if losses > MAX_LOSSES:
                    raise PerfectPlayError(f"{MAX_LOSSES} times in a row a worker was lost ({loss})") from None
                self.todo.extendleft(sorted((part for part, _ in self.asked.values()), reverse=True))
                self.asked.clear()
                pool.revive()
                holdings.begin_again()
        for record in table.records.values():
            compare_counts(table, record, self.counts[record.tier])
        return self._report(pool)

    def _ask(self, pool: Pool, holdings: Holdings) -> None:
        """Give parts to the workers that have the fewest."""
        burden = [0 for _ in range(pool.size)]
        for _, worker in self.asked.values():
            burden[worker] += 1
        while self.todo and min(burden) < ASKED_AHEAD:
            worker, part = burden.index(min(burden)), self.todo[0]
            *finished, pieces = holdings.bring(worker, dict.fromkeys(self._needed(part), True))
            ref = pool.call(worker, "verify", *finished, part.tier, part.first, part.count, EXAMPLES, *pieces)
            self.asked[ref] = (self.todo.popleft(), worker)
            burden[worker] += 1

    def _needed(self, part: Part) -> set[int]:
        """The tiers without which a part cannot be proven."""
        keys = self.table.keys.get(part.tier)
        return {part.tier, *(tier_children(self.table.kernel, part.tier) if keys is None else keys.children)}

    def _collect(self, pool: Pool, holdings: Holdings) -> None:
        for ref in pool.wait(list(self.asked)):
            (checked,) = pool.get([ref])
            part, _ = self.asked.pop(ref)
            if checked.lost is not None:
                raise damaged(self.table, f"position {checked.lost} of tier {part.tier} cannot be found")
            self.counts[part.tier].update(checked.counts)
            if checked.wrong:
                self.bad.append((part, checked))
            self.done += part.count
            for tier in self._needed(part):
                self.users[tier] -= 1
                if not self.users[tier]:
                    holdings.forget(tier)

    def _report(self, pool: Pool) -> VerifyReport:
        greetings = pool.get([pool.call(worker, "hello") for worker in range(pool.size)])
        cpu_elsewhere = sum(each["cpu_seconds"] for each in greetings)
        faults = [fault for _, checked in sorted(self.bad, key=lambda each: each[0]) for fault in checked.faults]
        return VerifyReport(
            checked=sum(positions_of(self.table, record) for record in self.table.records.values()),
            bad=sum(checked.wrong for _, checked in self.bad),
            examples=[bad_position(fault) for fault in faults[:EXAMPLES]],
            seconds=time.monotonic() - self.started,
            cpu_seconds=cpu_seconds() - self.cpu_started + cpu_elsewhere,
            workers=pool.size,
        )

    def tell(self) -> None:
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
