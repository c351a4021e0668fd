"""How far a long piece of work is: what solving, proving, verifying and exporting all tell their callers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A snapshot of running work."""

    phase: str
    positions: int
    """How many of what `unit` says are done."""
    total: int | None = None
    done_before: int = 0
    """How many of those an earlier run had done: they say nothing about this one's speed."""
    unit: str = "positions"
    """What is counted: an index of a game may have slots that hold no position."""
    tiers_done: int = 0
    tiers: int = 0
    level: int = 0
    seconds: float = 0.0
