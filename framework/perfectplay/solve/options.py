"""The options of a solve, checked when they are created, and the division of its memory budget."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypedDict, runtime_checkable

from perfectplay.errors import PerfectPlayError, UsageError, did_you_mean
from perfectplay.game import wording
from perfectplay.memory import Available, available_memory
from perfectplay.plan.sizes import FIXED_MEMORY, SMALLEST_BUDGET
from perfectplay.table.records import FULL, VALUES
from perfectplay.table.store import Backend, backends
from perfectplay.threads import MAX_THREADS, Progress
from perfectplay_native.kernel import Kernel

LARGEST_BUDGET = 1 << 60
"""The engine counts bytes in 64 bits."""

MAX_WORKERS_PER_CORE = 8
"""The largest number of workers on this machine. Each is a process, and a thousand of them would bring it down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The workers of a solve or verification."""

    workers: int | None = None
    """None for one per core of the cluster."""
    address: str | None = None
    """The address of a running Ray cluster; None to start one on this machine and stop it at the end."""
    audit: float = 0.0
    """The share of blocks that a second worker derives again, from 0 to 1."""

    def __post_init__(self) -> None:
        limit = MAX_WORKERS_PER_CORE * (os.cpu_count() or 1)
        if self.address is None and self.workers is not None and self.workers > limit:
            raise UsageError(
                f"--workers {self.workers} is too many for this machine; use at most {limit}, or better one per core"
            )


@runtime_checkable
class ClusterBackend(Protocol):
    """A backend that solves with worker processes instead of the engine in this process."""

    def make_steps_factory(self, cluster: Cluster) -> Callable[[Any], Any]:
        """Return a function that creates the `Steps` of a solve from its `SolveState` (steps.py).

        Raises UsageError if the steps cannot be run here.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveOptions:
    """How to solve a game. Creating options that contradict each other raises UsageError."""

    backend: str = "memory"
    """memory solves in RAM and saves at the end; lmdb writes each tier to disk when it is solved; ray uses workers."""
    directory: Path | None = None
    """The directory for tables; None for the default one."""
    save: bool = True
    """Whether to keep the table on disk. lmdb and ray always do."""
    replace_other: bool = False
    """Whether to solve again and replace an existing table, even one with the other kind of values."""
    values: str = FULL
    """full stores the outcome and the remoteness of each position; outcome stores only the outcome, in two bits."""
    threads: int | None = None
    """None for one per core."""
    memory: int | None = None
    """The memory budget in bytes, for each worker where there are workers; None for no limit."""
    cluster: Cluster | None = None
    """The workers of the ray backend."""
    chosen_backend: Backend = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        chosen = find_backend(self.backend)
        object.__setattr__(self, "chosen_backend", chosen)
        if self.values not in VALUES:
            raise UsageError(f"unknown values {self.values!r}; choose one of {', '.join(VALUES)}")
        if chosen.durable and not self.save:
            raise UsageError(f"the {self.backend} backend always saves; leave out --no-save, or use --backend memory")
        require_enough_memory(self.memory)
        if self.threads is not None and not 1 <= self.threads <= MAX_THREADS:
            raise UsageError(f"the number of threads must be from 1 to {MAX_THREADS}, not {self.threads}")
        if not isinstance(chosen, ClusterBackend):
            if self.cluster is not None:
                raise UsageError(
                    f"--workers, --address and --audit are for --backend ray; the {self.backend} backend has threads"
                )
            return
        if self.threads is not None:
            raise UsageError(f"the {self.backend} backend has workers, not threads; use --workers {self.threads}")
        if self.values != FULL:
            raise UsageError(
                f"the {self.backend} backend stores full values only; leave out --values {self.values}, or use "
                f"--backend lmdb"
            )


class SolveKeywords(TypedDict, total=False):
    """The fields of `SolveOptions` as keywords of `solve_game`."""

    backend: str
    directory: Path | None
    save: bool
    replace_other: bool
    values: str
    threads: int | None
    memory: int | None
    cluster: Cluster | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """How a solve communicates with its caller while it runs."""

    progress: Callable[[Progress], None] | None = None
    """Called a few times per second."""
    warn: Callable[[str], None] | None = None
    """Called at most once, if memory or disk will probably not suffice."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set by the caller to interrupt the solve."""


def find_backend(name: str) -> Backend:
    """Return the backend of this name; raise UsageError with the available names if there is none."""
    registry = backends()
    if name in registry.entries:
        backend: Backend = registry.entries[name]
        return backend
    hint = did_you_mean(name, registry.entries)
    names = ", ".join(sorted(registry.entries))
    broken = "".join(f"; {plugin} is broken: {reason}" for plugin, reason in registry.broken.items())
    raise UsageError(f"unknown backend '{name}'{hint} (available: {names}{broken})")


def require_enough_memory(memory: int | None) -> None:
    """Raise UsageError if a memory budget is too small for any solve."""
    if memory is not None and memory < SMALLEST_BUDGET:
        raise UsageError(f"--memory is too small; use at least {SMALLEST_BUDGET >> 20}M")
    if memory is not None and memory >= LARGEST_BUDGET:
        raise UsageError("--memory is too large; leave it out to use all of the memory")


@dataclass(frozen=True, slots=True)
class Budget:
    """The division of a solve's memory between the program, the memo of a Python game, the enumeration and the engine.

    Without `memory`, all available memory is divided.
    """

    memory: int | None
    kernel: Kernel

    @property
    def memo_bytes(self) -> int:
        """The limit of the memo, which stores the replies of a Python game's hooks."""
        return (available_memory().bytes if self.memory is None else self.memory - FIXED_MEMORY) // 4

    def enumeration_bytes(self, *, in_files: bool) -> int | None:
        """Return the limit of the sets of positions; None for no limit, where sets can spill to files."""
        if self.memory is not None:
            return (self.memory - FIXED_MEMORY) // 2
        return None if in_files else available_memory().bytes

    @property
    def engine_bytes(self) -> int | None:
        """The limit of the engine's arrays; None for no limit."""
        return None if self.memory is None else self.memory - FIXED_MEMORY - self.kernel.memo_bytes

    def require(self, needed: int, game: str) -> None:
        """Raise PerfectPlayError if a solve in memory needs more bytes than there are."""
        if needed > self._available().bytes:
            self.kernel.clear_memo()
        available = self._available()
        if needed > available.bytes:
            room = max(SMALLEST_BUDGET, available.bytes // 2)
            first = "" if available.bytes >= room else f"free at least {wording.size(room)}, then "
            raise PerfectPlayError(
                f"solving {game} in memory needs about {needed >> 20}M, but {available.limit} leaves "
                f"{available.bytes >> 20}M; {first}use `--backend lmdb --memory {room >> 20}M`, which needs less"
            )

    def _available(self) -> Available:
        if self.memory is None:
            return available_memory()
        return Available(self.memory - self.kernel.memo_bytes, "--memory")
