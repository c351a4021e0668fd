"""Rows in the order of their positions, however many: sorted runs in a file, merged as they are read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from perfectplay.queries.selection import ROW, Rows, rebatched
from perfectplay.solving.sorted_runs import Run, merge_portions
from perfectplay_native.engine import Positions

RUN_ROWS = 1 << 22
"""Rows sorted in memory at a time: some 100 MB with what sorting needs."""

SMALLEST_READ = 1 << 12
"""Rows read from a run at a time, however many runs there are."""


class FileRun:
    """Rows in a file without a name, read slice by slice: a memory map would look like memory in use."""

    def __init__(self, rows: Rows, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (it lives as long as the run)
        self._type = rows.dtype
        self._file.write(np.ascontiguousarray(rows).view(np.uint8).data)  # `tofile` would not say what went wrong
        self._file.flush()

    def __getitem__(self, part: slice) -> Rows:
        size = self._type.itemsize
        data = os.pread(self._file.fileno(), size * (part.stop - part.start), size * part.start)
        return np.frombuffer(data, dtype=self._type)

    def __enter__(self) -> FileRun:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def ordered(parts: Iterable[Rows], directory: Path, run_rows: int = RUN_ROWS) -> Iterator[Rows]:
    """The rows of all parts, ascending by position; what does not fit one run waits in files in `directory`."""
    with ExitStack() as files:
        runs: list[Run] = []
        newest: Rows = np.empty(0, dtype=ROW)  # stays in memory: a small export needs no file
        for part in rebatched(parts, run_rows):
            if len(newest):
                runs.append(files.enter_context(FileRun(newest, directory)))
            newest = _sorted(part)
        runs.append(newest)
        for portion in merge_portions(runs, _positions, chunk=max(SMALLEST_READ, run_rows // len(runs))):
            yield _sorted(portion)


def _positions(rows: Rows) -> Positions:
    return rows["position"]


def _sorted(rows: Rows) -> Rows:
    # A portion is made of sorted pieces, which a stable sort recognises.
    return rows[np.argsort(rows["position"], kind="stable")]
