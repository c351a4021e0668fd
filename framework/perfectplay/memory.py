"""The memory of the machine and of this process: how much is available, which limit is nearest, how much is used.

All figures of the process come from /proc/self/status. On systems without it most of them are unknown.
"""

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
SAMPLE_SECONDS = 0.05

_STATUS = Path("/proc/self/status")


def _process_memory() -> dict[str, int]:
    """Return the memory fields of /proc/self/status, such as VmRSS, in bytes; empty on other systems than Linux."""
    try:
        lines = [line.split() for line in _STATUS.read_text().splitlines()]
    except OSError:
        return {}
    return {words[0].removesuffix(":"): int(words[1]) << 10 for words in lines if words[-1:] == ["kB"]}


@dataclass(frozen=True, slots=True, order=True)
class Available:
    """Available bytes, and the limit that determines them."""

    bytes: int
    limit: str


def available_memory() -> Available:
    """Return how much memory the machine, the limits of this process and its control group still allow."""
    import resource  # not available on every system

    try:
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        machine = int(fields["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError):  # not Linux
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [Available(machine, "the machine's memory"), *_control_groups()]
    used = _process_memory()
    for kind, name, field in (
        (resource.RLIMIT_AS, "RLIMIT_AS", "VmSize"),
        (resource.RLIMIT_DATA, "RLIMIT_DATA", "VmData"),
    ):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            limits.append(Available(max(0, limit - used.get(field, 0)), f"the limit {name}, {limit >> 20}M"))
    return min(limits)


def _control_groups() -> Iterator[Available]:
    """Yield the limits of this process's control group (version 2) and of its parents."""
    with suppress(OSError):
        paths = [line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
        for path in paths:
            group = CONTROL_GROUPS / path.strip("/")
            for place in [group, *(parent for parent in group.parents if parent.is_relative_to(CONTROL_GROUPS))]:
                with suppress(OSError, ValueError):  # no file, or no limit ("max")
                    limit = int((place / "memory.max").read_text())
                    used = int((place / "memory.current").read_text())
                    fields = dict(line.split(" ") for line in (place / "memory.stat").read_text().splitlines())
                    cached = int(fields.get("inactive_file", 0))  # file pages, which the kernel drops when necessary
                    yield Available(max(0, limit - used + cached), f"the control group's limit, {limit >> 20}M")


def data_bytes() -> int:
    """Return the bytes of this process that RLIMIT_DATA counts; 0 if unknown."""
    return _process_memory().get("VmData", 0)


def resident_memory() -> int:
    """Return the bytes of RAM that this process uses now; 0 if unknown."""
    return _process_memory().get("VmRSS", 0)


def peak_memory() -> int:
    """Return the largest number of bytes of RAM that this process has used so far."""
    if peak := _process_memory().get("VmHWM"):  # on Linux getrusage includes the memory of the parent process
        return peak
    import resource  # not available on every system

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10  # bytes on macOS, KiB elsewhere


def return_freed_memory() -> None:
    """Return freed memory to the system, which glibc would keep for later, for each thread separately."""
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def limit_freed_memory(budget: int) -> None:
    """Make glibc return freed memory to the system, except for a quarter of a solve's memory budget.

    By default it keeps blocks of up to 32 MiB, and small ones for each thread separately. If it kept none, every
    temporary array would consist of new pages, which the system has to clear first. That took a quarter of the time of
    an enumeration on disk.
    """
    trim_threshold, mmap_threshold, arena_max = -1, -3, -8  # of glibc's malloc.h
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(mmap_threshold, min(32 << 20, max(1 << 17, budget // 32)))
        library.mallopt(trim_threshold, min(1 << 30, max(1 << 17, budget // 4)))
        library.mallopt(arena_max, 1)


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of RAM."""

    total: int
    """The peak of both kinds together."""
    anonymous: int | None
    """The process's heap and stacks; None if unknown. A memory budget applies to this kind only."""
    mapped: int | None
    """Pages of mapped files, such as the table. The kernel drops them when it needs the memory."""


class MemoryWatch:
    """A context manager that samples the memory of this process, because the kernel has no peak of each kind."""

    def __init__(self) -> None:
        self._anonymous = self._mapped = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory watch", daemon=True)

    @property
    def peak(self) -> Memory:
        """The peaks so far."""
        if not _STATUS.exists():
            return Memory(peak_memory(), None, None)
        self._sample()
        return Memory(max(peak_memory(), self._anonymous), self._anonymous, self._mapped)

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        fields = _process_memory()
        self._anonymous = max(self._anonymous, fields["RssAnon"])
        self._mapped = max(self._mapped, fields["RssFile"] + fields["RssShmem"])

    def __enter__(self) -> MemoryWatch:
        if _STATUS.exists():
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
