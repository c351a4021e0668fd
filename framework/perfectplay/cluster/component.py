"""A component solved by all workers together: the steps of the engine, and what travels between them.

Every worker settles its units and publishes them; with all of that in sight it expands its own positions. Then level by
level: a call takes what the others found at the level before, and returns what this worker has found for each of them.
A message is an argument of exactly one call, so none can be missing or come twice; the level is over when every call
has returned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from perfectplay.cluster.checkpoints import Checkpoint, Checkpoints, Course, Round
from perfectplay.cluster.messages import Ref, State
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import MAX_SCORE
from perfectplay_native.share import NO_THRESHOLD, Layout

NARROW_LEVELS = 63
"""The highest remoteness that fits into one byte with the outcome."""


class Pool(Protocol):
    """What the driver asks of its workers; `RayPool`, or in tests workers in the same process."""

    @property
    def size(self) -> int: ...
    def put(self, value: Any) -> Ref: ...
    def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any: ...
    def wait(self, refs: Sequence[Ref]) -> list[Ref]: ...
    def get(self, refs: Sequence[Ref]) -> list[Any]: ...
    def revive(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the workers finished."""

    replies: list[list[Ref]]
    """From each worker: its state, and the units of each tier."""
    exchanged: int
    """Bytes that they made for each other."""


