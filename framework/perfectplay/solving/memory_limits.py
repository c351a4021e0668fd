"""How much memory a solve may still take, as far as the machine and its limits tell, and which limit is nearest."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

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
