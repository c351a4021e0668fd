"""How much memory a solve may still take, as far as the machine and its limits tell, and which limit is nearest."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

CONTROL_GROUPS = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True, order=True)
class Available:
    """Bytes that can still be had, and what keeps us from more."""

    bytes: int
    limit: str


def available_memory() -> Available:
    """What can be had before the machine, or a limit on this process or its control group, says no."""
    import resource  # only where it is asked for: not every system has it

    try:
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        machine = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):  # no Linux
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    size, data = _mapped_bytes()
    found = [Available(machine, "the machine's memory"), *_control_groups()]
    for kind, name, used in ((resource.RLIMIT_AS, "RLIMIT_AS", size), (resource.RLIMIT_DATA, "RLIMIT_DATA", data)):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            found.append(Available(max(0, limit - used), f"the limit {name}, {limit >> 20}M"))
    return min(found)


def data_bytes() -> int:
    """What this process has of the memory that RLIMIT_DATA counts; 0 where the system does not tell."""
    return _mapped_bytes()[1]


def _mapped_bytes() -> tuple[int, int]:
    """What this process has mapped, and what of that RLIMIT_DATA counts; 0 where the system does not tell."""
    try:
        size, _, _, _, _, data, _ = map(int, Path("/proc/self/statm").read_text().split())
    except OSError:  # no Linux
        return 0, 0
    page = os.sysconf("SC_PAGE_SIZE")
    return size * page, data * page


def _control_groups() -> Iterator[Available]:
    """The limits of this process's control group and of those around it, of version 2 and of version 1."""
    with suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                yield from _limits(CONTROL_GROUPS, path, "memory.max", "memory.current")
            elif "memory" in controllers.split(","):
                yield from _limits(CONTROL_GROUPS / "memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")


def _limits(root: Path, path: str, limit_file: str, used_file: str) -> Iterator[Available]:
    group = root / path.strip("/")
    for place in [group, *(parent for parent in group.parents if parent.is_relative_to(root))]:
        with suppress(OSError, ValueError):  # no file, or no limit: "max"
            limit = int((place / limit_file).read_text())
            used = int((place / used_file).read_text())
            # What is only cached from files is given up when memory is needed.
            statistics = dict(line.split(" ") for line in (place / "memory.stat").read_text().splitlines())
            cached = int(statistics.get("inactive_file", statistics.get("total_inactive_file", 0)))
            if limit < 1 << 60:  # version 1 says "none" with a number larger than any memory
                yield Available(max(0, limit - used + cached), f"the control group's limit, {limit >> 20}M")


def return_freed_memory() -> None:
    """Give the system back what has been freed, where the C library would keep it for later, for each thread apart."""
    with suppress(OSError, AttributeError):  # another C library than glibc
        ctypes.CDLL(None).malloc_trim(0)


def return_memory_when_freed() -> None:
    """Do so at once from now on, with all that is large. This takes time, which is well spent under a budget.

    The C library keeps what has been up to 32 MiB large, and small things for each thread apart.
    """
    mmap_threshold, size, most_arenas = -3, 1 << 17, -8  # of glibc's malloc.h
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(mmap_threshold, size)
        library.mallopt(most_arenas, 1)


# Watches how much memory this process takes while it works: what is its own, and what is pages of files.
#
# The system keeps the peak of both together only. But a budget binds what is a process's own (anonymous memory): pages of
# mapped files, such as the table's, are given up whenever somebody needs the room.

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


def resident_memory() -> int:
    """Return the bytes of RAM that this process uses now; 0 if the system does not report it."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return 0
