"""What a solve takes before it is begun: positions, processor time, memory and disk, and what fits this machine.

Sizes are reckoned (sizes.py); positions are counted or estimated (counting.py) and times are measured (measuring.py),
on this machine and on samples, in a few seconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from perfectplay.game.engine import game_kernel, translate_error
from perfectplay.game.game import Game
from perfectplay.memory import available_memory
from perfectplay.plan.estimate import Count, count_positions, measure
from perfectplay.plan.sizes import SMALLEST_BUDGET, Shape, enumerated_shape, free_disk, shape_of
from perfectplay.table.locations import table_path
from perfectplay.table.records import FULL, OUTCOME
from perfectplay.tiers.order import TierSizes
from perfectplay_native.errors import EngineError
from perfectplay_native.kernel import Kernel

SECONDS = 8.0
"""Of processor time, that a plan may take."""

SOLVING_PER_ENUMERATING = 1.0
"""What solving costs after enumerating, where that was not measured."""

SOLVING_CYCLES_PER_ENUMERATING = 1.5
"""The same where moves stay in a tier."""

COMPONENT_SECONDS = 0.001
"""What solving tiers together costs, however small they are."""

CYCLIC_COMPONENT_SECONDS = 0.004
"""The same where it goes level by level."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a solve takes, as far as can be known in a few seconds."""

    shape: Shape
    counted: str
    """How sure `positions` is: `exact`, `estimate` or `lower bound`."""
    cpu_seconds: float
    threads: int
    available_memory: int
    memory_limit: str
    """What keeps us from more memory."""
    free_disk: int
    method: str
    """What fits: `memory`, `lmdb`, or `alphabeta`, which proves one position."""
    budget: int | None
    """With `lmdb`: what to give as --memory."""
    values: str
    """What fits: `full` values, or `outcome` alone."""

    @property
    def least_memory(self) -> int:
        """What `--backend lmdb` makes do with, if it is given no more; scratch files make up for it."""
        return min(self.shape.lmdb_backend, SMALLEST_BUDGET)

    @property
    def outcome_shape(self) -> Shape:
        """The same with `--values outcome`."""
        return replace(self.shape, outcomes=True)

    @property
    def seconds(self) -> float:
        """Until it is solved, if nothing else runs."""
        return self.cpu_seconds / self.threads


def plan_solve(
    game: Game,
    *,
    directory: Path | None = None,
    threads: int | None = None,
    seconds: float = SECONDS,
    check: Callable[[], None] = lambda: None,
) -> Plan:
    """Plan a solve: count or estimate the positions, measure what they cost, and see what fits.

    `seconds` is how much processor time that may take; `check` is called now and then, and may raise.
    """
    kernel = game_kernel(game)
    available = available_memory()
    try:
        if kernel.ranked:
            shape, cpu_seconds, counted = *_measured(kernel, seconds), "exact"
        else:
            count = count_positions(kernel, game=game.name, seconds=seconds, memory=available.bytes // 2, check=check)
            shape, counted = enumerated_shape(kernel, count), count.kind
            cpu_seconds = count.positions * count.enumerating_each * (1 + _solving_share(count))
            cpu_seconds += len(count.tiers) * (CYCLIC_COMPONENT_SECONDS if count.cyclic else COMPONENT_SECONDS)
    except EngineError as error:
        raise translate_error(error, game) from None
    disk = free_disk(table_path(game, directory))
    method, budget = _what_fits(shape, available.bytes, disk)
    values = FULL
    if method == "alphabeta":
        method, budget = _what_fits(replace(shape, outcomes=True), available.bytes, disk)
        values = FULL if method == "alphabeta" else OUTCOME
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


def _measured(kernel: Kernel, seconds: float) -> tuple[Shape, float]:
    """The shape of a ranked game, and the processor seconds of solving it."""
    tiers = TierSizes.of(kernel)
    measured = measure(kernel, tiers, seconds=seconds)
    shape = replace(
        shape_of(kernel, tiers),
        positions=measured.positions,
        open_share=measured.open_positions / max(1, tiers.slots),
        edges_each=measured.edges_each,
    )
    each = (CYCLIC_COMPONENT_SECONDS if component.cyclic else COMPONENT_SECONDS for component in tiers.order)
    return shape, measured.cpu_seconds + sum(each)


def _solving_share(count: Count) -> float:
    if count.cyclic:
        return SOLVING_CYCLES_PER_ENUMERATING
    return SOLVING_PER_ENUMERATING if count.solving_share is None else count.solving_share


def _what_fits(shape: Shape, memory: int, disk: int) -> tuple[str, int | None]:
    """The method, and the memory to give it where that is needed."""
    if shape.memory_backend <= memory and shape.table_bytes <= disk:
        return "memory", None
    if shape.lmdb_backend <= memory and shape.table_bytes <= disk:
        return "lmdb", None
    if shape.table_bytes + shape.scratch_bytes <= disk:
        return "lmdb", max(SMALLEST_BUDGET, memory // 2)
    return "alphabeta", None
