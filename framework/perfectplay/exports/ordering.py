"""Rows in the order of their positions, however many: sorted runs in a file, merged as they are read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from perfectplay.enumeration import Run, merge_portions
from perfectplay.selection import ROW, Rows
from perfectplay_native.engine import Positions

RUN_ROWS = 1 << 22
"""Rows sorted in memory at a time: some 100 MB with what sorting needs."""


class FileRun:
    """Rows in a file without a name, read slice by slice: a memory map would look like memory in use."""

    def __init__(self, rows: Rows, directory: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=directory)  # noqa: SIM115 (it lives as long as the run)
        rows.tofile(self._file)
        self._file.flush()

    def __getitem__(self, part: slice) -> Rows:
        size = ROW.itemsize
        data = os.pread(self._file.fileno(), size * (part.stop - part.start), size * part.start)
        return np.frombuffer(data, dtype=ROW)

    def close(self) -> None:
        self._file.close()


def ordered(parts: Iterable[Rows], directory: Path, run_rows: int = RUN_ROWS) -> Iterator[Rows]:
    """The rows of all parts, ascending by position; what does not fit one run waits in files in `directory`."""
    runs: list[Run] = []
    held: list[Rows] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= run_rows:
            runs.append(FileRun(_sorted(np.concatenate(held)), directory))
            held.clear()
    if held:
        runs.append(_sorted(np.concatenate(held)))
    try:
        for portion in merge_portions(runs, _positions):
            yield _sorted(portion)
    finally:
        for run in runs:
            if isinstance(run, FileRun):
                run.close()


def _positions(rows: Rows) -> Positions:
    return rows["position"]


def _sorted(rows: Rows) -> Rows:
    # A portion is made of sorted pieces, which a stable sort recognises.
    return rows[np.argsort(rows["position"], kind="stable")]
