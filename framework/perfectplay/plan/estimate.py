"""How many positions a game without an index has: counted where that takes seconds, else estimated from samples.

Counting enumerates as far as time allows. From what it has found by then three explorers go on, tier by tier, each on
its own: it finds the children of at most `most` positions of a tier, drawn at random, and so arrives with its own
sample of the next. If, of what counting has not found, D positions are found by one explorer, P by a given two of them
and T by all three, and if some positions are easier to come to than others (there are more ways to them) with a
log-normal spread, then a tier has

    N = D² / P · e^σ²     with     σ² = log(T · D / P²)

positions more. Each tier is estimated by itself, so errors do not add up along the game; where an explorer finds
everything, D = P = T = N. Measured: docs/commands.md.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfectplay.game.engine import cpu_seconds
from perfectplay.table.records import KeyRecord, TableInfo
from perfectplay.table.store import MemoryStore
from perfectplay.threads import Workers
from perfectplay.tiers.enumeration import SLOW_CHUNK, Enumeration, TierGroups, children_by_tier, iter_batches
from perfectplay.tiers.external_set import SpillBudget
from perfectplay.tiers.order import TierSizes, components, tier_graph
from perfectplay_native.engine import Engine, Positions, StepCosts
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import INDEX_BITS
from perfectplay_native.sorted_keys import union, without

EXPLORERS = 3

COUNTING_SHARE = 0.6
"""Of the seconds, what goes into counting before estimating begins."""

MEASURING_SHARE = 0.1
"""The same for measuring what solving costs, at most."""

FIRST_SAMPLE = 300
"""Positions of a tier that an explorer expands at first, to see how long it takes."""

LARGEST_SAMPLE = 100_000

SAMPLE_GROWTH = (1.5, 4.0)
"""A larger sample is taken if there is time for one so many times as large, and at most so much larger at once."""

ENOUGH_COMMON = 100
"""Positions that all explorers must have in common to tell the spread by."""

ENOUGH_FOR_PAIRS = 10
"""Positions that two explorers must have in common to estimate anything."""

SMALL_SHARE = 0.1
"""Of all positions, how many may be in tiers that are only bounded while the whole still counts as estimated."""

KINDS = ("exact", "estimate", "lower bound")
"""What a count may be, from the best to the worst."""

BYTES_WHILE_COUNTING = 24
"""Memory that a position takes while it is being enumerated."""

MOST_LEVELS = 200
"""Moves that explorers follow among tiers that reach each other."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many positions there are, by tier, and what each of them costs."""

    tiers: Mapping[int, float]
    kind: str
    """`exact`, `estimate`, or `lower bound`: too few positions were found twice to say how many there are."""
    cyclic: bool = False
    """Whether moves are seen to stay in a tier."""
    enumerating_each: float = 0.0
    """Processor seconds that enumerating a position takes; 0 where that was not measured."""
    solving_share: float | None = None
    """What solving costs, for each second of enumerating; None where that was not measured."""

    @property
    def positions(self) -> int:
        return round(sum(self.tiers.values()))

    @property
    def largest_tier(self) -> int:
        return round(max(self.tiers.values(), default=0))


class _TimeOver(Exception):
    """The seconds for counting have passed."""


def count_positions(
    kernel: Kernel, *, game: str, seconds: float, memory: int, check: Callable[[], None] = lambda: None
) -> Count:
    """Count, if the first part of the processor seconds and `memory` bytes are enough for it; else estimate."""
    store = MemoryStore(TableInfo(game=game, options={}, rules_version=0, host_version="", indexing="enumerated"))
    began, cpu_began = time.thread_time(), cpu_seconds()
    expanded: Counter[int] = Counter()

    def note(tier: int, positions: int) -> None:
        expanded[tier] += positions - expanded.total()
        if BYTES_WHILE_COUNTING * positions > memory:
            raise _TimeOver

    def look_at_the_clock() -> None:
        check()
        if time.thread_time() - began > COUNTING_SHARE * seconds:
            raise _TimeOver

    with closing(store), Workers(1) as workers:
        enumeration = Enumeration(kernel, store, game, SpillBudget(None, None), workers, note, look_at_the_clock)
        try:
            enumeration.run()
            complete = True
        except _TimeOver:
            complete = False
        each = (cpu_seconds() - cpu_began) / max(1, expanded.total())
        keys = store.key_records()
        share = _solving_share(kernel, store, keys, each, MEASURING_SHARE * seconds)
        unfinished = {} if complete else enumeration.unfinished()
    counted: dict[int, float] = {**expanded, **{tier: record.size for tier, record in keys.items()}}
    cyclic = any(record.cyclic for record in keys.values())
    if complete:
        return Count(counted, "exact", cyclic, each, share)
    if rest := _estimate_within(kernel, unfinished, (1 - COUNTING_SHARE) * seconds, check):
        return Count({**counted, **rest.tiers}, rest.kind, cyclic or rest.cyclic, each, share)
    found = {tier: len(positions) for tier, positions in unfinished.items()}
    return Count(counted | found, "lower bound", cyclic, each, share)


