"""Estimates the number of positions of a game without an index.

Positions are enumerated for as long as the time allows. If that does not finish, three explorers continue
independently from the positions found so far, tier by tier. Each expands a random sample of its positions in a tier and
so reaches the next tier with a sample of that tier. If one explorer finds D positions there on average, P of which a
second one finds too and T all three, the tier has about

    N = D² / P · S      with the spread      S = T · D / P²

positions. The first factor is the estimate of Lincoln and Petersen for positions that are equally easy to reach. The
spread corrects it for chances with a log-normal distribution. docs/results.md compares estimates with complete solves.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from perfectplay.game.engine import cpu_seconds
from perfectplay.table.records import TableInfo
from perfectplay.table.store import MemoryStore
from perfectplay.threads import ThreadPool
from perfectplay.tiers.enumeration import SLOW_CHUNK, Enumeration, TierGroups, children_by_tier, iter_batches
from perfectplay.tiers.external_set import SpillBudget
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions, difference, union

COUNTING_SHARE = 0.6
"""The part of the allowed time for enumerating. The explorers get the rest."""

FIRST_SAMPLE, LARGEST_SAMPLE = 300, 100_000
"""Positions per tier that an explorer expands in the first estimate, which measures its speed, and at most."""

MIN_PAIRS = 10
"""Positions that two explorers must have in common for an estimate. With fewer, the size is a lower bound."""

MIN_TRIPLES = 100
"""Positions that all explorers must have in common to measure the spread. With fewer, the last one is used."""

MAX_BOUNDED_SHARE = 0.1
"""If more of all positions than this are in tiers with only a lower bound, the total is a lower bound."""

BYTES_PER_POSITION = 24
"""Memory that enumerating takes."""

MAX_LEVELS = 200
"""Moves that an explorer follows within a tier or among mutually reachable tiers."""

NO_POSITIONS: Positions = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Count:
    """The number of positions in each tier, and the cost of finding them."""

    tiers: Mapping[int, float]
    kind: str
    """`exact`, `estimate`, or `lower bound` if the explorers have too few positions in common."""
    cyclic: bool = False
    """Whether a move within a tier was seen."""
    enumerating_each: float = 0.0
    """Processor seconds per enumerated position; 0 if not measured."""

    @property
    def positions(self) -> int:
        return round(sum(self.tiers.values()))

    @property
    def largest_tier(self) -> int:
        return round(max(self.tiers.values(), default=0))


def count_positions(
    kernel: Kernel, *, game: str, seconds: float, memory: int, check: Callable[[], None] = lambda: None
) -> Count:
    """Enumerate the positions within `seconds` of processor time and `memory` bytes, or estimate their number."""
    store = MemoryStore(TableInfo(game=game, options={}, rules_version=0, host_version="", indexing="enumerated"))
    deadline, cpu_start = time.thread_time() + COUNTING_SHARE * seconds, cpu_seconds()
    expanded: Counter[int] = Counter()

    def record(tier: int, positions: int) -> None:
        expanded[tier] += positions - expanded.total()
        if BYTES_PER_POSITION * positions > memory:
            raise TimeoutError

    with closing(store), ThreadPool(1) as pool:
        check_time = _deadline_check(deadline, check)
        enumeration = Enumeration(kernel, store, game, SpillBudget(None, None), pool, record, check_time)
        unfinished: dict[int, Positions] = {}
        try:
            enumeration.run()
            complete = True
        except TimeoutError:
            complete = False
            unfinished = enumeration.unfinished()
        each = (cpu_seconds() - cpu_start) / max(1, expanded.total())
        keys = store.key_records()
    counted: dict[int, float] = {**expanded, **{tier: record.size for tier, record in keys.items()}}
    cyclic = any(record.cyclic for record in keys.values())
    if complete:
        return Count(counted, "exact", cyclic, each)
    if rest := _estimate_within(kernel, unfinished, (1 - COUNTING_SHARE) * seconds, check):
        return Count({**counted, **rest.tiers}, rest.kind, cyclic or rest.cyclic, each)
    found = {tier: len(positions) for tier, positions in unfinished.items()}
    return Count(counted | found, "lower bound", cyclic, each)


def _deadline_check(deadline: float, check: Callable[[], None] = lambda: None) -> Callable[[], None]:
    """A function that calls `check` and raises TimeoutError once this thread's processor time passes `deadline`."""

    def check_time() -> None:
        check()
        if time.thread_time() > deadline:
            raise TimeoutError

    return check_time


def _estimate_within(
    kernel: Kernel, found: Mapping[int, Positions], seconds: float, check: Callable[[], None]
) -> Count | None:
    """A first estimate measures the speed, a second one uses the rest of the time; None if the first takes too long."""
    start = time.thread_time()
    check_time = _deadline_check(start + 2 * seconds, check)
    estimate, sample = None, FIRST_SAMPLE
    try:
        estimate = estimate_positions(kernel, sample=sample, found=found, check=check_time)
        factor = seconds / max(time.thread_time() - start, 1e-6) - 1
        if factor > 1:
            sample = min(LARGEST_SAMPLE, int(factor * sample))
            estimate = estimate_positions(kernel, sample=sample, found=found, check=check_time)
    except TimeoutError:
        pass
    return estimate


