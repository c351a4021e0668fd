"""Estimates the number of positions of a game without an index.

Positions are enumerated for as long as the time allows. If that does not finish, three explorers continue
independently from the positions found so far, tier by tier. Each expands a random sample of a tier's positions and so
reaches the next tier with a sample of that tier. Where the enumeration has found a part of a tier, the sample has the
same share of that part as of the rest, as far as the rest is known. If one explorer finds D positions in a tier on
average, P of which a second one finds too and T all three, the tier has about

    N = D² / P · S      with the spread      S = T · D / P²

positions. The first factor is the estimate of Lincoln and Petersen for positions that are equally easy to reach. The
spread corrects it for chances with a log-normal distribution. docs/results.md compares estimates with complete solves.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from math import ceil

import numpy as np

from perfectplay.game.engine import cpu_seconds
from perfectplay.table.records import TableInfo
from perfectplay.table.store import MemoryStore
from perfectplay.threads import ThreadPool
from perfectplay.tiers.enumeration import SLOW_CHUNK, Enumeration, TierGroups, children_by_tier, iter_batches
from perfectplay.tiers.external_set import SpillBudget
from perfectplay.tiers.order import Component, TierSizes
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions, difference, union

COUNTING_SHARE = 0.6  # of the time; the explorers get the rest
BYTES_PER_POSITION = 24  # memory of the enumeration
FIRST_SAMPLE, LARGEST_SAMPLE = 300, 100_000  # positions per tier that an explorer expands
MAX_LEVELS = 200  # moves that an explorer follows within a group of mutually reachable tiers
MIN_PAIRS = 10  # P below which N is only a lower bound
MIN_TRIPLES = 100  # T below which the spread of the tier before is used
MAX_BOUNDED_SHARE = 0.1  # of all positions in tiers with only a lower bound; with more, the total is one too
NO_POSITIONS: Positions = np.empty(0, dtype=np.uint64)


class _TimeUp(Exception):
    """The time or memory for a step is used up."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of positions in each tier, and the cost of finding them."""

    sizes: Mapping[int, float]
    kind: str  # `exact`, `estimate`, or `lower bound` if the explorers have too few positions in common
    cyclic: bool = False  # whether a move within a tier was seen
    enumerating_each: float = 0.0  # processor seconds per enumerated position; 0 if not measured

    @property
    def tiers(self) -> TierSizes:
        """The tiers as if each were a component."""
        sizes = {tier: round(size) for tier, size in self.sizes.items()}
        return TierSizes(sizes, [Component((tier,), self.cyclic, ()) for tier in sizes])


def count_positions(
    kernel: Kernel, *, game: str, seconds: float, memory: int, check: Callable[[], None] = lambda: None
) -> Count:
    """Enumerate the positions within `seconds` of processor time and `memory` bytes, or estimate their number."""
    store = MemoryStore(TableInfo(game=game, options={}, rules_version=0, host_version="", indexing="enumerated"))
    deadline, cpu_start = time.thread_time() + COUNTING_SHARE * seconds, cpu_seconds()
    expanded: Counter[int] = Counter()

    def record(tier: int, positions: int) -> None:
        expanded[tier] += positions - expanded.total()
        if time.thread_time() > deadline or BYTES_PER_POSITION * positions > memory:
            raise _TimeUp

    with closing(store), ThreadPool(1) as pool:
        enumeration = Enumeration(kernel, store, SpillBudget(None, None), pool, record, check)
        unfinished: dict[int, Positions] | None = None
        try:
            enumeration.run()
        except _TimeUp:
            unfinished = enumeration.unfinished()
        each = (cpu_seconds() - cpu_start) / max(1, expanded.total())
        keys = store.key_records()
    left = (1 - COUNTING_SHARE) * seconds
    rest = Count({}, "exact") if unfinished is None else _estimate_within(kernel, unfinished, left, check)
    sizes = {**expanded, **{tier: record.size for tier, record in keys.items()}, **rest.sizes}
    return Count(sizes, rest.kind, rest.cyclic or any(record.cyclic for record in keys.values()), each)


def _estimate_within(
    kernel: Kernel, found: Mapping[int, Positions], seconds: float, check: Callable[[], None]
) -> Count:
    """Estimate with a small sample, which shows the speed, and then with one that takes the rest of the time."""
    start = time.thread_time()
    estimate = Count({tier: len(positions) for tier, positions in found.items()}, "lower bound")

    def check_time() -> None:
        check()
        if time.thread_time() > start + 2 * seconds:
            raise _TimeUp

    try:
        estimate = estimate_positions(kernel, found, sample=FIRST_SAMPLE, check=check_time)
        factor = seconds / max(time.thread_time() - start, 1e-6) - 1
        if factor > 1:
            sample = min(LARGEST_SAMPLE, int(factor * FIRST_SAMPLE))
            estimate = estimate_positions(kernel, found, sample=sample, check=check_time)
    except _TimeUp:
        pass
    return estimate


