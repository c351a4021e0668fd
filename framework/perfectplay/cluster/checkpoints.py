"""Checkpoints of a component that takes long: everything its workers hold between two levels.

They lie in the object store of the driver's machine, which outlives any worker and any other machine. Workers that
begin again may be fewer than those that made it: units keep their size, and are dealt out anew.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from perfectplay.cluster.messages import Ref
from perfectplay.tiers.order import Component

CHECKPOINT_SECONDS = 120.0
"""At least so far apart."""

COST = 0.05
"""And so far that no more than this share of the time goes into them."""

MOST_RESUMES = 3
"""So often we begin again with the same one; then it is given up, for there may be something wrong with it."""


@dataclass(frozen=True, slots=True)
class Round:
    """Levels that follow each other: of wins and losses, by a score or any, or of ties."""

    threshold: int
    ties: bool = False


@dataclass(slots=True)
class Course:
    """How far a component is."""

    rounds: Sequence[Round]
    """Those to do, the present one first."""
    begun: bool
    """Whether the present one has."""
    level: int = 0
    """The last level that it has done."""
    highest: int = 0
    """The highest level of the rounds that are over."""


@dataclass(slots=True)
class Checkpoint:
    course: Course
    unit_bits: int
    values: list[Ref]
    """Of the units, by the worker that had them."""
    value_sums: list[tuple[int, ...]]
    entries: list[Ref]
    entry_sums: list[tuple[int, ...]]
    resumed: int = 0


class Checkpoints:
    """Those of one component: the last one, and when the next is due."""

    def __init__(self, component: Component) -> None:
        self.component = component
        self.last: Checkpoint | None = None
        self._since = time.monotonic()
        self._wait = CHECKPOINT_SECONDS

    @property
    def is_due(self) -> bool:
        return time.monotonic() - self._since >= self._wait

    def take(self, made: Checkpoint, started: float) -> None:
        self.last = made
        self._since = time.monotonic()
        self._wait = max(CHECKPOINT_SECONDS, (self._since - started) / COST)

    def begin_again(self) -> bool:
        """Fresh workers begin with the last checkpoint, if there is one. Whether it is newer than the last time."""
        self._since = time.monotonic()
        if self.last is None:
            return False
        self.last.resumed += 1
        newer = self.last.resumed == 1
        if self.last.resumed > MOST_RESUMES:
            self.last = None
        return newer
