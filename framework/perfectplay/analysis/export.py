"""Exports a table to a file in one of several formats.

A format is a function `write(path, source)`, which a plugin registers by name through `register_exporters`. It writes
the rows of `source` to `path`, part by part. The path is temporary. The host renames the file when the function
returns, so a file with the final name is always complete.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from perfectplay.analysis.selection import (
    ROW,
    Codes,
    Rows,
    Selection,
    count_selected,
    merge_small_parts,
    select,
    value_columns,
)
from perfectplay.errors import PerfectPlayError, PluginError, UsageError, did_you_mean
from perfectplay.files import atomic_write, scratch_directory
from perfectplay.game import plugins
from perfectplay.threads import Progress, check_stop
from perfectplay.tiers.external_set import Run, merge_portions
from perfectplay_native.positions import Positions

if TYPE_CHECKING:
    from perfectplay.table.table import Table

Exporter = Callable[[Path, "Source"], None]


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The result of an export."""

    path: Path
    positions: int
    bytes: int
    seconds: float


class Source:
    """The selected rows of a table, in the table's order or sorted by position."""

    def __init__(
        self,
        table: Table,
        selection: Selection,
        directory: Path,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.table = table
        self.game = table.game
        self.selection = selection
        self.count = count_selected(table, selection)
        """The number of rows."""
        self._directory, self._progress, self._stop = directory, progress, stop

    def rows(self) -> Iterator[Rows]:
        """Yield the rows in the order of the table."""
        return self._report("writing", select(self.table, self.selection))

    def ordered_rows(self) -> Iterator[Rows]:
        """Yield the rows sorted by position. Sorting many uses files beside the export, 10 or 12 bytes per row."""
        unsorted = self._report("sorting", select(self.table, self.selection))
        return self._report("writing", sort_rows(unsorted, self._directory))

    def outcomes(self, rows: Rows) -> npt.NDArray[np.int8]:
        """Return the winner of each row: 1 the first player, -1 the second player, 0 for a draw."""
        return winners(self.table, rows["position"], rows["code"])

    def _report(self, phase: str, parts: Iterator[Rows]) -> Iterator[Rows]:
        """Pass the parts on, and report progress."""
        done, started = 0, None
        for part in parts:
            started = started or time.monotonic()  # sorted rows arrive only after all sorting is done
            check_stop(self._stop)
            yield part
            done += len(part)
            if self._progress is not None:
                seconds = time.monotonic() - started
                self._progress(Progress(phase=phase, positions=done, total=self.count, seconds=seconds))


def winners(table: Table, positions: Positions, codes: Codes) -> npt.NDArray[np.int8]:
    """Return the winner of each position: 1 the first player, -1 the second player, 0 for a draw.

    Raises PerfectPlayError if the game does not define which player is to move.
    """
    game = table.game
    movers = game.movers(positions, table.kernel)
    if movers is None:
        raise PerfectPlayError(
            f"{game.name} does not define which player is to move (it has neither the hook 'mover' nor 'board'), and "
            "this format stores which player wins; use csv or parquet, which store outcomes for the side to move"
        )
    return np.asarray((1 - 2 * movers) * value_columns(codes)["outcome"].data, dtype=np.int8)


def check_exporter(name: str, exporter: object) -> None:
    """Raise PluginError if an exporter cannot be called as `exporter(path, source)`."""
    try:
        inspect.signature(exporter).bind(Path(), None)  # type: ignore[arg-type]  # TypeError if not callable
    except (TypeError, ValueError):
        raise PluginError(f"exporter '{name}' must be a function write(path, source), not {exporter!r}") from None


def exporters() -> dict[str, Exporter]:
    """Return all installed formats by name."""
    return plugins.call_host_plugins("register_exporters", check_exporter).entries


def export_table(
    table: Table,
    format: str,
    path: Path | str,
    selection: Selection | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> ExportReport:
    """Write the selected positions of a finished table (by default all) to a file in one of the `exporters()` formats.

    The file appears with its final name only when it is complete. `-` is standard output.

    Raises UsageError for an unknown format or tier, TableError for an unfinished table, Interrupted when `stop` is set.
    """
    formats, path = exporters(), Path(path)
    if format not in formats:
        available = ", ".join(sorted(formats))
        raise UsageError(f"unknown format '{format}'{did_you_mean(format, formats)} (available: {available})")
    table.require_complete()
    started = time.monotonic()
    source = Source(table, selection or Selection(), scratch_directory(path), progress, stop)
    with atomic_write(path) as part:
        formats[format](part, source)
        size = part.stat().st_size
    return ExportReport(path, source.count, size, time.monotonic() - started)


# ---- sorting rows by position: sorted runs in temporary files, merged while they are read ----

RUN_ROWS = 1 << 22
"""Rows sorted in memory at a time. Sorting them needs some 100 MB."""

MIN_READ_ROWS = 1 << 12
"""Minimum number of rows read from a run at a time, independently of the number of runs."""


class FileRun:
    """A sorted run in an unnamed file, read by `pread` because mapped pages would count as memory in use."""

    def __init__(self, rows: Rows, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (open as long as the run)
        self._type = rows.dtype
        self._file.write(np.ascontiguousarray(rows).view(np.uint8).data)  # `tofile` hides the cause of an error
        self._file.flush()

    def __getitem__(self, part: slice) -> Rows:
        size = self._type.itemsize
        data = os.pread(self._file.fileno(), size * (part.stop - part.start), size * part.start)
        return np.frombuffer(data, dtype=self._type)

    def __enter__(self) -> FileRun:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def sort_rows(parts: Iterable[Rows], directory: Path, run_rows: int = RUN_ROWS) -> Iterator[Rows]:
    """Yield the rows of all parts sorted by position. All runs but the last are stored in files in `directory`."""
    with ExitStack() as files:
        runs: list[Run] = []
        last: Rows = np.empty(0, dtype=ROW)  # stays in memory, so that a small export needs no file
        for part in merge_small_parts(parts, run_rows):
            if len(last):
                runs.append(files.enter_context(FileRun(last, directory)))
            last = _sorted(part)
        runs.append(last)
        for portion in merge_portions(runs, _positions, chunk=max(MIN_READ_ROWS, run_rows // len(runs))):
            yield _sorted(portion)


def _positions(rows: Rows) -> Positions:
    return rows["position"]


def _sorted(rows: Rows) -> Rows:
    # A stable sort is fast here because a portion consists of sorted pieces.
    return rows[np.argsort(rows["position"], kind="stable")]
