"""Drives a solve by workers: which component goes to whom and when, and what becomes of a worker that dies.

Small components are solved whole, each by one worker, several at a time (schedule.py); large ones by all workers
together (sharing.py). What is finished is a tier in Ray's object store, for the workers, and goes to the table. When a
worker is lost, all begin again with fresh ones and the tiers that are in the table: only what was under way is
repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from perfectplay.cluster.checkpoints import Checkpoints
from perfectplay.cluster.component import Pool, SharedComponent
from perfectplay.cluster.holdings import Brought, Holdings
from perfectplay.cluster.messages import DamagedMessage, Ref, State, check, dealt, game_spec
from perfectplay.cluster.pool import RayPool, WorkerLost
from perfectplay.cluster.schedule import Schedule
from perfectplay.cluster.writer import Writer, record_of
from perfectplay.errors import PerfectPlayError
from perfectplay.plan.sizes import FIXED_MEMORY
from perfectplay.solve.options import Cluster
from perfectplay.solve.solve import Solve
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TierRecord, blocks_of, checksum
from perfectplay.tiers.enumeration import Expand, Found, children_by_tier, rebatched
from perfectplay.tiers.order import Component
from perfectplay_native.limits import BLOCK_BITS, BLOCK_SLOTS
from perfectplay_native.positions import Positions
from perfectplay_native.share import Array, Layout

WORTH_SHARING = 1 << 17
"""So many positions are worth a message to each worker; what is smaller is done by one."""

WORTH_SHARING_PYTHON = 1 << 9
"""The same for a game in Python, whose positions take a thousand times as long."""

SHARED_SLOTS = 1 << 24
"""The same where there is a message for every level: with a kernel in C, and moves that stay in the component."""

MOST_ALONE = 1 << 26
"""So many slots at most are left to one worker, with a kernel in C: some seconds' work, of which nothing is saved."""

UNITS_A_WORKER = 8
"""At least, so that workers finish at about the same time."""

SLOW_UNITS = 8
"""Of a game in Python, a unit is so many times smaller, and so many go into a message."""

MAX_LOSSES = 12
"""So many workers lost one after the other without a component finished or a checkpoint taken, and we give up."""


