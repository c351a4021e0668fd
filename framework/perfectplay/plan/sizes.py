"""How much memory and disk a solve needs: from the sizes of the arrays that it makes (docs/architecture.md)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.memory import Available, available_memory
from perfectplay.plan.estimate import FIRST_SAMPLE, Count, estimate_positions
from perfectplay.table.store import WRITE_BUFFER
from perfectplay.tiers.order import TierSizes
from perfectplay_native.kernel import Kernel

PROGRAM_MEMORY = 40 << 20
"""Python and what it loads."""

FIXED_MEMORY = PROGRAM_MEMORY + WRITE_BUFFER
"""The part of a memory budget that the engine cannot use: the program and the write buffer of the store."""

SMALLEST_BUDGET = FIXED_MEMORY + (16 << 20)

OUTCOME_BYTES = 0.25
MARKER_BYTES = 0.25
ENTRY_BYTES = 4
GRAPH_BYTES = 8
GRAPH_EDGE_BYTES = 4
KEY_BYTES = 8
KEY_TREE_BYTES = 0.5
ENUMERATING_BYTES = 16
"""For each position of the largest tier, while positions are being sorted and merged."""

TIER_BYTES = 1 << 10
"""The records of a tier, and what is left free in its pages."""

OPEN_SHARE = 0.5
"""Of the positions, those that the rules leave undecided: where nothing has been measured."""

EDGES_EACH = 6.0
"""The same for moves from such a position."""

WIDE_SHARE = 0.5
"""A tier with cycles takes two bytes a value if some remoteness in it is above 63. Nobody knows before: so, one and a
half."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What sizes depend on."""

    slots: int
    positions: int
    largest_component: int
    """Slots of the tiers that are solved together."""
    cyclic_slots: int
    enumerated: bool
    scored: bool
    retracts: bool
    outcomes: bool = False
    """Whether only who wins is kept, in two bits."""
    tiers: int = 1
    open_share: float = OPEN_SHARE
    edges_each: float = EDGES_EACH

    @property
    def value_bytes(self) -> float:
        """Of a slot, where no remoteness is above 63."""
        return OUTCOME_BYTES if self.outcomes else 4 if self.scored else 1

    @property
    def table_bytes(self) -> int:
        """On disk."""
        keys = KEY_BYTES if self.enumerated else 0
        wide = 0.0 if self.scored or self.outcomes else WIDE_SHARE * self.cyclic_slots
        return round(self.slots * (self.value_bytes + keys) + wide) + TIER_BYTES * self.tiers

    @property
    def component_bytes(self) -> int:
        """The engine's arrays while the largest component is being solved, its values not counted."""
        if not self.cyclic_slots:
            return 0
        each = MARKER_BYTES + ENTRY_BYTES * self.open_share
        if not self.retracts:
            each += (GRAPH_BYTES + GRAPH_EDGE_BYTES * self.edges_each) * self.open_share
        return round(self.largest_component * (each + (0.0 if self.outcomes else WIDE_SHARE)))

    @property
    def enumeration_bytes(self) -> int:
        return ENUMERATING_BYTES * self.largest_component if self.enumerated else 0

    @property
    def memory_backend(self) -> int:
        """Peak memory of `--backend memory`."""
        each = self.value_bytes + (KEY_BYTES + KEY_TREE_BYTES if self.enumerated else 0)
        return round(self.slots * each) + max(self.component_bytes, self.enumeration_bytes) + PROGRAM_MEMORY

    @property
    def lmdb_backend(self) -> int:
        """Peak of the memory that `--backend lmdb` cannot give back, without `--memory`."""
        values = round(self.largest_component * self.value_bytes)
        return values + max(self.component_bytes, self.enumeration_bytes) + FIXED_MEMORY

    @property
    def scratch_bytes(self) -> int:
        """Files without names, at most, that a solve with `--memory` needs beside its table."""
        return self.lmdb_backend - FIXED_MEMORY


def shape_of(kernel: Kernel, tiers: TierSizes) -> Shape:
    """The shape of a game whose tiers are known: all that is certain without measuring."""
    return Shape(
        slots=tiers.slots,
        positions=tiers.slots,
        largest_component=tiers.largest_component,
        cyclic_slots=tiers.cyclic_slots,
        enumerated=not kernel.ranked,
        scored=kernel.scored,
        retracts=kernel.can_retract,
        tiers=len(tiers.sizes),
    )


def enumerated_shape(kernel: Kernel, count: Count) -> Shape:
    """The shape of a game whose positions have been counted or estimated."""
    return Shape(
        slots=count.positions,
        positions=count.positions,
        largest_component=count.largest_tier,
        cyclic_slots=count.positions if count.cyclic else 0,
        enumerated=True,
        scored=kernel.scored,
        retracts=kernel.can_retract,
        tiers=len(count.tiers),
    )


def free_disk(path: Path) -> int:
    """The bytes that a table at `path` may take, which need not be there yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


# Says during a solve, once, that memory or disk will not be enough for it: before hours have been spent.

MANY = 1_000_000
"""Positions found before it is worth asking how many more there are."""

ESTIMATE_SECONDS = 0.5
"""What that question may cost."""


class _TooSlow(Exception):
    """The estimate would hold up the solve."""


class ShortageWatch:
    """Compares what a solve needs with what there is, as soon as the former is known."""

    def __init__(
        self,
        game: Game,
        kernel: Kernel,
        *,
        in_memory: bool,
        outcomes: bool,
        budget: int | None,
        saved_in: Path | None,
        warn: Callable[[str], None] | None,
    ) -> None:
        self._game, self._kernel = game, kernel
        self._in_memory, self._budget, self._saved_in = in_memory, budget, saved_in
        self._outcomes = outcomes
        self._warn = warn
        self._asked = False

    def found(self, positions: int) -> None:
        """So many positions have been enumerated, and there are more. The first time there are many, ask how many."""
        if self._warn is None or self._asked or positions < MANY:
            return
        self._asked = True
        began = time.thread_time()

        def check() -> None:
            if time.thread_time() - began > ESTIMATE_SECONDS:
                raise _TooSlow

        try:
            count = estimate_positions(self._kernel, most=FIRST_SAMPLE, check=check)
        except _TooSlow:
            return
        self.look_at(enumerated_shape(self._kernel, count))

    def look_at(self, shape: Shape, *, done_bytes: int = 0) -> None:
        """Warn if a solve of this shape does not fit; `done_bytes` of its table are there already."""
        if self._warn is None:
            return
        shape = replace(shape, outcomes=self._outcomes)
        parts = [*self._memory(shape), *self._disk(shape, done_bytes)]
        if parts:
            warn, self._warn = self._warn, None
            warn(f"{' and '.join(parts)}; `solve plan {self._game.command_word}` says what fits")

    def _memory(self, shape: Shape) -> list[str]:
        if not self._in_memory:  # beyond its budget it uses files
            return []
        available = available_memory() if self._budget is None else Available(self._budget, "--memory")
        if shape.memory_backend <= available.bytes:
            return []
        return [
            f"solving {self._game.name} in memory takes about {wording.size(shape.memory_backend)}, and "
            f"{available.limit} leaves {wording.size(available.bytes)}"
        ]

    def _disk(self, shape: Shape, done_bytes: int) -> list[str]:
        if self._saved_in is None:
            return []
        free = free_disk(self._saved_in)
        needed = shape.table_bytes - done_bytes
        if needed <= free:
            return []
        return [f"the table takes about {wording.size(needed)} on disk, and {wording.size(free)} are free there"]