def _solving_share(
    kernel: Kernel, store: MemoryStore, keys: Mapping[int, KeyRecord], enumerating_each: float, seconds: float
) -> float | None:
    """What solving a position costs, for each second of enumerating it.

    Measured in tiers that lead nowhere but to other tiers that have been enumerated; None where there is no such tier,
    or where the rules are in Python: a solve remembers what they said while enumerating.
    """
    graph = tier_graph(kernel, keys)
    complete = {tier for tier, children in graph.items() if set(children) <= set(keys)}
    among_known = {tier: [child for child in children if child in keys] for tier, children in graph.items()}
    order = [c for c in components(among_known) if not c.cyclic and set(c.tiers) <= complete]
    if not order or not kernel.cheap:
        return None
    measured = measure(
        kernel,
        TierSizes({tier: record.size for tier, record in keys.items()}, order),
        seconds=seconds,
        keys={tier: store.key_blocks(record) for tier, record in keys.items()},
    )
    return measured.cpu_seconds / measured.positions / enumerating_each


def _estimate_within(
    kernel: Kernel, found: Mapping[int, Positions], seconds: float, check: Callable[[], None]
) -> Count | None:
    """The best estimate that the seconds allow: a small one tells how large a sample they are enough for.

    None where not even that is done in twice the time.
    """
    end = time.thread_time() + 2 * seconds

    def look_at_the_clock() -> None:
        check()
        if time.thread_time() > end:
            raise _TimeOver

    best: Count | None = None
    most, growth = float(FIRST_SAMPLE), 1.0
    while best is None or (growth >= SAMPLE_GROWTH[0] and most < LARGEST_SAMPLE):
        most = min(LARGEST_SAMPLE, growth * most)
        began = time.thread_time()
        try:
            best = estimate_positions(kernel, most=int(most), found=found, check=look_at_the_clock)
        except _TimeOver:
            break
        now = time.thread_time()
        growth = min(SAMPLE_GROWTH[1], (end - seconds - now) / max(now - began, 1e-6))
    return best


