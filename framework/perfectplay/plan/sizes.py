"""How much memory and disk a solve needs, derived from the sizes of its arrays (docs/architecture.md)."""

from __future__ import annotations

from dataclasses import dataclass

from perfectplay.table.store import WRITE_BUFFER
from perfectplay.tiers.order import TierSizes
from perfectplay_native.kernel import Kernel

PROGRAM_MEMORY = 40 << 20  # Python with the modules it loads
FIXED_MEMORY = PROGRAM_MEMORY + WRITE_BUFFER  # the part of a memory budget that the engine cannot use
SMALLEST_BUDGET = FIXED_MEMORY + (16 << 20)

# Bytes per slot or position. A tier takes two bytes per value if some remoteness is above 63. In a game with cycles,
# that holds for nearly all large tiers or for none, with and without cycles; the plan assumes one and a half.
OUTCOME_BYTES, WIDE_BYTES, MARKER_BYTES, ENTRY_BYTES, GRAPH_BYTES, GRAPH_EDGE_BYTES = 0.25, 0.5, 0.25, 4, 8, 4
KEY_BYTES, KEY_TREE_BYTES, ENUMERATING_BYTES = 8, 0.5, 16
TIER_BYTES = 1 << 10  # the records of a tier and the free space in its pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The properties of a game and its options that sizes depend on."""

    slots: int
    positions: int
    largest_component: int  # slots of the largest group of tiers that are solved together
    cyclic_slots: int
    enumerated: bool
    scored: bool
    retracts: bool
    outcomes: bool = False  # whether only outcomes are stored, in two bits
    tiers: int = 1
    open_share: float = 0.5  # of the positions, which the rules alone do not decide; 0.5 unless measured
    edges_each: float = 6.0  # moves from such a position; 6 unless measured

    @property
    def value_bytes(self) -> float:
        """Bytes per slot if no remoteness is above 63."""
        return OUTCOME_BYTES if self.outcomes else 4 if self.scored else 1

    @property
    def table_bytes(self) -> int:
        keys = KEY_BYTES if self.enumerated else 0
        wide = 0.0 if self.scored or self.outcomes or not self.cyclic_slots else WIDE_BYTES * self.slots
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
    def least_memory(self) -> int:
        """The smallest memory that `--backend lmdb` works with; temporary files replace the rest."""
        return min(self.lmdb_backend, SMALLEST_BUDGET)

    @property
    def scratch_bytes(self) -> int:
        """Size of the temporary files that a solve with `--memory` may need."""
        return self.lmdb_backend - FIXED_MEMORY


def shape_of(kernel: Kernel, tiers: TierSizes) -> Shape:
    """The shape of a game with these tiers, with full values."""
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
