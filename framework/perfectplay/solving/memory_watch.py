"""Watches how much memory this process takes while it works: what is its own, and what is pages of files.

The system keeps the peak of both together only. But a budget binds what is a process's own (anonymous memory): pages of
mapped files, such as the table's, are given up whenever somebody needs the room.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

SAMPLE_SECONDS = 0.05

_STATM = Path("/proc/self/statm")
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of RAM."""

    total: int
    """At once, of both kinds."""
    anonymous: int | None
    """The process's own; None where the system does not tell."""
    mapped: int | None
    """Pages of files."""


class MemoryWatch:
    """A context manager that samples; `peak` says the most there was of each kind so far."""

    def __init__(self) -> None:
        self._anonymous = self._mapped = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory watch", daemon=True)

    @property
    def peak(self) -> Memory:
        if not _STATM.exists():
            return Memory(peak_memory(), None, None)
        self._sample()
        return Memory(max(peak_memory(), self._anonymous), self._anonymous, self._mapped)

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        _, resident, shared, *_ = map(int, _STATM.read_bytes().split())
        page = os.sysconf("SC_PAGE_SIZE")
        self._anonymous = max(self._anonymous, page * (resident - shared))
        self._mapped = max(self._mapped, page * shared)

    def __enter__(self) -> MemoryWatch:
        if _STATM.exists():
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()


def peak_memory() -> int:
    """The most bytes of RAM that this process has held at once, since it began."""
    if _STATUS.exists():  # Linux, whose getrusage also counts what the process that started this one held
        (found,) = (line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(found.split()[1]) << 10
    import resource  # only where it is asked for: not every system has it

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, others kibibytes
