"""How a solve on several machines is to be done: what a backend that brings its own solver is told."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Where the workers are, and how many."""

    workers: int | None = None
    """None: one for each core of the cluster."""
    address: str | None = None
    """Of a running cluster; None: one that is started on this machine for the solve alone."""
    audit: float = 0.0
    """The share of blocks that another worker derives again, from 0 to 1."""
