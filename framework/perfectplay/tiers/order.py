"""The order in which tiers are solved: components of mutually reachable tiers, each after the tiers it leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from perfectplay.table.records import KeyRecord
from perfectplay.threads import ThreadPool
from perfectplay_native.declared_index import child_tiers
from perfectplay_native.kernel import Kernel

SCANNED_SLOTS, SCANNED_SLOTS_PYTHON = 1 << 16, 1 << 10
"""Slots scanned in one call for the tiers that they lead to, so that a stop request takes effect soon."""

SAMPLED_SLOTS = 1 << 6
"""Adjacent slots of a sample."""


@dataclass(frozen=True, slots=True)
class Component:
    """Mutually reachable tiers (nearly always one or two), which are solved together."""

    tiers: tuple[int, ...]
    cyclic: bool
    """Whether a move can lead from one of these tiers to one of them."""
    leads_to: tuple[int, ...]
    """The other tiers that a move can lead to."""


def tier_children(kernel: Kernel, tier: int) -> list[int]:
    """Return the tiers that a move from this tier may lead to: without `tier_children`, all except lower ones."""
    children = kernel.tier_children(tier)
    return list(range(tier, kernel.tier_count)) if children is None else children


@dataclass(frozen=True, slots=True)
class TierScan:
    """Finds the tiers that each tier of a declared index leads to. They are not declared, so slots are expanded."""

    samples: int | None = None
    """The number of slots to expand per tier; None for all, which takes about as long as one step of a solve."""
    threads: int | None = None
    check: Callable[[], None] = lambda: None
    """Called often, to raise an exception on a stop request."""

    def run(self, kernel: Kernel) -> dict[int, list[int]]:
        """Return the tiers that play can reach from the start, and those that each of them leads to."""
        graph: dict[int, list[int]] = {}
        found = [kernel.tier(kernel.start())]
        with ThreadPool(self.threads if kernel.parallel else 1) as pool:
            while found:
                tier = found.pop()
                if tier not in graph and tier < kernel.tier_count:
                    graph[tier] = sorted(self._children(kernel, tier, pool))
                    found += graph[tier]
        return dict(sorted(graph.items()))

    def _children(self, kernel: Kernel, tier: int, pool: ThreadPool) -> set[int]:
        size, children = kernel.tier_size(tier), set[int]()
        length = SCANNED_SLOTS if kernel.cheap else SCANNED_SLOTS_PYTHON
        firsts: Sequence[int] = range(0, size, length)
        if self.samples is not None and self.samples < size:
            length, runs = SAMPLED_SLOTS, -(-self.samples // SAMPLED_SLOTS)
            firsts = [i * (size - length) // max(1, runs - 1) for i in range(runs)]
        scan = partial(_scan, kernel, tier, length, size)
        for _, reached in pool.map(scan, firsts):
            self.check()
            children |= reached
        return children


def _scan(kernel: Kernel, tier: int, length: int, size: int, first: int) -> set[int]:
    return child_tiers(kernel, tier, first, min(length, size - first))


def tier_graph(kernel: Kernel, keys: Mapping[int, KeyRecord], scan: TierScan | None = None) -> dict[int, list[int]]:
    """Return the tiers that each tier leads to, including itself if a move can stay in it.

    `keys` are the records of an enumerated game's tiers. A declared index has only the tiers that play can reach.
    """
    if kernel.layout is not None:
        return (scan or TierScan()).run(kernel)
    if kernel.ranked:
        return {tier: tier_children(kernel, tier) for tier in range(kernel.tier_count)}
    return {tier: [*record.children, *([tier] if record.cyclic else [])] for tier, record in keys.items()}


def tier_sizes(kernel: Kernel, keys: Mapping[int, KeyRecord], tiers: Iterable[int]) -> dict[int, int]:
    """Return the number of slots of each of `tiers`; `keys` are the records of an enumerated game's tiers."""
    return {tier: kernel.tier_size(tier) if kernel.ranked else keys[tier].size for tier in tiers}


def components(children: Mapping[int, Sequence[int]]) -> list[Component]:
    """Return the strongly connected components of the tier graph, last to first in play (Tarjan's algorithm).

    >>> [c.tiers for c in components({0: [1], 1: [1, 2, 3], 2: [1], 3: []})]
    [(3,), (1, 2), (0,)]
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    result: list[Component] = []

    def enter(tier: int) -> None:
        order[tier] = low[tier] = len(order)
        path.append(tier)
        on_path.add(tier)

    for root in children:
        if root in order:
            continue
        enter(root)
        stack = [(root, iter(children[root]))]
        while stack:
            tier, rest = stack[-1]
            child = next((c for c in rest if c not in order or c in on_path), None)
            if child is None:
                stack.pop()
                if stack:
                    low[stack[-1][0]] = min(low[stack[-1][0]], low[tier])
                if low[tier] == order[tier]:
                    cut = path.index(tier)
                    members = set(path[cut:])
                    del path[cut:]
                    on_path -= members
                    result.append(_component(members, children))
            elif child in order:
                low[tier] = min(low[tier], order[child])
            else:
                enter(child)
                stack.append((child, iter(children[child])))
    return result


def _component(members: set[int], children: Mapping[int, Sequence[int]]) -> Component:
    reached = {child for tier in members for child in children[tier]}
    return Component(tuple(sorted(members)), bool(reached & members), tuple(sorted(reached - members)))


@dataclass(frozen=True, slots=True)
class TierSizes:
    """The number of slots of each tier, and the components in the order of solving."""

    sizes: Mapping[int, int]
    order: Sequence[Component]

    @classmethod
    def of(cls, kernel: Kernel, keys: Mapping[int, KeyRecord] | None = None, scan: TierScan | None = None) -> TierSizes:
        """Return the tiers of a game; an enumerated game needs the records of its keys."""
        keys = {} if keys is None else keys
        graph = tier_graph(kernel, keys, scan)
        return cls(tier_sizes(kernel, keys, graph), components(graph))

    @property
    def slots(self) -> int:
        return sum(self.sizes.values())

    def slots_in(self, component: Component) -> int:
        return sum(self.sizes[tier] for tier in component.tiers)

    @property
    def largest_component(self) -> int:
        return max(map(self.slots_in, self.order), default=0)

    @property
    def cyclic_slots(self) -> int:
        return sum(self.slots_in(component) for component in self.order if component.cyclic)