class ClusterSolve(Solve):
    """One run with workers."""

    def __init__(self, *arguments: Any, cluster: Cluster) -> None:
        super().__init__(*arguments)
        self.cluster = cluster
        self._pool: Pool | None = None
        self._holdings: Holdings | None = None
        self._losses = 0
        self._level = 0
        self._checkpoints: Checkpoints | None = None
        self._enumerating = False
        self.audited = 0
        """Blocks that were derived twice."""

    # ---- workers ----

    @property
    def pool(self) -> Pool:
        """The workers, started when they are first needed."""
        if self._pool is None:
            self._pool = self.start_pool()
            self.workers = self._pool.size
            self.exchanged = 0
        return self._pool

    def start_pool(self) -> Pool:
        memory = None if self.memory is None else self.memory - FIXED_MEMORY
        return RayPool(self.cluster, game_spec(self.game), memory, self.stop, self._tell)

    def _tell(self) -> None:
        if not self._enumerating:  # else another thread does
            self.report("solving")

    def recover(self, loss: WorkerLost) -> None:
        if self._checkpoints is not None and self._checkpoints.begin_again():
            self._losses = 0
        self._losses += 1
        if self._losses > MAX_LOSSES:
            raise PerfectPlayError(
                f"{MAX_LOSSES} times in a row a worker was lost ({loss}); what was solved so far is kept: the same "
                f"command resumes"
            )
        self.pool.revive()
        if self._holdings is not None:
            self._holdings.begin_again()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        super().close()

    # ---- enumeration ----

    def _enumerate(self, scratch: Path | None) -> None:
        if self.store.info.status == "enumerating":
            _ = self.pool  # Ray is started in the main thread
        self._enumerating = True
        super()._enumerate(scratch)
        self._enumerating = False

    def expander(self) -> Expand:
        return self.expand_frontier

    def expand_frontier(self, parts: Iterable[Positions], size: int) -> Iterator[tuple[Positions, Found]]:
        """Portions of a frontier with their children, which the workers find.

        They are dealt out as in `layout`: a worker of a game in Python will then solve what it remembers.
        """
        if size < self.worth_a_message or (self.pool.size == 1 and self.kernel.cheap):
            for part in parts:
                yield part, children_by_tier(self.kernel, part)
            return
        portions = self._portions(parts, 1 << self._unit_bits(size))
        asked: deque[tuple[int, Positions, Ref]] = deque()
        while True:
            while len(asked) < 2 * self.pool.size and (portion := next(portions, None)):
                asked.append((*portion, self._ask_children(*portion)))
            if not asked:
                return
            try:
                ((sums, children),) = self.pool.get([asked[0][2]])
                _require([positions for _, positions in children], sums)
            except WorkerLost as loss:
                self.recover(loss)
                asked = deque((number, each, self._ask_children(number, each)) for number, each, _ in asked)
                continue
            self._losses = 0
            self._count(sum(positions.nbytes for _, positions in children))
            yield asked.popleft()[1], children

    def _portions(self, parts: Iterable[Positions], unit: int) -> Iterator[tuple[int, Positions]]:
        """For each worker in turn, the next units of its own."""
        workers = self.pool.size
        length = unit if self.kernel.cheap else min(SLOW_UNITS * unit, BLOCK_SLOTS)
        for batch in rebatched(parts, length * workers):
            units = [batch[first : first + unit] for first in range(0, len(batch), unit)]
            for worker in range(min(workers, len(units))):
                yield worker, np.concatenate(units[worker::workers])

    def _ask_children(self, number: int, portion: Positions) -> Ref:
        return self.pool.call(number % self.pool.size, "children", portion, checksum(portion))

    # ---- components ----

    def solve_components(self, scratch: Path | None) -> None:
        todo: list[Component] = []
        for component in self.order:
            if self.is_kept(component):
                self.done_before += self.slots(component)
                self._done(component)
            else:
                todo.append(component)
        if not todo:
            return
        assert isinstance(self.store, LmdbStore)
        pool = self.pool
        self.writer = Writer(self.store)
        self._holdings = Holdings(
            pool, self.store, self.sizes, self.keys, self.records, before_reading=self.writer.drain
        )
        try:
            Schedule(self, todo).run()
            self.writer.drain()
            greetings = self.pool.get([self.pool.call(worker, "hello") for worker in range(self.pool.size)])
            self.cpu_elsewhere = sum(each["cpu_seconds"] for each in greetings)
        finally:
            self.writer.close()

    def _done(self, component: Component) -> None:
        self.slots_done += self.slots(component)
        self.tiers_done += len(component.tiers)

    def is_large(self, component: Component) -> bool:
        """Whether it is worth while to share it out."""
        least = SHARED_SLOTS if component.cyclic and self.kernel.cheap else 0
        return self.pool.size > 1 and self.slots(component) >= max(least, self.worth_a_message)

    @property
    def most_alone(self) -> int:
        """So many positions one worker may have to itself, when there are others as large for the others."""
        return MOST_ALONE if self.kernel.cheap else 0

    @property
    def worth_a_message(self) -> int:
        """So many positions are enough work for a message to each worker."""
        return WORTH_SHARING if self.kernel.cheap else WORTH_SHARING_PYTHON

    def start_alone(self, component: Component, worker: int) -> list[Ref]:
        """Let one worker solve a component."""
        sizes = [self.sizes[tier] for tier in component.tiers]
        *finished, pieces = self._hold(component, worker)
        return list(
            self.pool.call(
                worker,
                "solve",
                *finished,
                component.tiers,
                sizes,
                component.cyclic,
                *pieces,
                returns=1 + len(component.tiers),
            )
        )

    def solve_together(self, component: Component) -> None:
        """Let all workers solve a component: from the beginning, or where a lost worker was when all was saved."""
        kept = self._checkpoints
        if kept is None or kept.component is not component:
            kept = self._checkpoints = Checkpoints(component)
        layout = self.layout(component, kept)
        held = [self._hold(component, worker) for worker in range(self.pool.size)]
        shared = SharedComponent(self.pool, layout, self.kernel, kept, self._at_level)
        outcome = shared.solve(held, cyclic=component.cyclic)
        self._count(outcome.exchanged)
        self.finish(component, outcome.replies, range(layout.workers), layout)
        self._checkpoints = None
        self._level = 0

    def layout(self, component: Component, kept: Checkpoints) -> Layout:
        sizes = tuple(self.sizes[tier] for tier in component.tiers)
        bits = self._unit_bits(sum(sizes)) if kept.last is None else kept.last.unit_bits
        return Layout(component.tiers, sizes, bits, self.pool.size)

    def _unit_bits(self, slots: int) -> int:
        bits, least = BLOCK_BITS, UNITS_A_WORKER * (1 if self.kernel.cheap else SLOW_UNITS)
        while bits > 6 and slots >> bits < least * self.pool.size:
            bits -= 1
        return bits

    def _at_level(self, level: int) -> None:
        self._level = level

    def under_way(self) -> tuple[int, int]:
        return 0, self._level

    # ---- what workers hold ----

    @property
    def holdings(self) -> Holdings:
        assert self._holdings is not None
        return self._holdings

    def _hold(self, component: Component, worker: int) -> Brought:
        """What a worker needs to have at hand for a component."""
        finished, own = dict.fromkeys(component.leads_to, True), dict.fromkeys(component.tiers, False)
        return self.holdings.bring(worker, {**finished, **own})

    # ---- what is finished ----

    def finish(
        self,
        component: Component,
        replies: Sequence[Sequence[Ref]],
        makers: Sequence[int],
        layout: Layout | None = None,
    ) -> None:
        """Take finished tiers from the workers that solved them: for the others, and for the table."""
        states: list[State] = self.pool.get([reply[0] for reply in replies])
        made: list[tuple[TierRecord, list[Array]]] = []
        turns: list[int] = []
        sums = [iter(state.checksums) for state in states]
        turn = 0
        for number, tier in enumerate(component.tiers):
            refs = tuple(reply[1 + number] for reply in replies)
            pieces = self.pool.get(refs)
            for piece, expected in zip(pieces, sums, strict=True):
                _require(piece, [next(expected) for _ in piece])
            units = list(dealt(pieces, turn))
            self._count(sum(unit.nbytes for unit in units))
            made.append(self._publish_units(tier, units, refs, turn))
            turns.append(turn)
            if layout is not None:
                turn = (turn + -(-layout.sizes[number] >> layout.unit_bits)) % layout.workers
        for (record, _), turn in zip(made, turns, strict=True):
            self._audit(component, record, makers, turn)
        for record, blocks in made:
            self.records[record.tier] = record
            self.writer.write(record, blocks)
        self._losses = 0
        self._done(component)

    def _publish_units(
        self, tier: int, units: list[Array], refs: tuple[Ref, ...], turn: int
    ) -> tuple[TierRecord, list[Array]]:
        """Let others see a finished tier: its record and its blocks, for the table."""
        blocks = units
        if any(len(unit) < BLOCK_SLOTS for unit in units[:-1]):
            blocks = blocks_of(np.concatenate(units))
            refs, turn = (self.pool.put(blocks),), 0
        record = record_of(tier, self.sizes[tier], blocks)
        self.holdings.offer(record, refs, turn)
        return record, blocks

    def _audit(self, component: Component, record: TierRecord, makers: Sequence[int], turn: int) -> None:
        """Let a worker derive some blocks again, another one than made them where there is another.

        The makers took units in turn; those of a small component share every block.
        """
        needed = dict.fromkeys((*component.leads_to, *component.tiers), True)
        asked = []
        for number, first in enumerate(range(0, record.size, BLOCK_SLOTS)):
            if Random(f"{record.tier} {number}").random() < self.cluster.audit:
                worker = (makers[(turn + number) % len(makers)] + 1) % self.pool.size
                *finished, pieces = self.holdings.bring(worker, needed)
                count = min(BLOCK_SLOTS, record.size - first)
                asked.append(self.pool.call(worker, "audit", *finished, record.tier, first, count, *pieces))
        if wrong := sum(self.pool.get(asked)):
            raise WorkerLost(f"an audit found {wrong} wrong values in {self.game.name}")
        self.audited += len(asked)

    def forget(self, tier: int) -> None:
        """Nobody will ask for this tier again."""
        self.holdings.forget(tier)

    def _count(self, exchanged: int) -> None:
        self.exchanged = (self.exchanged or 0) + exchanged


def _require(arrays: Sequence[Array], checksums: Sequence[int]) -> None:
    """Who sends what is damaged counts as lost."""
    try:
        check(arrays, checksums)
    except DamagedMessage as error:
        raise WorkerLost(str(error)) from None
