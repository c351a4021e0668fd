"""The driver of a solve by workers: distributes components, collects solved tiers, and recovers from lost workers.

Small components are solved by one worker each, several at a time, large ones by all workers together
(component.py). A solved tier goes to Ray's object store, for the workers, and to the table. When a worker is lost, all
workers are replaced and continue with the tiers in the table, so that only unfinished components are repeated.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from perfectplay.cluster.component import Checkpoints, Schedule, SharedComponent
from perfectplay.cluster.messages import (
    ChildrenReply,
    DamagedMessage,
    PositionBatch,
    Ref,
    ShareState,
    SolveTask,
    VerifyTask,
    check_arrays,
    collect_units,
)
from perfectplay.cluster.pool import Pool, RayPool, WorkerLost, sum_cpu_seconds
from perfectplay.cluster.transfer import Attachment, TableWriter, TierTransfer, make_record
from perfectplay.errors import PerfectPlayError
from perfectplay.plan.sizes import FIXED_MEMORY
from perfectplay.solve.options import Cluster
from perfectplay.solve.steps import Effort, SolveState, enumerate_tiers
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TierRecord, blocks_of, checksum
from perfectplay.tiers.enumeration import TierPositions, children_by_tier, iter_batches
from perfectplay.tiers.order import Component
from perfectplay_native.engine import Engine
from perfectplay_native.limits import BLOCK_BITS, BLOCK_SLOTS
from perfectplay_native.positions import Positions
from perfectplay_native.share import Array, Layout

UNITS_PER_WORKER = 8
"""The smallest number of units per worker, so that workers finish at about the same time."""

SLOW_UNITS = 8
"""For a game in Python, units are smaller by this factor, and a message contains this many."""

MAX_LOSSES = 12
"""The number of workers lost in a row, without a component finished or a checkpoint saved, after which to give up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingLimits:
    """When work is shared by all workers, and how often it is saved."""

    min_slots: int = 1 << 17
    """The smallest amount of work that is worth a message to each worker, for a kernel in C."""
    min_slots_python: int = 1 << 9
    """The same for a game in Python, whose positions take a thousand times longer."""
    min_slots_cyclic: int = 1 << 24
    """The same for a cyclic component, which needs a message per level, with a kernel in C."""
    max_slots_single: int = 1 << 26
    """The largest component for a single worker, with a kernel in C: a few seconds, of which nothing is saved."""
    checkpoint_seconds: float = 120.0
    """The shortest time between two checkpoints."""


@dataclass(frozen=True, slots=True)
class _Expansion:
    """Positions that a worker is expanding."""

    worker: int
    positions: Positions
    reply: Ref


