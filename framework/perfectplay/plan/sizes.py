"""How much memory and disk a solve needs, derived from the sizes of its arrays (docs/architecture.md)."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from perfectplay.game import wording
from perfectplay.game.game import Game
from perfectplay.memory import Available, available_memory
from perfectplay.plan.estimate import Count
from perfectplay.table.store import WRITE_BUFFER
from perfectplay.tiers.order import TierSizes
from perfectplay_native.kernel import Kernel

PROGRAM_MEMORY = 40 << 20
"""Python with the modules it loads."""

FIXED_MEMORY = PROGRAM_MEMORY + WRITE_BUFFER
"""The part of a memory budget that the engine cannot use: the program and the write buffer of the store."""

SMALLEST_BUDGET = FIXED_MEMORY + (16 << 20)

# Bytes per slot or position.
OUTCOME_BYTES, MARKER_BYTES, ENTRY_BYTES, GRAPH_BYTES, GRAPH_EDGE_BYTES = 0.25, 0.25, 4, 8, 4
KEY_BYTES, KEY_TREE_BYTES, ENUMERATING_BYTES = 8, 0.5, 16
WIDE_BYTES = 0.5
"""A tier with cycles takes two bytes per value if some remoteness is above 63; the plan assumes one and a half."""

TIER_BYTES = 1 << 10
"""The records of a tier and the free space in its pages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The properties of a game and its options that sizes depend on."""

    slots: int
    positions: int
    largest_component: int
    """Slots of the largest group of tiers that are solved together."""
    cyclic_slots: int
    enumerated: bool
    scored: bool
    retracts: bool
    outcomes: bool = False
    """Whether only outcomes are stored, in two bits."""
    tiers: int = 1
    open_share: float = 0.5
    """The share of positions that the rules alone do not decide; 0.5 unless measured."""
    edges_each: float = 6.0
    """Moves from such a position; 6 unless measured."""

    @property
    def value_bytes(self) -> float:
        """Bytes per slot if no remoteness is above 63."""
        return OUTCOME_BYTES if self.outcomes else 4 if self.scored else 1

    @property
    def table_bytes(self) -> int:
        keys = KEY_BYTES if self.enumerated else 0
        wide = 0.0 if self.scored or self.outcomes else WIDE_BYTES * self.cyclic_slots
        return round(self.slots * (self.value_bytes + keys) + wide) + TIER_BYTES * self.tiers

    @property
    def component_bytes(self) -> int:
        """The engine's arrays while it solves the largest component, without its values."""
        if not self.cyclic_slots:
            return 0
        each = MARKER_BYTES + ENTRY_BYTES * self.open_share + (0.0 if self.outcomes else WIDE_BYTES)
        if not self.retracts:
            each += (GRAPH_BYTES + GRAPH_EDGE_BYTES * self.edges_each) * self.open_share
        return round(self.largest_component * each)

    @property
    def _working_bytes(self) -> int:
        return max(self.component_bytes, ENUMERATING_BYTES * self.largest_component if self.enumerated else 0)

    @property
    def memory_backend(self) -> int:
        """Peak memory of `--backend memory`."""
        each = self.value_bytes + (KEY_BYTES + KEY_TREE_BYTES if self.enumerated else 0)
        return round(self.slots * each) + self._working_bytes + PROGRAM_MEMORY

    @property
    def lmdb_backend(self) -> int:
        """Peak anonymous memory of `--backend lmdb` without `--memory`."""
        return round(self.largest_component * self.value_bytes) + self._working_bytes + FIXED_MEMORY

    @property
    def scratch_bytes(self) -> int:
        """Size of the temporary files that a solve with `--memory` may need."""
        return self.lmdb_backend - FIXED_MEMORY


def ranked_shape(kernel: Kernel, tiers: TierSizes) -> Shape:
    """The shape of a game whose tier sizes are known."""
    return _shape(kernel, tiers.slots, tiers.largest_component, tiers.cyclic_slots, len(tiers.sizes))


def counted_shape(kernel: Kernel, count: Count) -> Shape:
    """The shape of a game whose positions were counted or estimated."""
    cyclic_slots = count.positions if count.cyclic else 0
    return _shape(kernel, count.positions, count.largest_tier, cyclic_slots, len(count.tiers))


def _shape(kernel: Kernel, slots: int, largest_component: int, cyclic_slots: int, tiers: int) -> Shape:
    return Shape(
        slots=slots,
        positions=slots,
        largest_component=largest_component,
        cyclic_slots=cyclic_slots,
        enumerated=not kernel.ranked,
        scored=kernel.scored,
        retracts=kernel.can_retract,
        tiers=tiers,
    )


def free_disk(path: Path) -> int:
    """Free bytes in the file system of `path`, which need not exist yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The space that a running solve may use."""

    in_memory: bool
    """Whether the whole table must fit into memory; other backends use files beyond their budget."""
    memory: int | None
    """The value of --memory."""
    table: Path | None
    """Where the table is saved; None if it is not."""


def describe_shortage(game: Game, shape: Shape, room: Room, *, done_bytes: int = 0) -> str | None:
    """A warning if a solve of this shape will not fit, else None. `done_bytes` of its table are saved already."""
    available = available_memory() if room.memory is None else Available(room.memory, "--memory")
    needs = []
    if room.in_memory and shape.memory_backend > available.bytes:
        size, limit = wording.size(shape.memory_backend), wording.size(available.bytes)
        needs.append(f"solving {game.name} in memory takes about {size}, but {available.limit} leaves {limit}")
    needed = shape.table_bytes - done_bytes
    if room.table is not None and needed > (free := free_disk(room.table)):
        needs.append(f"the table takes about {wording.size(needed)} on disk, but only {wording.size(free)} is free")
    return f"{' and '.join(needs)}; see `solve plan {game.command_word}`" if needs else None
