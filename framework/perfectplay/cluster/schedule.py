"""The schedule of a solve by workers: which components can be solved, are being solved, or wait for others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perfectplay.cluster.messages import Ref
from perfectplay.cluster.pool import Pool, WorkerLost
from perfectplay.tiers.order import Component


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