def estimate_positions(
    kernel: Kernel,
    *,
    sample: int,
    found: Mapping[int, Positions] | None = None,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Count:
    """Estimate the number of positions in every tier, starting from those `found` (by default the start position).

    Exact if no tier has more than `sample` positions.
    """
    if found is None:
        start = kernel.canonicalize(kernel.start())
        found = {kernel.tier(start): np.array([start], dtype=np.uint64)}
    groups = TierGroups(kernel)
    explorers = [_Explorer(kernel, found, sample, np.random.default_rng([seed, number]), check) for number in range(3)]
    sizes: dict[int, float] = {}
    exact, bounded, cyclic, spread = True, 0.0, False, 1.0
    while tiers := {tier for explorer in explorers for tier in explorer.incoming}:
        group = groups.of(min(tiers, key=groups.turn))
        visits = [explorer.visit(group) for explorer in explorers]
        for tier in group:
            levels = [visit[tier] for visit in visits]
            known = len(found.get(tier, ()))
            if not known and not any(levels):
                continue
            sizes[tier] = known
            for overlap in _overlaps(levels):
                if overlap.three >= MIN_TRIPLES:
                    spread = max(1.0, overlap.three * overlap.one / overlap.two**2)
                complete = overlap.three == overlap.one
                size = overlap.one if complete else spread * overlap.one**2 / max(overlap.two, 1.0)
                sizes[tier] += size
                exact &= complete
                bounded += size if overlap.two < MIN_PAIRS and not complete else 0.0
            cyclic |= any(len(visit) > 1 for visit in levels)
    too_uncertain = bounded > MAX_BOUNDED_SHARE * sum(sizes.values())
    return Count(sizes, "lower bound" if too_uncertain else "exact" if exact else "estimate", cyclic)


class _Explorer:
    """One of the three explorers, with the positions it has found in tiers that it has not visited yet."""

    def __init__(
        self,
        kernel: Kernel,
        found: Mapping[int, Positions],
        sample: int,
        random: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        self.kernel, self.sample, self.random, self.check = kernel, sample, random, check
        self.found = found
        self.incoming: dict[int, list[Positions]] = {tier: [] for tier in found}

    def visit(self, group: tuple[int, ...]) -> dict[int, list[Positions]]:
        """Explore mutually reachable tiers. Returns their new positions by the number of moves within the group."""
        levels: dict[int, list[Positions]] = {tier: [] for tier in group}
        for tier in group:
            if tier in self.found:
                self._expand(self.found[tier])
        for _ in range(MAX_LEVELS):
            arrived = {tier: self._take_new(tier, levels[tier]) for tier in group if tier in self.incoming}
            if not arrived:
                break
            for tier, positions in arrived.items():
                if len(positions):
                    levels[tier].append(positions)
                    self._expand(positions)
        for tier in group:
            self.incoming.pop(tier, None)
        return levels

    def _take_new(self, tier: int, levels: list[Positions]) -> Positions:
        known = [self.found[tier]] if tier in self.found else []
        return difference(union(self.incoming.pop(tier)), [*known, *levels])

    def _expand(self, positions: Positions) -> None:
        if len(positions) > self.sample:
            positions = self.random.choice(positions, self.sample, replace=False, shuffle=False)
        for portion in iter_batches([positions], SLOW_CHUNK):
            self.check()
            for tier, children in children_by_tier(self.kernel, portion):
                self.incoming.setdefault(tier, []).append(children)


@dataclass(frozen=True, slots=True)
class _Overlap:
    """D, P and T of the formula."""

    one: float
    two: float
    three: int

    @classmethod
    def of(cls, found: Sequence[Positions]) -> _Overlap:
        a, b, c = found
        both = _common(a, b)
        pairs = len(both) + len(_common(a, c)) + len(_common(b, c))
        return cls(sum(map(len, found)) / 3, pairs / 3, len(_common(both, c)))


def _overlaps(visits: list[list[Positions]]) -> list[_Overlap]:
    """The overlap at every level of a tier, or in the tier as a whole.

    Without cycles each position has one level. Levels are then estimated separately because the first ones are known
    best. Where the explorers reach the same positions at different levels, only the whole tier counts.
    """
    levels = [_Overlap.of(level) for level in zip_longest(*visits, fillvalue=NO_POSITIONS)]
    whole = _Overlap.of([union(visit) for visit in visits])
    return levels if sum(level.two for level in levels) >= 0.9 * whole.two else [whole]


def _common(a: Positions, b: Positions) -> Positions:
    return np.intersect1d(a, b, assume_unique=True)
