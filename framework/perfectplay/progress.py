"""How far a long piece of work is: what solving, proving, verifying and exporting all tell their callers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A snapshot of running work."""

    phase: str
    positions: int
    total: int | None = None
    tiers_done: int = 0
    tiers: int = 0
    level: int = 0
    seconds: float = 0.0