class ClusterSteps:
    """The steps of a solve by workers."""

    def __init__(
        self,
        state: SolveState,
        *,
        cluster: Cluster,
        limits: SharingLimits | None = None,
        start_pool: Callable[..., Pool] = RayPool,
    ) -> None:
        self.state, self.cluster, self.limits = state, cluster, limits or SharingLimits()
        self._start_pool = start_pool
        self._pool: Pool | None = None
        self._transfer: TierTransfer | None = None
        self._writer: TableWriter | None = None
        self._checkpoints: Checkpoints | None = None
        self._losses = 0
        self._level = 0
        self._enumerating = False
        self._workers: int | None = None
        self._exchanged = 0
        self._cpu_seconds = 0.0
        self.audited_blocks = 0

    # ---- workers ----

    @property
    def pool(self) -> Pool:
        """The workers, which are started when they are first needed."""
        if self._pool is None:
            state = self.state
            memory = None if state.options.memory is None else state.options.memory - FIXED_MEMORY
            self._pool = self._start_pool(self.cluster, state.game, memory, state.callbacks.stop, self._report)
            self._workers = self._pool.size
        return self._pool

    @property
    def effort(self) -> Effort:
        exchanged = None if self._workers is None else self._exchanged
        return Effort(self._workers, exchanged, self._cpu_seconds)

    def _report(self) -> None:
        if not self._enumerating:  # otherwise the main thread reports
            self.state.report("solving", self.state.slots_done, self._level)

    def recover(self, loss: WorkerLost) -> None:
        """Replace all workers after a loss; raise PerfectPlayError after too many losses in a row."""
        if self._checkpoints is not None and self._checkpoints.count_resume():
            self._losses = 0
        self._losses += 1
        if self._losses > MAX_LOSSES:
            raise PerfectPlayError(
                f"lost a worker {MAX_LOSSES} times in a row ({loss}); finished tiers are kept, and the same command "
                f"resumes the solve"
            )
        self.pool.restart()
        if self._transfer is not None:
            self._transfer.reset()

    def release_engine(self) -> Engine | None:
        return None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    # ---- enumeration ----

    def enumerate(self) -> None:
        if self.state.store.info.status == "enumerating":
            _ = self.pool  # Ray must be started in the main thread
        self._enumerating = True
        try:
            enumerate_tiers(self.state, self.expand_frontier)
        finally:
            self._enumerating = False

    def expand_frontier(self, parts: Iterable[Positions], size: int) -> Iterator[tuple[Positions, TierPositions]]:
        """Yield portions of a frontier with their children, which the workers find.

        Portions are distributed as in `_layout`, so that a worker has the hooks' replies for the positions of a Python
        game that it will solve.
        """
        kernel = self.state.kernel
        if size < self.min_shared_slots or (self.pool.size == 1 and kernel.cheap):
            for part in parts:
                yield part, children_by_tier(kernel, part)
            return
        portions = self._iter_portions(parts, 1 << self._choose_unit_bits(size))
        running: deque[_Expansion] = deque()
        while True:
            while len(running) < 2 * self.pool.size and (portion := next(portions, None)):
                running.append(self._start_expansion(*portion))
            if not running:
                return
            try:
                reply: ChildrenReply = self.pool.get([running[0].reply])[0]
                _require_intact([positions for _, positions in reply.children], reply.checksums)
            except WorkerLost as loss:
                self.recover(loss)
                running = deque(self._start_expansion(each.worker, each.positions) for each in running)
                continue
            self._losses = 0
            self._exchanged += sum(positions.nbytes for _, positions in reply.children)
            yield running.popleft().positions, reply.children

    def _iter_portions(self, parts: Iterable[Positions], unit: int) -> Iterator[tuple[int, Positions]]:
        """Yield the next units for each worker in turn."""
        workers = self.pool.size
        length = unit if self.state.kernel.cheap else min(SLOW_UNITS * unit, BLOCK_SLOTS)
        for batch in iter_batches(parts, length * workers):
            units = [batch[first : first + unit] for first in range(0, len(batch), unit)]
            for worker in range(min(workers, len(units))):
                yield worker, np.concatenate(units[worker::workers])

    def _start_expansion(self, worker: int, positions: Positions) -> _Expansion:
        batch = PositionBatch(positions, checksum(positions))
        reply = self.pool.call(worker % self.pool.size, "expand_positions", batch)  # a restart may have lost workers
        return _Expansion(worker, positions, reply)

    # ---- components ----

    def solve_components(self) -> None:
        state, unsolved = self.state, []
        for component in state.tiers.order:
            if state.is_solved(component):
                state.count_component(component, resumed=True)
            else:
                unsolved.append(component)
        if not unsolved:
            return
        assert isinstance(state.store, LmdbStore)
        pool = self.pool
        self._writer = writer = TableWriter(state.store)
        self._transfer = TierTransfer(
            pool, state.store, state.tiers.sizes, state.keys, state.records, before_reading=writer.drain
        )
        try:
            Schedule(self, unsolved).run()
            writer.drain()
            self._cpu_seconds = sum_cpu_seconds(pool)
        finally:
            writer.close()

    @property
    def min_shared_slots(self) -> int:
        return self.limits.min_slots if self.state.kernel.cheap else self.limits.min_slots_python

    @property
    def max_single_slots(self) -> int:
        return self.limits.max_slots_single if self.state.kernel.cheap else 0

    def count_slots(self, component: Component) -> int:
        return self.state.tiers.slots_in(component)

    def is_large(self, component: Component) -> bool:
        """Return whether a component is worth sharing."""
        least = self.limits.min_slots_cyclic if component.cyclic and self.state.kernel.cheap else 0
        return self.pool.size > 1 and self.count_slots(component) >= max(least, self.min_shared_slots)

    def start_single(self, component: Component, worker: int) -> list[Ref]:
        """Let one worker solve a component."""
        sizes = tuple(self.state.tiers.sizes[tier] for tier in component.tiers)
        attachment = self._prepare(component, worker)
        task = SolveTask(attachment.message, component.tiers, sizes, component.cyclic)
        returns = 1 + len(component.tiers)
        return list(self.pool.call(worker, "solve_component", task, *attachment.pieces, returns=returns))

    def solve_shared(self, component: Component) -> None:
        """Let all workers solve a component, from the start or from the last checkpoint."""
        checkpoints = self._checkpoints
        if checkpoints is None or checkpoints.component is not component:
            checkpoints = self._checkpoints = Checkpoints(component, self.limits.checkpoint_seconds)
        layout = self._layout(component, checkpoints)
        attachments = [self._prepare(component, worker) for worker in range(self.pool.size)]
        shared = SharedComponent(self.pool, layout, self.state.kernel, checkpoints, self._set_level)
        result = shared.solve(attachments, cyclic=component.cyclic)
        self._exchanged += result.exchanged
        self.finish(component, result.replies, range(layout.workers), layout)
        self._checkpoints = None
        self._level = 0

    def _layout(self, component: Component, checkpoints: Checkpoints) -> Layout:
        sizes = tuple(self.state.tiers.sizes[tier] for tier in component.tiers)
        saved = checkpoints.last
        bits = self._choose_unit_bits(sum(sizes)) if saved is None else saved.unit_bits
        return Layout(component.tiers, sizes, bits, self.pool.size)

    def _choose_unit_bits(self, slots: int) -> int:
        bits, units = BLOCK_BITS, UNITS_PER_WORKER * (1 if self.state.kernel.cheap else SLOW_UNITS)
        while bits > 6 and slots >> bits < units * self.pool.size:
            bits -= 1
        return bits

    def _set_level(self, level: int) -> None:
        self._level = level

    # ---- tiers ----

    @property
    def transfer(self) -> TierTransfer:
        assert self._transfer is not None
        return self._transfer

    def _prepare(self, component: Component, worker: int) -> Attachment:
        """Return the tiers that a worker needs for solving a component."""
        needed = {**dict.fromkeys(component.leads_to, True), **dict.fromkeys(component.tiers, False)}
        return self.transfer.prepare(worker, needed)

    def discard_tier(self, tier: int) -> None:
        self.transfer.discard(tier)

    def finish(
        self,
        component: Component,
        replies: Sequence[Sequence[Ref]],
        makers: Sequence[int],
        layout: Layout | None = None,
    ) -> None:
        """Collect solved tiers from the workers that made them, audit them, and write them to the table.

        `layout` is the distribution of a shared component's units.
        """
        states: list[ShareState] = self.pool.get([reply[0] for reply in replies])
        solved: list[tuple[TierRecord, list[Array], int]] = []
        checksums = [iter(state.checksums) for state in states]
        turn = 0
        for number, tier in enumerate(component.tiers):
            refs = tuple(reply[1 + number] for reply in replies)
            pieces = self.pool.get(refs)
            for piece, expected in zip(pieces, checksums, strict=True):
                _require_intact(piece, [next(expected) for _ in piece])
            units = list(collect_units(pieces, turn))
            self._exchanged += sum(unit.nbytes for unit in units)
            solved.append((*self._publish_units(tier, units, refs, turn), turn))
            if layout is not None:
                turn = (turn + -(-layout.sizes[number] >> layout.unit_bits)) % layout.workers
        for record, _, first_turn in solved:
            self._audit(component, record, makers, first_turn)
        assert self._writer is not None
        for record, blocks, _ in solved:
            self.state.records[record.tier] = record
            self._writer.write(record, blocks)
        self._losses = 0
        self.state.count_component(component)

    def _publish_units(
        self, tier: int, units: list[Array], refs: tuple[Ref, ...], turn: int
    ) -> tuple[TierRecord, list[Array]]:
        """Publish a solved tier for the workers; return its record and its blocks."""
        blocks = units
        if any(len(unit) < BLOCK_SLOTS for unit in units[:-1]):
            blocks = blocks_of(np.concatenate(units))
            refs, turn = (self.pool.put(blocks),), 0
        record = make_record(tier, self.state.tiers.sizes[tier], blocks)
        self.transfer.add_values(record, refs, turn)
        return record, blocks

    def _audit(self, component: Component, record: TierRecord, makers: Sequence[int], turn: int) -> None:
        """Let a worker derive some blocks again, if possible another one than made them.

        The makers took units in turn; in a small component, several workers made each block.
        """
        needed = dict.fromkeys((*component.leads_to, *component.tiers), True)
        calls = []
        for number, first in enumerate(range(0, record.size, BLOCK_SLOTS)):
            if Random(f"{record.tier} {number}").random() < self.cluster.audit:
                worker = (makers[(turn + number) % len(makers)] + 1) % self.pool.size
                attachment = self.transfer.prepare(worker, needed)
                count = min(BLOCK_SLOTS, record.size - first)
                task = VerifyTask(attachment.message, record.tier, first, count)
                calls.append(self.pool.call(worker, "verify_block", task, *attachment.pieces))
        if wrong := sum(report.wrong for report in self.pool.get(calls)):
            raise WorkerLost(f"an audit found {wrong} wrong values in {self.state.game.name}")
        self.audited_blocks += len(calls)


def _require_intact(arrays: Sequence[Array], checksums: Sequence[int]) -> None:
    """Raise WorkerLost if an array was damaged, so that its sender is treated as lost."""
    try:
        check_arrays(arrays, checksums)
    except DamagedMessage as error:
        raise WorkerLost(str(error)) from None
