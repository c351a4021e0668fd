"""Plans a solve before it starts: its processor time, memory and disk, and a method that fits this machine.

A few seconds suffice: positions are counted or estimated, times are measured on samples, and sizes follow from the two.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from perfectplay.compile.kernel import solving_kernel
from perfectplay.files import free_disk
from perfectplay.game.engine import translate_error
from perfectplay.game.game import Game
from perfectplay.memory import Available, available_memory
from perfectplay.plan.estimate import count_positions
from perfectplay.plan.sizes import SMALLEST_BUDGET, Shape, shape_of
from perfectplay.table.locations import table_path
from perfectplay.table.records import FULL, OUTCOME
from perfectplay.tiers.order import TierScan, TierSizes
from perfectplay_native.engine import Engine, StepCosts
from perfectplay_native.errors import EngineError
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import INDEX_BITS

SECONDS = 8.0  # of processor time that a plan may take
SOLVING_PER_ENUMERATING = {False: 1.0, True: 1.5}  # time of solving, without and with moves that stay in a tier
COMPONENT_SECONDS = {False: 0.0003, True: 0.004}  # for a component of any size, without and with cycles
RUN_SLOTS, FIRST_RUNS, MAX_RUNS = 64, 64, 1024  # slots per run; random runs measured at first and at most
TIER_SAMPLES, TIER_SAMPLES_PYTHON = 1 << 13, 1 << 8  # slots per tier of a declared index that are expanded
ACCESS_SECONDS = 5e-9  # an access to a large array, most of which the engine has prefetched


@dataclass(frozen=True, slots=True)
class Plan:
    """The cost of a solve, as far as it can be known in a few seconds."""

    shape: Shape
    counted: str  # how certain the number of positions is: `exact`, `estimate` or `lower bound`
    cpu_seconds: float
    threads: int
    available: Available
    free_disk: int
    method: str  # that fits: `memory`, `lmdb`, or `prove`, which proves a single position
    budget: int | None  # the value for --memory, with `lmdb`
    values: str  # that fit: `full` or `outcome`

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
    kernel = solving_kernel(game)
    available, disk = available_memory(), free_disk(table_path(game, directory))
    try:
        if kernel.ranked:
            scan = TierScan(samples=TIER_SAMPLES if kernel.cheap else TIER_SAMPLES_PYTHON, check=check)
            counted, tiers = "exact", TierSizes.of(kernel, scan=scan)
            shape, cpu_seconds = _measure(kernel, seconds, tiers)
        else:
            count = count_positions(kernel, game=game.name, seconds=seconds, memory=available.bytes // 2, check=check)
            counted, tiers = count.kind, count.tiers
            shape = shape_of(kernel, tiers)
            cpu_seconds = tiers.slots * count.enumerating_each * (1 + SOLVING_PER_ENUMERATING[count.cyclic])
    except EngineError as error:
        raise translate_error(error, game) from None
    values, (method, budget) = FULL, _choose_method(shape, available.bytes, disk)
    if method == "prove":
        method, budget = _choose_method(replace(shape, outcomes=True), available.bytes, disk)
        values = FULL if method == "prove" else OUTCOME
    cpu_seconds += sum(COMPONENT_SECONDS[component.cyclic] for component in tiers.order)
    threads = (threads or os.cpu_count() or 1) if kernel.parallel and kernel.ranked else 1
    return Plan(shape, counted, cpu_seconds, threads, available, disk, method, budget, values)


def _choose_method(shape: Shape, memory: int, disk: int) -> tuple[str, int | None]:
    """The fastest method that fits, and the value for --memory if it needs one."""
    if shape.table_bytes <= disk and min(shape.memory_backend, shape.lmdb_backend) <= memory:
        return "memory" if shape.memory_backend <= memory else "lmdb", None
    if shape.table_bytes + shape.scratch_bytes <= disk:
        return "lmdb", max(SMALLEST_BUDGET, memory // 2)
    return "prove", None


def _measure(kernel: Kernel, seconds: float, tiers: TierSizes) -> tuple[Shape, float]:
    """The shape of a ranked game and the processor seconds of its solve, scaled up from random runs of slots."""
    cpu_seconds = positions = open_positions = edges = 0.0
    with closing(Engine(kernel, tiers=max(tiers.sizes, default=0) + 1)) as engine:
        for tier, size in tiers.sizes.items():
            engine.define(tier, size, None)
        for cyclic in (True, False):
            group = [tier for component in tiers.order if component.cyclic == cyclic for tier in component.tiers]
            sizes = {tier: tiers.sizes[tier] for tier in sorted(group)}
            if not any(sizes.values()):
                continue
            sample = _measure_runs(engine, sizes, parents=cyclic, seconds=seconds / 2)
            scale = sum(sizes.values()) / sample.slots
            steps = sample.settle_seconds + sample.expand_seconds + sample.retract_seconds
            # A child is looked up among the values, a parent in the bitmap and then among the entries.
            accesses = sample.children + 2 * sample.parents
            cpu_seconds += scale * (steps + accesses * ACCESS_SECONDS)
            positions += scale * sample.positions
            open_positions += scale * sample.open
            edges += scale * sample.children
    open_share, edges_each = open_positions / max(1, tiers.slots), edges / max(1.0, open_positions)
    shape = shape_of(kernel, tiers)
    return replace(shape, positions=round(positions), open_share=open_share, edges_each=edges_each), cpu_seconds


def _measure_runs(engine: Engine, sizes: Mapping[int, int], *, parents: bool, seconds: float) -> StepCosts:
    """The cost of as many random runs as the time allows; the first few show how many that is."""
    start = time.thread_time()
    sample = engine.measure(_random_runs(sizes, FIRST_RUNS), parents=parents)
    elapsed = time.thread_time() - start
    count = min(MAX_RUNS, int(FIRST_RUNS * (seconds - elapsed) / max(elapsed, 1e-6)))
    return engine.measure(_random_runs(sizes, count), parents=parents) if count > FIRST_RUNS else sample


def _random_runs(sizes: Mapping[int, int], count: int) -> npt.NDArray[np.uint64]:
    """The first slots of random runs in these tiers, in ascending order. All runs are equally likely."""
    runs = np.array([-(-size // RUN_SLOTS) for size in sizes.values()])
    ends = np.cumsum(runs)
    chosen = np.sort(np.random.default_rng(0).integers(0, ends[-1], count))
    place = np.searchsorted(ends, chosen, side="right")
    first = ((chosen - (ends - runs)[place]) * RUN_SLOTS).astype(np.uint64)
    slots: npt.NDArray[np.uint64] = (np.array([*sizes], dtype=np.uint64)[place] << np.uint64(INDEX_BITS)) | first
    return slots
