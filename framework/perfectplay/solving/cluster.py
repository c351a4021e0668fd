"""How a solve on several machines is to be done: what a backend that brings its own solver is told."""

from __future__ import annotations

import os
from dataclasses import dataclass

from perfectplay.errors import UsageError

MOST_A_CORE = 8
"""Workers on this machine: each is a process, and a thousand of them would bring it down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where the workers are, and how many."""

    workers: int | None = None
    """None: one for each core of the cluster."""
    address: str | None = None
    """Of a running cluster; None: one that is started on this machine for the solve alone."""
    audit: float = 0.0
    """The share of blocks that another worker derives again, from 0 to 1."""

    def __post_init__(self) -> None:
        most = MOST_A_CORE * (os.cpu_count() or 1)
        if self.address is None and self.workers is not None and self.workers > most:
            raise UsageError(
                f"--workers {self.workers} is too many for this machine: {most} at most, one a core is best"
            )
