"""Plans a solve before it starts: its processor time, memory and disk, and a method that fits this machine.

A few seconds suffice: positions are counted or estimated, times are measured on samples, and sizes follow from the two.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perfectplay.game.engine import game_kernel, translate_error
from perfectplay.game.game import Game
from perfectplay.memory import available_memory
from perfectplay.plan.estimate import count_positions
from perfectplay.plan.sizes import SMALLEST_BUDGET, Shape, counted_shape, free_disk, ranked_shape
from perfectplay.table.locations import table_path
from perfectplay.table.records import FULL, OUTCOME
from perfectplay.tiers.order import TierSizes
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import INDEX_BITS

SECONDS = 8.0
"""Processor time that a plan may take."""

SOLVING_PER_ENUMERATING = {False: 1.0, True: 1.5}
"""Time of solving relative to enumerating, without and with moves that stay in a tier."""

COMPONENT_SECONDS = {False: 0.001, True: 0.004}
"""Time for a component of any size, without and with cycles."""

RUN_SLOTS, RUNS = 64, 1024
"""Slots per run, and random runs whose solving steps are measured."""

ACCESS_SECONDS = 5e-8
"""A random access to a large array. The engine prefetches, so half of it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The cost of a solve, as far as it can be known in a few seconds."""

    shape: Shape
    counted: str
    """How certain the number of positions is: `exact`, `estimate` or `lower bound`."""
    cpu_seconds: float
    threads: int
    available_memory: int
    memory_limit: str
    """The setting or machine property that limits the available memory."""
    free_disk: int
    method: str
    """The method that fits: `memory`, `lmdb`, or `prove`, which proves a single position."""
    budget: int | None
    """The value for --memory, with `lmdb`."""
    values: str
    """The values that fit: `full` or `outcome`."""

    @property
    def least_memory(self) -> int:
        """The smallest memory that `--backend lmdb` works with; temporary files replace the rest."""
        return min(self.shape.lmdb_backend, SMALLEST_BUDGET)

    @property
    def outcome_shape(self) -> Shape:
        """The shape with `--values outcome`."""
        return replace(self.shape, outcomes=True)

    @property
    def seconds(self) -> float:
        """Elapsed time on an idle machine."""
        return self.cpu_seconds / self.threads


def plan_solve(
    game: Game,
    *,
    directory: Path | None = None,
    threads: int | None = None,
    seconds: float = SECONDS,
    check: Callable[[], None] = lambda: None,
) -> Plan:
    """Plan a solve within `seconds` of processor time. `check` is called regularly and may raise."""
    kernel = game_kernel(game)
    available, disk = available_memory(), free_disk(table_path(game, directory))
    try:
        if kernel.ranked:
            counted = "exact"
            shape, cpu_seconds = _measure(kernel, TierSizes.of(kernel))
        else:
            count = count_positions(kernel, game=game.name, seconds=seconds, memory=available.bytes // 2, check=check)
            shape, counted = counted_shape(kernel, count), count.kind
            cpu_seconds = count.positions * count.enumerating_each * (1 + SOLVING_PER_ENUMERATING[count.cyclic])
            cpu_seconds += len(count.tiers) * COMPONENT_SECONDS[count.cyclic]
    except EngineError as error:
        raise translate_error(error, game) from None
    values = FULL
    method, budget = _choose_method(shape, available.bytes, disk)
    if method == "prove":
        method, budget = _choose_method(replace(shape, outcomes=True), available.bytes, disk)
        values = FULL if method == "prove" else OUTCOME
    return Plan(
        shape=shape,
        counted=counted,
        cpu_seconds=cpu_seconds,
        threads=(threads or os.cpu_count() or 1) if kernel.parallel and kernel.ranked else 1,
        available_memory=available.bytes,
        memory_limit=available.limit,
        free_disk=disk,
        method=method,
        budget=budget,
        values=values,
    )


def _choose_method(shape: Shape, memory: int, disk: int) -> tuple[str, int | None]:
    """The fastest method that fits, and the value for --memory if it needs one."""
    if shape.memory_backend <= memory and shape.table_bytes <= disk:
        return "memory", None
    if shape.lmdb_backend <= memory and shape.table_bytes <= disk:
        return "lmdb", None
    if shape.table_bytes + shape.scratch_bytes <= disk:
        return "lmdb", max(SMALLEST_BUDGET, memory // 2)
    return "prove", None


def _measure(kernel: Kernel, tiers: TierSizes) -> tuple[Shape, float]:
    """The shape of a ranked game and the processor seconds of its solve, scaled up from random runs of slots."""
    engine = Engine(kernel, tiers=max(tiers.sizes, default=0) + 1)
    for tier, size in tiers.sizes.items():
        engine.define(tier, size, None)
    seconds = sum(COMPONENT_SECONDS[component.cyclic] for component in tiers.order)
    positions = open_positions = edges = 0.0
    for cyclic in (True, False):
        group = sorted(tier for component in tiers.order if component.cyclic == cyclic for tier in component.tiers)
        if not sum(tiers.sizes[tier] for tier in group):
            continue
        sample = engine.measure(_random_runs(tiers.sizes, group), parents=cyclic)
        scale = sum(tiers.sizes[tier] for tier in group) / sample.slots
        steps = sample.settle_seconds + sample.expand_seconds + sample.retract_seconds
        # A child is looked up among the values, a parent in the bitmap and then among the entries.
        accesses = (sample.children + 2 * sample.parents) / 2
        seconds += scale * (steps + accesses * ACCESS_SECONDS)
        positions += scale * sample.positions
        open_positions += scale * sample.open
        edges += scale * sample.children
    engine.close()
    shape = replace(
        ranked_shape(kernel, tiers),
        positions=round(positions),
        open_share=open_positions / max(1, tiers.slots),
        edges_each=edges / max(1.0, open_positions),
    )
    return shape, seconds


def _random_runs(sizes: Mapping[int, int], tiers: Sequence[int]) -> npt.NDArray[np.uint64]:
    """The first slots of random runs in these tiers, in ascending order. All runs are equally likely."""
    runs = np.array([-(-sizes[tier] // RUN_SLOTS) for tier in tiers])
    ends = np.cumsum(runs)
    chosen = np.sort(np.random.default_rng(0).integers(0, ends[-1], RUNS))
    place = np.searchsorted(ends, chosen, side="right")
    first = ((chosen - (ends - runs)[place]) * RUN_SLOTS).astype(np.uint64)
    slots: npt.NDArray[np.uint64] = (np.array(tiers, dtype=np.uint64)[place] << np.uint64(INDEX_BITS)) | first
    return slots