def estimate_positions(
    kernel: Kernel,
    found: Mapping[int, Positions],
    *,
    sample: int,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Count:
    """Estimate the sizes of all tiers from the positions `found` in some; exact if no tier has more than `sample`."""
    groups = TierGroups(kernel)
    explorers = [
        _Explorer(kernel, found, sample, np.random.default_rng([seed, number]), check, {tier: [] for tier in found})
        for number in range(3)
    ]
    sizes: dict[int, float] = {}
    exact, bounded, cyclic, spread = True, 0.0, False, 1.0
    while tiers := {tier for explorer in explorers for tier in explorer.incoming}:
        group = groups.of(min(tiers, key=groups.turn))
        arrivals = [explorer.arrive(group) for explorer in explorers]
        shares = {tier: _found_share(len(found.get(tier, ())), [each[tier] for each in arrivals]) for tier in group}
        visits = [explorer.explore(levels, shares) for explorer, levels in zip(explorers, arrivals, strict=True)]
        for tier in group:
            levels = [visit[tier] for visit in visits]
            known = len(found.get(tier, ()))
            if not known and not any(levels):
                continue
            sizes[tier] = known
            for d, p, t in _overlaps(levels):
                if t >= MIN_TRIPLES:
                    spread = max(1.0, t * d / p**2)
                complete = t == d
                size = d if complete else spread * _lincoln_petersen(d, p)
                sizes[tier] += size
                exact &= complete
                bounded += size if p < MIN_PAIRS and not complete else 0.0
            cyclic |= any(len(visit) > 1 for visit in levels)
    kind = "exact" if exact else "estimate"
    return Count(sizes, "lower bound" if bounded > MAX_BOUNDED_SHARE * sum(sizes.values()) else kind, cyclic)


@dataclass(slots=True)
class _Explorer:
    """One of the three explorers, with the positions it has found in tiers that it has not visited yet."""

    kernel: Kernel
    found: Mapping[int, Positions]
    sample: int
    random: np.random.Generator
    check: Callable[[], None]
    incoming: dict[int, list[Positions]]

    def arrive(self, group: tuple[int, ...]) -> dict[int, list[Positions]]:
        """Enter mutually reachable tiers. Returns their positions that are new: a first level for each, or none."""
        levels: dict[int, list[Positions]] = {tier: [] for tier in group}
        self._add_level(levels)
        return levels

    def explore(
        self, levels: dict[int, list[Positions]], found_shares: Mapping[int, float]
    ) -> dict[int, list[Positions]]:
        """Explore these tiers. Returns their new positions by the number of moves within the group."""
        for tier, share in found_shares.items():
            self._expand(self.found.get(tier, NO_POSITIONS), share)
            for positions in levels[tier]:
                self._expand(positions, 1 - share)
        for _ in range(MAX_LEVELS):
            arrived = self._add_level(levels)
            if not arrived:
                break
            for tier in arrived:
                self._expand(levels[tier][-1])
        for tier in levels:
            self.incoming.pop(tier, None)
        return levels

    def _add_level(self, levels: dict[int, list[Positions]]) -> list[int]:
        """Add the positions reached last to their tiers, except those that are not new. Returns the tiers that grew."""
        grown = []
        for tier in levels:
            arrays = self.incoming.pop(tier, None)
            if arrays is None:
                continue
            positions = difference(union(arrays), [self.found.get(tier, NO_POSITIONS), *levels[tier]])
            if len(positions):
                levels[tier].append(positions)
                grown.append(tier)
        return grown

    def _expand(self, positions: Positions, share: float = 1.0) -> None:
        sample = ceil(self.sample * share)
        if len(positions) > sample:
            positions = self.random.choice(positions, sample, replace=False, shuffle=False)
        for portion in iter_batches([positions], SLOW_CHUNK):
            self.check()
            for tier, children in children_by_tier(self.kernel, portion):
                self.incoming.setdefault(tier, []).append(children)


def _found_share(found: int, arrivals: list[list[Positions]]) -> float:
    """Return the part of a tier that the enumeration has found, after the explorers' first steps into it."""
    if not found:
        return 0.0
    others = sum(_lincoln_petersen(d, p) for d, p, _ in _overlaps(arrivals)) if any(arrivals) else 0.0
    return found / (found + others)


def _lincoln_petersen(d: float, p: float) -> float:
    return d**2 / max(p, 1.0)


def _overlaps(visits: list[list[Positions]]) -> list[tuple[float, float, int]]:
    """D, P and T of the formula at every level of a tier, or in the tier as a whole.

    Without cycles each position has one level. Levels are then estimated separately because the first ones are known
    best. Where the explorers reach the same positions at different levels, only the whole tier counts.
    """
    levels = [_overlap(*level) for level in zip_longest(*visits, fillvalue=NO_POSITIONS)]
    whole = _overlap(*map(union, visits))
    return levels if sum(pairs for _, pairs, _ in levels) >= 0.9 * whole[1] else [whole]


def _overlap(a: Positions, b: Positions, c: Positions) -> tuple[float, float, int]:
    common = partial(np.intersect1d, assume_unique=True)
    both = common(a, b)
    pairs = len(both) + len(common(a, c)) + len(common(b, c))
    return (len(a) + len(b) + len(c)) / 3, pairs / 3, len(common(both, c))
