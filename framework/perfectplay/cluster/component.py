"""The schedule of components, and a component that all workers solve together, with its checkpoints.

Every worker settles its units and publishes their values. Having received the values of the others, it expands its own
positions. Then the workers proceed level by level: a call applies the updates that the others found at the level
before, and returns the updates for each of the others. Each message is an argument of exactly one call, so none can be
lost or repeated, and a level is over when every call has returned.

A checkpoint is everything that the workers hold between two levels. It is kept in the object store of the driver's
machine, which survives the loss of any worker or other machine. It can be restored on fewer workers, because units keep
their size and are distributed again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from perfectplay.cluster.messages import LevelTask, Ref, RestoreTask, ShareState, ShareTask
from perfectplay.cluster.pool import Pool, WorkerLost
from perfectplay.cluster.transfer import Attachment
from perfectplay.tiers.order import Component
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import MAX_SCORE
from perfectplay_native.share import NO_THRESHOLD, Layout

NARROW_LEVELS = 63
"""The highest remoteness that fits into one byte together with the outcome."""

MAX_CHECKPOINT_COST = 0.05
"""The largest share of the time that may be spent on checkpoints."""

MAX_RESUMES = 3
"""How often the same checkpoint is restored before it is discarded, because it may be damaged."""


@dataclass(frozen=True, slots=True)
class Round:
    """A sequence of levels that propagates wins and losses (with scores: those above a threshold), or ties."""

    threshold: int
    ties: bool = False


@dataclass(slots=True)
class Course:
    """The rounds of a component and the present level."""

    rounds: Sequence[Round]
    """The remaining rounds, starting with the present one."""
    started: bool
    """Whether the present round has started."""
    level: int = 0
    """The last finished level of the present round."""
    highest: int = 0
    """The highest level of all finished rounds."""


@dataclass(slots=True)
class Checkpoint:
    """Values and entries of all units, by the worker that had them."""

    course: Course
    unit_bits: int
    values: list[Ref]
    value_checksums: list[tuple[int, ...]]
    entries: list[Ref]
    entry_checksums: list[tuple[int, ...]]
    resumes: int = 0


class Checkpoints:
    """The last checkpoint of one component, and the time of the next one."""

    def __init__(self, component: Component, min_seconds: float) -> None:
        self.component = component
        self.last: Checkpoint | None = None
        self._min_seconds = self._interval = min_seconds
        self._since = time.monotonic()

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._since >= self._interval

    def add(self, checkpoint: Checkpoint, started: float) -> None:
        """Keep a checkpoint; `started` is when saving it began."""
        self.last = checkpoint
        self._since = time.monotonic()
        self._interval = max(self._min_seconds, (self._since - started) / MAX_CHECKPOINT_COST)

    def count_resume(self) -> bool:
        """Count that new workers resume from the last checkpoint; return whether they do so for the first time."""
        self._since = time.monotonic()
        if self.last is None:
            return False
        self.last.resumes += 1
        is_first = self.last.resumes == 1
        if self.last.resumes > MAX_RESUMES:
            self.last = None
        return is_first


@dataclass(frozen=True, slots=True)
class SharedResult:
    """A solved component."""

    replies: list[list[Ref]]
    """From each worker, its state and the units of each tier."""
    exchanged: int
    """Bytes that workers produced for each other."""


class SharedComponent:
    """A component that all workers solve together."""

    def __init__(
        self, pool: Pool, layout: Layout, kernel: Kernel, checkpoints: Checkpoints, at_level: Callable[[int], None]
    ) -> None:
        """`at_level` is called with the number of each level before it is run."""
        self.pool, self.layout, self.kernel, self.checkpoints = pool, layout, kernel, checkpoints
        self.at_level = at_level
        self.workers = range(layout.workers)
        self.exchanged = 0

    def solve(self, attachments: Sequence[Attachment], *, cyclic: bool) -> SharedResult:
        """Solve the component; each worker attaches the given tiers first."""
        width = 4 if self.kernel.scored else 1
        tasks = [ShareTask(each.message, self.layout, worker, width) for worker, each in enumerate(attachments)]
        self.pool.get(
            [self._call(task.worker, "begin_share", task, *attachments[task.worker].pieces) for task in tasks]
        )
        wide = None
        if cyclic:
            wide = self._solve_cyclic()
        else:
            self._solve_acyclic(attachments)
        returns = 1 + len(self.layout.tiers)
        replies = [list(self._call(worker, "finish_units", wide, returns=returns)) for worker in self.workers]
        return SharedResult(replies, self.exchanged)

    def _solve_acyclic(self, attachments: Sequence[Attachment]) -> None:
        states = self._call_all("solve_units")
        if not self.kernel.scored and _last_level(states) > NARROW_LEVELS:
            tasks = [ShareTask(each.without_new, self.layout, worker, 2) for worker, each in enumerate(attachments)]
            self.pool.get([self._call(task.worker, "begin_share", task) for task in tasks])
            self._call_all("solve_units")

    # ---- cyclic components ----

    def _solve_cyclic(self) -> Any:
        """Run all rounds; return, for each tier, whether its values need two bytes."""
        checkpoint = self.checkpoints.last
        course, states = self._start() if checkpoint is None else self._restore(checkpoint)
        while course.rounds:
            states = self._run_levels(course, states if course.started else self._start_round(course))
            course.highest = max(course.highest, _last_level(states))
            if self.kernel.scored and not course.rounds[0].ties:
                self._publish("store_score")
            course.rounds, course.started = course.rounds[1:], False
        if self.kernel.scored or course.highest <= NARROW_LEVELS:
            return np.zeros(len(self.layout.tiers), dtype=np.uint8)
        return np.bitwise_or.reduce(self._call_all("find_wide_tiers"))

    def _start(self) -> tuple[Course, list[ShareState]]:
        self._publish("settle_units")
        if self.kernel.can_retract:
            states = self._call_all("expand_units", NO_THRESHOLD)
        else:
            states = self._exchange_edges(NO_THRESHOLD)
        ties = [Round(0, ties=True)] if any(state.has_ties for state in states) else []
        if self.kernel.scored:
            return Course([*map(Round, self._find_thresholds()), *ties], started=False), states
        return Course([Round(NO_THRESHOLD), *ties], started=True), states

    def _start_round(self, course: Course) -> list[ShareState]:
        course.started, course.level = True, 0
        present = course.rounds[0]
        return self._call_all("begin_ties") if present.ties else self._call_all("expand_units", present.threshold)

    def _publish(self, step: str) -> None:
        """Run a step after which every worker must receive the values of the others' units."""
        replies = [self._call(worker, step, returns=2) for worker in self.workers]
        states: list[ShareState] = self.pool.get([reply[0] for reply in replies])
        self.exchanged += sum(self.layout.sizes) * (4 if self.kernel.scored else 1)
        checksums = [state.checksums for state in states]
        calls = []
        for worker in self.workers:
            values = [None if worker == other else replies[other][1] for other in self.workers]
            calls.append(self._call(worker, "receive_values", checksums, *values))
        self.pool.get(calls)

    def _exchange_edges(self, threshold: int) -> list[ShareState]:
        """Expand all units, and send each worker the reverse edges to its positions."""
        returns = 1 + len(self.workers)
        replies = [self._call(worker, "expand_edges", threshold, returns=returns) for worker in self.workers]
        states: list[ShareState] = self.pool.get([reply[0] for reply in replies])
        self._count_sent(states)
        self.pool.get(
            [self._call(worker, "receive_edges", *(reply[1 + worker] for reply in replies)) for worker in self.workers]
        )
        return states

    def _run_levels(self, course: Course, states: list[ShareState]) -> list[ShareState]:
        inbox = self._empty_inbox()
        while course.level < _last_level(states) or any(ref is not None for refs in inbox for ref in refs):
            if self.checkpoints.is_due:
                states, inbox = self._save(course, inbox), self._empty_inbox()
                continue
            course.level += 1
            self.at_level(course.level)
            task, returns = LevelTask(course.level, course.rounds[0].ties), 1 + len(self.workers)
            replies = [
                self._call(worker, "run_level", task, *inbox[worker], returns=returns) for worker in self.workers
            ]
            states = self.pool.get([reply[0] for reply in replies])
            self._count_sent(states)
            inbox = [
                [
                    reply[1 + worker] if state.sent[worker] else None
                    for state, reply in zip(states, replies, strict=True)
                ]
                for worker in self.workers
            ]
        return states

    def _empty_inbox(self) -> list[list[Ref | None]]:
        return [[None for _ in self.workers] for _ in self.workers]

    # ---- checkpoints ----

    def _save(self, course: Course, inbox: list[list[Ref | None]]) -> list[ShareState]:
        """Save a checkpoint after applying all updates."""
        started = time.monotonic()
        task = LevelTask(course.level, course.rounds[0].ties)
        replies = [self._call(worker, "save_checkpoint", task, *inbox[worker], returns=3) for worker in self.workers]
        states: list[ShareState] = self.pool.get([reply[0] for reply in replies])
        values = self.pool.get([reply[1] for reply in replies])
        entries = self.pool.get([reply[2] for reply in replies])
        checksums = [state.checksums for state in states]
        checkpoint = Checkpoint(
            replace(course),
            self.layout.unit_bits,
            values=[self.pool.put(units) for units in values],
            value_checksums=[each[: len(units)] for each, units in zip(checksums, values, strict=True)],
            entries=[self.pool.put(units) for units in entries],
            entry_checksums=[each[len(units) :] for each, units in zip(checksums, values, strict=True)],
        )
        self.exchanged += sum(array.nbytes for units in (*values, *entries) for array in units)
        self.checkpoints.add(checkpoint, started)
        return states

    def _restore(self, saved: Checkpoint) -> tuple[Course, list[ShareState]]:
        present = saved.course.rounds[0]
        self._call_all("restore_values", saved.value_checksums, *saved.values)
        if not self.kernel.can_retract:
            self._exchange_edges(present.threshold)
        task = RestoreTask(present.threshold, present.ties, saved.entry_checksums)
        return replace(saved.course), self._call_all("restore_entries", task, *saved.entries)

    # ---- helpers ----

    def _find_thresholds(self) -> list[int]:
        bitmap = np.bitwise_or.reduce(self._call_all("find_scores"))
        scores = np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little"))
        return [int(score) for score in scores[::-1] if 0 < score <= MAX_SCORE]

    def _call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        return self.pool.call(worker, method, *arguments, returns=returns)

    def _call_all(self, method: str, *arguments: Any) -> list[Any]:
        return self.pool.get([self._call(worker, method, *arguments) for worker in self.workers])

    def _count_sent(self, states: Sequence[ShareState]) -> None:
        for worker, state in enumerate(states):
            self.exchanged += sum(size for other, size in enumerate(state.sent) if other != worker)


