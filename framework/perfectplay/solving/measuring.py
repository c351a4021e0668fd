"""What the steps of a solve cost on this machine: measured on a sample of its slots."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perfectplay.solving.tier_order import TierSizes
from perfectplay_native.engine import Engine, StepCosts
from perfectplay_native.kernel import INDEX_BITS, Kernel

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