def estimate_positions(
    kernel: Kernel,
    *,
    most: int,
    found: Mapping[int, Positions] | None = None,
    seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Count:
    """About how many positions there are from those `found` on, by tier; exact where no tier has more than `most`.

    Without any, from the start on.
    """
    if found is None:
        start = kernel.canonicalize(kernel.start())
        found = {kernel.tier(start): np.array([start], dtype=np.uint64)}
    groups = TierGroups(kernel)
    explorers = [
        _Explorer(kernel, found, most, np.random.default_rng([seed, number]), check) for number in range(EXPLORERS)
    ]
    sizes: dict[int, float] = {}
    guessed = dict.fromkeys(KINDS, 0.0)
    spread, cyclic = 0.0, False
    while tiers := {tier for explorer in explorers for tier in explorer.incoming}:
        group = groups.of(min(tiers, key=groups.turn))
        visits = [explorer.visit(group) for explorer in explorers]
        for tier in group:
            levels = [visit[tier] for visit in visits]
            guessed["exact"] += (known := len(found.get(tier, ())))
            if not known and not any(levels):
                continue
            size = _estimate_tier(levels, spread)
            spread = size.spread
            sizes[tier] = known + size.positions
            cyclic |= any(len(each) > 1 for each in levels)
            guessed[size.kind] += size.positions
    bounded = guessed["lower bound"] > SMALL_SHARE * sum(guessed.values())
    kind = "lower bound" if bounded else "exact" if guessed["exact"] == sum(guessed.values()) else "estimate"
    return Count(sizes, kind, cyclic)


class _Explorer:
    """One of the three: what it has found for tiers that it has not been to yet."""

    def __init__(
        self,
        kernel: Kernel,
        found: Mapping[int, Positions],
        most: int,
        random: np.random.Generator,
        check: Callable[[], None],
    ) -> None:
        self.kernel, self.most, self.random, self.check = kernel, most, random, check
        self.found = found
        self.incoming: dict[int, list[Positions]] = {tier: [] for tier in found}

    def visit(self, group: tuple[int, ...]) -> dict[int, list[Positions]]:
        """What it finds besides in tiers that reach each other, by the number of moves made among them."""
        levels: dict[int, list[Positions]] = {tier: [] for tier in group}
        for tier in group:
            if tier in self.found:
                self._expand(self.found[tier])
        for _ in range(MOST_LEVELS):
            fresh = {tier: self._arrived(tier, levels[tier]) for tier in group if tier in self.incoming}
            if not fresh:
                break
            for tier, positions in fresh.items():
                if len(positions):
                    levels[tier].append(positions)
                    self._expand(positions)
        for tier in group:
            self.incoming.pop(tier, None)
        return levels

    def _arrived(self, tier: int, levels: list[Positions]) -> Positions:
        found = [self.found[tier]] if tier in self.found else []
        return without(union(self.incoming.pop(tier)), [*found, *levels])

    def _expand(self, positions: Positions) -> None:
        if len(positions) > self.most:
            positions = self.random.choice(positions, self.most, replace=False, shuffle=False)
        for portion in iter_batches([positions], SLOW_CHUNK):
            self.check()
            for tier, children in children_by_tier(self.kernel, portion):
                self.incoming.setdefault(tier, []).append(children)


@dataclass(frozen=True, slots=True)
class _Size:
    """An estimate, as a `Count` has it, and the spread σ²."""

    positions: float
    kind: str
    spread: float


@dataclass(frozen=True, slots=True)
class _Overlap:
    """How many positions one explorer found on average, two of them, and all."""

    one: float
    two: float
    three: int

    @classmethod
    def of(cls, found: list[Positions]) -> _Overlap:
        a, b, c = found
        both = _common(a, b)
        pairs = len(both) + len(_common(a, c)) + len(_common(b, c))
        return cls(sum(map(len, found)) / 3, pairs / 3, len(_common(both, c)))

    def size(self, spread: float) -> _Size:
        """The estimate; `spread` is that of an earlier tier, for where too little is in common to tell."""
        if self.three == self.one:
            return _Size(self.one, "exact", spread)
        if self.three >= ENOUGH_COMMON:
            spread = max(0.0, math.log(self.three * self.one / self.two**2))
        kind = "estimate" if self.two >= ENOUGH_FOR_PAIRS else "lower bound"
        return _Size(self.one**2 / max(self.two, 1.0) * math.exp(spread), kind, spread)


def _estimate_tier(visits: list[list[Positions]], spread: float) -> _Size:
    """The size of a tier, given what each explorer found there at each level.

    Where moves stay in a tier, but only ever go on, every position has its own level, and levels are estimated one by
    one: the first are known best. Where the explorers found the same positions at different levels, only the whole
    counts.
    """
    nothing = np.empty(0, dtype=np.uint64)
    deepest = max(map(len, visits))
    levels = [_Overlap.of([v[level] if level < len(v) else nothing for v in visits]) for level in range(deepest)]
    if deepest > 1:
        whole = _Overlap.of([union(visit) for visit in visits])
        if sum(level.two for level in levels) < 0.9 * whole.two:
            levels = [whole]
    total, kind = 0.0, "exact"
    for level in levels:
        size = level.size(spread)
        total, spread = total + size.positions, size.spread
        kind = max(kind, size.kind, key=KINDS.index)
    return _Size(total, kind, spread)


def _common(a: Positions, b: Positions) -> Positions:
    """What is in both of two sets."""
    return np.intersect1d(a, b, assume_unique=True)


# What the steps of a solve cost on this machine: measured on a sample of its slots.

RUN_SLOTS = 64
FIRST_RUNS = 64
MOST_RUNS = 4096

ACCESSES = 1 << 20
LARGEST_ARRAY = 64 << 20
"""Bytes beyond which memory gets no slower for this purpose."""


Keys = Mapping[int, Sequence[memoryview]]
"""The sorted positions of each tier, in blocks."""

NO_KEYS: Keys = {}


@dataclass(frozen=True, slots=True)
class Measured:
    """What a solve of all slots takes, as far as the sample tells."""

    cpu_seconds: float
    positions: int
    open_positions: int
    """Those that the rules leave undecided."""
    edges_each: float
    """Moves from an undecided position, up to symmetry."""


def measure(kernel: Kernel, index: TierSizes, *, seconds: float, keys: Keys = NO_KEYS) -> Measured:
    """Do the steps of a solve for random slots of the components of `index`, and scale up to all of these.

    `keys` are those of an enumerated game's tiers.
    """
    engine = Engine(kernel, tiers=max(index.sizes, default=0) + 1)
    for tier, size in index.sizes.items():
        engine.define(tier, size, keys.get(tier))
    access = _seconds_an_access(min(LARGEST_ARRAY, index.largest_component))
    cyclic, others = (
        sorted(tier for component in index.order if component.cyclic == kind for tier in component.tiers)
        for kind in (True, False)
    )
    total = [0.0, 0.0, 0.0, 0.0]
    for tiers, parents in ((cyclic, True), (others, False)):
        slots = sum(index.sizes[tier] for tier in tiers)
        if not slots:
            continue
        sample = _measure_runs(engine, index.sizes, tiers, parents=parents, seconds=seconds / 2)
        scale = slots / sample.slots
        steps = sample.settle_seconds + sample.expand_seconds + sample.retract_seconds
        # A child is looked up among values, a parent in the bitmap and then among entries; the engine asks for memory
        # ahead, and so waits half as long.
        accesses = (sample.children + 2 * sample.parents) / 2
        for place, part in enumerate((steps + accesses * access, sample.positions, sample.open, sample.children)):
            total[place] += scale * part
    engine.close()
    cpu_seconds, positions, opened, edges = total
    return Measured(cpu_seconds, round(positions), round(opened), edges / max(1.0, opened))


def _measure_runs(
    engine: Engine, sizes: Mapping[int, int], tiers: Sequence[int], *, parents: bool, seconds: float
) -> StepCosts:
    """The costs of as many random runs as the seconds allow: a few tell how many that is."""
    random = np.random.default_rng(0)
    began = time.thread_time()
    sample = engine.measure(_random_runs(sizes, tiers, FIRST_RUNS, random), parents=parents)
    took = time.thread_time() - began
    count = min(MOST_RUNS, int(FIRST_RUNS * (seconds - took) / max(took, 1e-6)))
    return engine.measure(_random_runs(sizes, tiers, count, random), parents=parents) if count > FIRST_RUNS else sample


def _random_runs(
    sizes: Mapping[int, int], tiers: Sequence[int], count: int, random: np.random.Generator
) -> npt.NDArray[np.uint64]:
    """The first slots of random runs, each run as likely as any other, in ascending order."""
    runs = np.array([-(-sizes[tier] // RUN_SLOTS) for tier in tiers])
    after = np.cumsum(runs)
    drawn = np.sort(random.integers(0, after[-1], count))
    place = np.searchsorted(after, drawn, side="right")
    first = (drawn - (after - runs)[place]) * RUN_SLOTS
    slots: npt.NDArray[np.uint64] = (np.array(tiers, dtype=np.uint64)[place] << np.uint64(INDEX_BITS)) | first.astype(
        np.uint64
    )
    return slots


def _seconds_an_access(size: int) -> float:
    """What it takes to look at a byte somewhere in an array of this size."""
    array = np.zeros(max(1, size), dtype=np.uint8)
    array[::4096] = 1  # every page is there
    places = np.random.default_rng(0).integers(0, array.size, ACCESSES)
    began = time.thread_time()
    array.take(places)
    return (time.thread_time() - began) / ACCESSES
