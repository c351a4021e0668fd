"""Compares a GBL2 file, whoever made it, with our table: what agrees, what differs, what we do not know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from perfectplay.analysis.export import winners
from perfectplay.errors import Interrupted
from perfectplay.progress import Progress
from perfectplay.table.gbl2 import Entries, read_gbl2, read_header
from perfectplay.values import NO_POSITION_CODE
from perfectplay_native.positions import canonicalize_many

if TYPE_CHECKING:
    from perfectplay.table.table import Table

EXAMPLES = 10
"""How many entries that differ are named."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An entry that our table contradicts: who wins by the file, and by the table (1 who begins, -1 the other)."""

    position: int
    file: int
    table: int


@dataclass(slots=True)
class Comparison:
    """What comparing a file with a table found."""

    entries: int = 0
    agree: int = 0
    differ: int = 0
    not_canonical: int = 0
    """Positions that are not their own canonical form; they are compared all the same."""
    unknown: int = 0
    """Numbers that are not a position of the table."""
    differences: list[Difference] = field(default_factory=list)
    unknown_examples: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether nothing speaks against the file."""
        return self.agree == self.entries and not self.not_canonical


def compare_gbl2(
    table: Table,
    path: Path | str,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Comparison:
    """Read a GBL2 file, check its length, order and checksum, and compare every entry with a finished table.

    Raises PerfectPlayError where the file is damaged, or where the game does not tell whose turn it is.
    """
    table.require_complete()
    path, started, found = Path(path), time.monotonic(), Comparison()
    total = read_header(path).count
    for part in read_gbl2(path):
        if stop is not None and stop.is_set():
            raise Interrupted("interrupted")
        _compare(table, part, found)
        if progress is not None:
            progress(
                Progress(phase="comparing", positions=found.entries, total=total, seconds=time.monotonic() - started)
            )
    found.seconds = time.monotonic() - started
    return found


def _compare(table: Table, part: Entries, found: Comparison) -> None:
    codes = table.probe_many(part["position"])
    known = codes != NO_POSITION_CODE
    unknown = part["position"][~known].tolist()
    found.entries += len(part)
    found.unknown += len(unknown)
    found.unknown_examples += unknown[: EXAMPLES - len(found.unknown_examples)]
    positions, outcomes = part["position"][known], part["outcome"][known]
    canonical = canonicalize_many(table.kernel, positions)
    found.not_canonical += int(np.count_nonzero(canonical != positions))
    ours = winners(table.game, positions, codes[known])
    different = np.flatnonzero(ours != outcomes)
    found.agree += len(positions) - len(different)
    found.differ += len(different)
    for place in different[: EXAMPLES - len(found.differences)]:
        found.differences.append(Difference(int(positions[place]), int(outcomes[place]), int(ours[place])))
