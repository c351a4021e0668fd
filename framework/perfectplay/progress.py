"""Progress reports of long operations. Solving, proving, verifying and exporting all use them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A snapshot of running work."""

    phase: str
    positions: int
    """How many are done, in `unit`s."""
    total: int | None = None
    done_before: int = 0
    """How many of those an earlier run had done; they do not count for the speed."""
    unit: str = "positions"
    """What is counted: positions, or slots of an index that may contain no position."""
    tiers_done: int = 0
    tiers: int = 0
    level: int = 0
    seconds: float = 0.0
