"""The contract of a kernel's index (`rank`, `unrank`, `expand`, `retract`), checked on positions that a test chooses.

Slots are plain numbers here, tier << 40 | index, because a test looks at millions of them. The games that use this have
alternating turns, so no slot is marked with `keeps_turn`, which would make it unequal to any rank.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from perfectplay import Status
from perfectplay.tiers.order import tier_children
from perfectplay_native.build_engine import ffi
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import INDEX_BITS, NO_POSITION


def tier_of(slot: int) -> int:
    return slot >> INDEX_BITS


class IndexContract:
    """The functions of a kernel's index, called without Python's checks, and what must hold for them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.c = kernel, kernel.c
        self._slots = ffi.new("pp_slot[]", max(self.c.max_moves, self.c.max_parents))
        self.tier_children = lru_cache(maxsize=None)(lambda tier: frozenset(tier_children(kernel, tier)))

    def rank(self, position: int) -> int:
        return int(self.c.rank(self.c, position))

    def unrank(self, first: int, count: int = 1) -> list[int]:
        positions = ffi.new("pp_position[]", count)
        self.c.unrank(self.c, first, count, positions)
        return list(positions)

    def expand(self, position: int) -> list[int]:
        return list(self._slots[0 : self.c.expand(self.c, position, self._slots)])

    def retract(self, position: int) -> list[int]:
        return list(self._slots[0 : self.c.retract(self.c, position, self._slots)])

    def can_return(self, parent_slot: int, child_slot: int) -> bool:
        """Return whether play can return from the child's tier to the parent's, so that `retract` lists the parent."""
        return tier_of(parent_slot) in self.tier_children(tier_of(child_slot))

    def check_slots(self, tier: int, first: int, count: int) -> int:
        """Check that slots are empty or hold a valid position of that rank. Returns the number of positions."""
        slots = range(tier << INDEX_BITS | first, (tier << INDEX_BITS | first) + count)
        positions = self.unrank(slots.start, count)
        for slot, position in zip(slots, positions, strict=True):
            if position != NO_POSITION:
                assert self.kernel.valid(position), slot
                assert self.rank(position) == slot
                assert self.kernel.tier(position) == tier
        return count - positions.count(NO_POSITION)

    def check_expand(self, position: int) -> None:
        """Check that `expand` lists the slots of all children, none more often than moves lead to it."""
        if self.kernel.status(position) == Status.ONGOING:
            slots = Counter(self.rank(self.kernel.apply(position, move)) for move in self.kernel.moves(position))
            expanded = Counter(self.expand(position))
            assert set(expanded) == set(slots), position
            assert expanded <= slots, position
            assert {tier_of(slot) for slot in expanded} <= self.tier_children(self.kernel.tier(position)), position

    def check_children(self, position: int) -> None:
        """Check that `retract` lists this position as often as `expand` lists the child."""
        if self.kernel.status(position) == Status.ONGOING:
            slot = self.rank(position)
            for child_slot, times in Counter(self.expand(position)).items():
                if self.can_return(slot, child_slot):
                    (child,) = self.unrank(child_slot)
                    assert self.retract(child).count(slot) == times, (position, child)

    def check_parents(self, position: int) -> None:
        """Check that `expand` lists this position as often as `retract` lists the parent, an ongoing position."""
        slot = self.rank(position)
        for parent_slot, times in Counter(self.retract(position)).items():
            (parent,) = self.unrank(parent_slot)
            assert self.kernel.valid(parent), (position, parent_slot)
            assert self.kernel.status(parent) == Status.ONGOING, (position, parent)
            assert self.can_return(parent_slot, slot), (position, parent)
            assert self.expand(parent).count(slot) == times, (position, parent)