class SharedComponent:
    """One component on its way."""

    def __init__(
        self, pool: Pool, layout: Layout, kernel: Kernel, checkpoints: Checkpoints, at_level: Callable[[int], None]
    ) -> None:
        self.pool, self.layout, self.kernel, self.checkpoints = pool, layout, kernel, checkpoints
        self.at_level = at_level
        self.workers = range(layout.workers)
        self.exchanged = 0

    def solve(self, held: Sequence[tuple[int, list[int], Any, list[Ref]]], *, cyclic: bool) -> Outcome:
        """Solve it; `held` is what each worker must have at hand first."""
        self._begin(held, 4 if self.kernel.scored else 1)
        wide = None
        if cyclic:
            wide = self._solve_cyclic()
        else:
            self._solve_acyclic(held)
        returns = 1 + len(self.layout.tiers)
        replies = [list(self._call(worker, "store", wide, returns=returns)) for worker in self.workers]
        return Outcome(replies, self.exchanged)

    def _begin(self, held: Sequence[tuple[int, list[int], Any, list[Ref]]], width: int) -> None:
        begun = []
        for worker in self.workers:
            *finished, pieces = held[worker]
            begun.append(self._call(worker, "begin", *finished, self.layout, worker, width, *pieces))
        self.pool.get(begun)

    # ---- tiers in which no move stays ----

    def _solve_acyclic(self, held: Sequence[tuple[int, list[int], Any, list[Ref]]]) -> None:
        states = self._all("solve_units")
        if not self.kernel.scored and _last_level(states) > NARROW_LEVELS:
            self._begin([(count, keep, [], []) for count, keep, _, _ in held], 2)  # all of it is there already
            self._all("solve_units")

    # ---- tiers that play may go round in ----

    def _solve_cyclic(self) -> Any:
        """All rounds; of each tier, whether its values need two bytes."""
        kept = self.checkpoints.last
        course, states = self._start() if kept is None else self._resume(kept)
        while course.rounds:
            states = self._levels(course, states if course.begun else self._enter(course))
            course.highest = max(course.highest, _last_level(states))
            if self.kernel.scored and not course.rounds[0].ties:
                self._publish("store_score")
            course.rounds, course.begun = course.rounds[1:], False
        if self.kernel.scored or course.highest <= NARROW_LEVELS:
            return np.zeros(len(self.layout.tiers), dtype=np.uint8)
        found = self.pool.get([self._call(worker, "wide") for worker in self.workers])
        return np.bitwise_or.reduce(found)

    def _start(self) -> tuple[Course, list[State]]:
        self._publish("settle")
        states = self._expand(NO_THRESHOLD, edges=not self.kernel.can_retract)
        ties = [Round(0, ties=True)] if any(state.has_ties for state in states) else []
        if self.kernel.scored:
            return Course([*map(Round, self._thresholds()), *ties], begun=False), states
        return Course([Round(NO_THRESHOLD), *ties], begun=True), states

    def _enter(self, course: Course) -> list[State]:
        """Begin a round."""
        course.begun, course.level = True, 0
        present = course.rounds[0]
        return self._all("begin_ties") if present.ties else self._expand(present.threshold)

    def _publish(self, step: str) -> None:
        """Take a step after which every worker must see what the others' units hold."""
        replies = [self._call(worker, step, returns=2) for worker in self.workers]
        states: list[State] = self.pool.get([reply[0] for reply in replies])
        self.exchanged += sum(self.layout.sizes) * (4 if self.kernel.scored else 1)
        sums = [state.checksums for state in states]
        self.pool.get(
            [
                self._call(
                    worker, "see", sums, *(None if worker == other else replies[other][1] for other in self.workers)
                )
                for worker in self.workers
            ]
        )

    def _expand(self, threshold: int, *, edges: bool = False) -> list[State]:
        if not edges:
            return self._all("expand", threshold, False)
        replies = [
            self._call(worker, "expand", threshold, True, returns=1 + len(self.workers)) for worker in self.workers
        ]
        states: list[State] = self.pool.get([reply[0] for reply in replies])
        self._count(states)
        self.pool.get(
            [self._call(worker, "learn", *(reply[1 + worker] for reply in replies)) for worker in self.workers]
        )
        return states

    def _levels(self, course: Course, states: list[State]) -> list[State]:
        inbox = self._empty_inbox()
        while course.level < _last_level(states) or any(ref is not None for refs in inbox for ref in refs):
            if self.checkpoints.is_due:
                states, inbox = self._save(course, inbox), self._empty_inbox()
                continue
            course.level += 1
            self.at_level(course.level)
            replies = [
                self._call(
                    worker,
                    "level",
                    course.level,
                    course.rounds[0].ties,
                    *inbox[worker],
                    returns=1 + len(self.workers),
                )
                for worker in self.workers
            ]
            states = self.pool.get([reply[0] for reply in replies])
            self._count(states)
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

    def _save(self, course: Course, inbox: list[list[Ref | None]]) -> list[State]:
        """Take a checkpoint, for which everything that was sent must have arrived."""
        started = time.monotonic()
        ties = course.rounds[0].ties
        replies = [self._call(worker, "save", course.level, ties, *inbox[worker], returns=3) for worker in self.workers]
        states: list[State] = self.pool.get([reply[0] for reply in replies])
        values = self.pool.get([reply[1] for reply in replies])
        entries = self.pool.get([reply[2] for reply in replies])
        sums = [state.checksums for state in states]
        made = Checkpoint(
            replace(course),
            self.layout.unit_bits,
            values=[self.pool.put(units) for units in values],
            value_sums=[each[: len(units)] for each, units in zip(sums, values, strict=True)],
            entries=[self.pool.put(units) for units in entries],
            entry_sums=[each[len(units) :] for each, units in zip(sums, values, strict=True)],
        )
        self.exchanged += sum(array.nbytes for units in (*values, *entries) for array in units)
        self.checkpoints.take(made, started)
        return states

    def _resume(self, kept: Checkpoint) -> tuple[Course, list[State]]:
        """Begin where a checkpoint was taken."""
        present = kept.course.rounds[0]
        self.pool.get([self._call(worker, "restore", kept.value_sums, *kept.values) for worker in self.workers])
        if not self.kernel.can_retract:
            self._expand(present.threshold, edges=True)
        recalled = (present.threshold, present.ties, kept.entry_sums, *kept.entries)
        return replace(kept.course), self._all("recall", *recalled)

    # ---- helpers ----

    def _thresholds(self) -> list[int]:
        found = np.bitwise_or.reduce(self.pool.get([self._call(worker, "scores") for worker in self.workers]))
        scores = np.flatnonzero(np.unpackbits(found.view(np.uint8), bitorder="little"))
        return [int(score) for score in scores[::-1] if 0 < score <= MAX_SCORE]

    def _call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
        return self.pool.call(worker, method, *arguments, returns=returns)

    def _all(self, method: str, *arguments: Any) -> list[State]:
        states: list[State] = self.pool.get([self._call(worker, method, *arguments) for worker in self.workers])
        return states

    def _count(self, states: Sequence[State]) -> None:
        for worker, state in enumerate(states):
            self.exchanged += sum(size for other, size in enumerate(state.sent) if other != worker)


def _last_level(states: Sequence[State]) -> int:
    return max((state.last_level for state in states), default=0)
