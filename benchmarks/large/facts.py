"""What a module of this folder says: which variant to solve, what must come out, and what it may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """One solve: the words after `solve`, and fields of its JSON answer with the values that they must have."""

    command: tuple[str, ...]
    expected: Mapping[str, object]
    source: str
    most_cpu: float | None = None
    """CPU-seconds that it may take."""
    most_cost: float | None = None
    """Of the CPU time a position, how many times that of the solve before it."""


MOST_WRITTEN = 3.0
"""Times its own size that a table on disk may cost in writing."""