def _last_level(states: Sequence[ShareState]) -> int:
    return max((state.last_level for state in states), default=0)


# ---- the schedule: which components can be solved, are being solved, or wait for others ----


class ComponentSolver(Protocol):
    """Carries out the schedule: the driver."""

    @property
    def pool(self) -> Pool: ...
    @property
    def min_shared_slots(self) -> int: ...
    @property
    def max_single_slots(self) -> int: ...
    def count_slots(self, component: Component) -> int: ...
    def is_large(self, component: Component) -> bool: ...
    def start_single(self, component: Component, worker: int) -> list[Ref]: ...
    def solve_shared(self, component: Component) -> None: ...
    def finish(self, component: Component, replies: Sequence[Sequence[Ref]], makers: Sequence[int]) -> None: ...
    def recover(self, loss: WorkerLost) -> None: ...
    def discard_tier(self, tier: int) -> None: ...


@dataclass(frozen=True, slots=True)
class _Job:
    """A small component that one worker is solving."""

    component: Component
    replies: list[Ref]
    worker: int


class Schedule:
    """Solves components, each after those that it leads to.

    A worker that is busy with a small component gets the next one already, so that it never waits for the driver.
    """

    def __init__(self, solver: ComponentSolver, unsolved: Sequence[Component]) -> None:
        self.solver = solver
        tiers = {tier for component in unsolved for tier in component.tiers}
        self.missing = {component: tiers.intersection(component.leads_to) for component in unsolved}
        self.users: dict[int, set[Component]] = {}
        for component in unsolved:
            for tier in component.leads_to:
                self.users.setdefault(tier, set()).add(component)
        self.small: deque[Component] = deque()
        self.large: deque[Component] = deque()
        self.running: dict[Ref, _Job] = {}
        for component in unsolved:
            self._add_if_ready(component)
        self._spread_large()

    def run(self) -> None:
        while self.small or self.large or self.running:
            try:
                self._advance()
            except WorkerLost as loss:
                self.small.extendleft(job.component for job in self.running.values())
                self.running.clear()
                self.solver.recover(loss)

    def _add_if_ready(self, component: Component) -> None:
        if not self.missing[component]:
            (self.large if self.solver.is_large(component) else self.small).append(component)

    def _spread_large(self) -> None:
        """Give whole large components to single workers if there are enough for all, which saves messages."""
        slots = [self.solver.count_slots(component) for component in self.large]
        if self.large and max(slots) <= min(sum(slots) // self.solver.pool.size, self.solver.max_single_slots):
            self.small.extendleft(reversed(self.large))
            self.large.clear()

    def _advance(self) -> None:
        self._start_small()
        if self.running:
            for ref in self.solver.pool.wait(list(self.running)):
                job = self.running[ref]
                self.solver.finish(job.component, [job.replies], [job.worker])
                del self.running[ref]
                self._mark_solved(job.component)
        else:
            self.solver.solve_shared(self.large[0])
            self._mark_solved(self.large.popleft())

    def _start_small(self) -> None:
        """Give small components to the workers with the least work."""
        load = [0 for _ in range(self.solver.pool.size)]
        for job in self.running.values():
            load[job.worker] += self.solver.count_slots(job.component)
        while self.small and min(load) < self.solver.min_shared_slots:
            component = self.small[0]
            worker = load.index(min(load))
            replies = self.solver.start_single(component, worker)
            self.running[replies[0]] = _Job(self.small.popleft(), replies, worker)
            load[worker] += self.solver.count_slots(component)

    def _mark_solved(self, component: Component) -> None:
        for tier in component.tiers:
            for user in self.users.get(tier, ()):
                self.missing[user].discard(tier)
                self._add_if_ready(user)
        self._spread_large()
        for tier in component.leads_to:
            self.users[tier].discard(component)
        for tier in (*component.leads_to, *component.tiers):
            if not self.users.get(tier):
                self.solver.discard_tier(tier)
