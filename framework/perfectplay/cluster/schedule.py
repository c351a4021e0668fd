"""Which components can be solved, are being solved, and are waiting for others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from perfectplay.cluster.component import Pool
from perfectplay.cluster.messages import Ref
from perfectplay.cluster.pool import WorkerLost
from perfectplay.tiers.order import Component


class Solver(Protocol):
    """What solves components, once it is told which: the driver."""

    @property
    def pool(self) -> Pool: ...
    @property
    def worth_a_message(self) -> int: ...
    @property
    def most_alone(self) -> int: ...
    def slots(self, component: Component) -> int: ...
    def is_large(self, component: Component) -> bool: ...
    def start_alone(self, component: Component, worker: int) -> list[Ref]: ...
    def solve_together(self, component: Component) -> None: ...
    def finish(self, component: Component, replies: Sequence[Sequence[Ref]], makers: Sequence[int]) -> None: ...
    def recover(self, loss: WorkerLost) -> None: ...
    def forget(self, tier: int) -> None: ...


class Schedule:
    """One run through components, each after those that it leads to.

    A worker that is busy with a small component is given the next one already, so that it does not wait for us.
    """

    def __init__(self, solve: Solver, todo: Sequence[Component]) -> None:
        self.solve = solve
        unsolved = {tier for component in todo for tier in component.tiers}
        self.missing = {component: unsolved.intersection(component.leads_to) for component in todo}
        self.users: dict[int, set[Component]] = {}
        for component in todo:
            for tier in component.leads_to:
                self.users.setdefault(tier, set()).add(component)
        self.small: deque[Component] = deque()
        self.large: deque[Component] = deque()
        self.running: dict[Ref, tuple[Component, list[Ref], int]] = {}
        for component in todo:
            self._look_at(component)
        self._spread_large()

    def run(self) -> None:
        while self.small or self.large or self.running:
            try:
                self._advance()
            except WorkerLost as loss:
                self.small.extendleft(component for component, _, _ in self.running.values())
                self.running.clear()
                self.solve.recover(loss)

    def _look_at(self, component: Component) -> None:
        if not self.missing[component]:
            (self.large if self.solve.is_large(component) else self.small).append(component)

    def _spread_large(self) -> None:
        """Where every worker can have large components of its own, that saves the messages of sharing each."""
        slots = [self.solve.slots(component) for component in self.large]
        if self.large and max(slots) <= min(sum(slots) // self.solve.pool.size, self.solve.most_alone):
            self.small.extendleft(reversed(self.large))
            self.large.clear()

    def _advance(self) -> None:
        self._hand_out()
        if self.running:
            for ref in self.solve.pool.wait(list(self.running)):
                component, replies, worker = self.running[ref]
                self.solve.finish(component, [replies], [worker])
                del self.running[ref]
                self._solved(component)
        else:
            self.solve.solve_together(self.large[0])
            self._solved(self.large.popleft())

    def _hand_out(self) -> None:
        """Give small components to the workers that have the least to do."""
        burden = [0 for _ in range(self.solve.pool.size)]
        for component, _, worker in self.running.values():
            burden[worker] += self.solve.slots(component)
        while self.small and min(burden) < self.solve.worth_a_message:
            component = self.small[0]
            worker = burden.index(min(burden))
            replies = self.solve.start_alone(component, worker)
            self.running[replies[0]] = (self.small.popleft(), replies, worker)
            burden[worker] += self.solve.slots(component)

    def _solved(self, component: Component) -> None:
        for tier in component.tiers:
            for user in self.users.get(tier, ()):
                self.missing[user].discard(tier)
                self._look_at(user)
        self._spread_large()
        for tier in component.leads_to:
            self.users[tier].discard(component)
        for tier in (*component.leads_to, *component.tiers):
            if not self.users.get(tier):
                self.solve.forget(tier)
