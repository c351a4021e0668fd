"""What a solve may choose: the backend, and with it who solves (this process, or what the backend brings), and how."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from perfectplay.errors import PerfectPlayError, UsageError, did_you_mean
from perfectplay.game import wording
from perfectplay.memory import Available, available_memory
from perfectplay.plan.sizes import FIXED_MEMORY, SMALLEST_BUDGET
from perfectplay.table.records import FULL, VALUES
from perfectplay.table.store import Backend, backends
from perfectplay_native.engine import Propagation
from perfectplay_native.kernel import Kernel

PROPAGATIONS = {propagation.name.lower(): propagation for propagation in Propagation}


def choose_backend(name: str) -> Backend:
    """The backend of this name; UsageError that says which there are."""
    registry = backends()
    if name in registry.entries:
        backend: Backend = registry.entries[name]
        return backend
    hint = did_you_mean(name, registry.entries)
    there_are = ", ".join(sorted(registry.entries))
    broken = "".join(f"; {plugin} is broken: {reason}" for plugin, reason in registry.broken.items())
    raise UsageError(f"unknown backend '{name}'{hint} (there are: {there_are}{broken})")


def require_known(*, values: str, propagation: str) -> None:
    """UsageError where there are no such values, or no such propagation."""
    if values not in VALUES:
        raise UsageError(f"there are no {values!r} values: choose one of {', '.join(VALUES)}")
    if propagation not in PROPAGATIONS:
        raise UsageError(f"there is no propagation {propagation!r}: choose one of {', '.join(PROPAGATIONS)}")


@runtime_checkable
class BringsSolver(Protocol):
    """What a backend has that does not solve with the engine of this process."""

    def solver(self, cluster: Cluster) -> Callable[..., Any]:
        """What takes the arguments of `Solve` and solves with this cluster."""


def choose_solver(
    chosen: Backend, name: str, cluster: Cluster | None, threads: int | None, propagation: str, values: str
) -> Callable[..., Any] | None:
    """What the backend brings, or None; UsageError for options that do not go with it."""
    if not isinstance(chosen, BringsSolver):
        if cluster is not None:
            raise UsageError(f"--workers, --address and --audit are for --backend ray; the {name} backend has threads")
        return None
    if threads is not None:
        raise UsageError(f"the {name} backend has workers, not threads: use --workers {threads}")
    if propagation != "auto":
        raise UsageError(f"the {name} backend chooses the propagation itself")
    if values != FULL:
        raise UsageError(
            f"the {name} backend keeps full values only: leave out --values {values}, or use --backend lmdb"
        )
    return chosen.solver(cluster or Cluster())


# How the memory of a solve is shared: by the program, what a game in Python has said, the enumeration, the engine.


def require_enough(memory: int | None) -> None:
    """UsageError for a `--memory` that nothing can be done with."""
    if memory is not None and memory < SMALLEST_BUDGET:
        raise UsageError(f"--memory is too small: the least that works is {SMALLEST_BUDGET >> 20}M")


@dataclass(frozen=True, slots=True)
class Budget:
    """What `--memory` gives to a solve; without it, what there is."""

    memory: int | None
    kernel: Kernel

    @property
    def for_answers(self) -> int:
        """What may hold the answers of a game in Python."""
        return (available_memory().bytes if self.memory is None else self.memory - FIXED_MEMORY) // 4

    def for_enumeration(self, *, in_files: bool) -> int | None:
        """What sets of positions may take; None for all that there is, files being there for the rest."""
        if self.memory is not None:
            return (self.memory - FIXED_MEMORY) // 2
        return None if in_files else available_memory().bytes

    @property
    def for_engine(self) -> int | None:
        """What the rest of it leaves to the engine; None without a bound."""
        return None if self.memory is None else self.memory - FIXED_MEMORY - self.kernel.memo_bytes

    def require(self, needed: int, game: str) -> None:
        """Refuse at once what memory cannot hold, rather than be killed for it later."""
        if needed > self._available().bytes:
            self.kernel.clear_memo()
        available = self._available()
        if needed > available.bytes:
            room = max(SMALLEST_BUDGET, available.bytes // 2)
            first = "" if available.bytes >= room else f"see to it that there are {wording.size(room)}, and "
            raise PerfectPlayError(
                f"solving {game} in memory needs about {needed >> 20}M and {available.limit} leaves "
                f"{available.bytes >> 20}M: {first}use `--backend lmdb --memory {room >> 20}M`, which needs less"
            )

    def _available(self) -> Available:
        if self.memory is None:
            return available_memory()
        return Available(self.memory - self.kernel.memo_bytes, "--memory")


# How a solve on several machines is to be done: what a backend that brings its own solver is told.

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
