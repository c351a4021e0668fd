"""Compares a GBL2 file from any source with a table."""

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
"""Number of differing entries that are listed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An entry that contradicts the table. Winners: 1 the first player, -1 the second player, 0 for a draw."""

    position: int
    file: int
    table: int


@dataclass(slots=True)
class Comparison:
    """The result of a comparison."""

    entries: int = 0
    agree: int = 0
    differ: int = 0
    not_canonical: int = 0
    """Positions that are not in canonical form. They are compared nevertheless."""
    unknown: int = 0
    """Numbers that are not positions of the table."""
    differences: list[Difference] = field(default_factory=list)
    unknown_examples: list[int] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def same(self) -> bool:
        """Whether the whole file agrees with the table."""
        return self.agree == self.entries and not self.not_canonical


def compare_gbl2(
    table: Table,
    path: Path | str,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Comparison:
    """Check the length, order and checksum of a GBL2 file, and compare every entry with a finished table.

    Raises PerfectPlayError if the file is damaged, or if the game does not define which player is to move.
    """
    table.require_complete()
    path, started, result = Path(path), time.monotonic(), Comparison()
    total = read_header(path).count
    for part in read_gbl2(path):
        if stop is not None and stop.is_set():
            raise Interrupted("interrupted")
        _compare(table, part, result)
        if progress is not None:
            progress(
                Progress(phase="comparing", positions=result.entries, total=total, seconds=time.monotonic() - started)
            )
    result.seconds = time.monotonic() - started
    return result


def _compare(table: Table, part: Entries, result: Comparison) -> None:
    """Compare some entries, and add the counts to the result."""
    codes = table.probe_many(part["position"])
    in_table = codes != NO_POSITION_CODE
    unknown = part["position"][~in_table].tolist()
    result.entries += len(part)
    result.unknown += len(unknown)
    result.unknown_examples += unknown[: EXAMPLES - len(result.unknown_examples)]
    positions, outcomes = part["position"][in_table], part["outcome"][in_table]
    canonical = canonicalize_many(table.kernel, positions)
    result.not_canonical += int(np.count_nonzero(canonical != positions))
    expected = winners(table.game, positions, codes[in_table])
    different = np.flatnonzero(expected != outcomes)
    result.agree += len(positions) - len(different)
    result.differ += len(different)
    for index in different[: EXAMPLES - len(result.differences)]:
        result.differences.append(Difference(int(positions[index]), int(outcomes[index]), int(expected[index])))
