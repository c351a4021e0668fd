"""How much memory a solve may still take, as far as the machine and its limits tell."""

from __future__ import annotations

import os
from pathlib import Path


def available_memory() -> int:
    """The bytes that can be had before the machine, or a limit on this process, says no."""
    import resource  # only where it is asked for: not every system has it

    page = os.sysconf("SC_PAGE_SIZE")
    try:
        fields = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        available = int(fields["MemAvailable"].split()[0]) * 1024
        size, _, _, _, _, data, _ = (page * int(pages) for pages in Path("/proc/self/statm").read_text().split())
    except (OSError, KeyError):  # no Linux
        available, size, data = page * os.sysconf("SC_PHYS_PAGES"), 0, 0
    for kind, used in ((resource.RLIMIT_AS, size), (resource.RLIMIT_DATA, data)):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            available = min(available, max(0, limit - used))
    return available
