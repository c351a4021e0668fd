"""The form of the facts in this folder: a variant to solve, its expected result, and limits on its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """One solve: the words after `solve`, and the expected values of fields of its JSON output."""

    command: tuple[str, ...]
    expected: Mapping[str, object]
    source: str
    max_cpu: float | None = None
    """Limit in CPU-seconds."""
    max_cost: float | None = None
    """Limit on the CPU time per position, relative to the previous solve."""
    max_system: float | None = None
    """Limit on the share of system time in the CPU time."""


MAX_WRITTEN = 1.5
"""Limit on the bytes written to disk, relative to the size of the table."""
