"""Rows in the order of their positions, however many: sorted runs in a file, merged as they are read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from perfectplay.enumeration import merge_portions
from perfectplay.selection import ROW, Rows
from perfectplay_native.engine import Positions

RUN_ROWS = 1 << 22
"""Rows sorted in memory at a time: some 100 MB with what sorting needs."""


def ordered(parts: Iterable[Rows], directory: Path, run_rows: int = RUN_ROWS) -> Iterator[Rows]:
    """The rows of all parts, ascending by position; what does not fit one run waits in files in `directory`."""
    runs: list[Rows] = []
    held: list[Rows] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= run_rows:
            runs.append(_in_file(_sorted(np.concatenate(held)), directory))
            held.clear()
    if held:
        runs.append(_sorted(np.concatenate(held)))
    for portion in merge_portions(runs, _positions):
        yield _sorted(portion)


def _positions(rows: Rows) -> Positions:
    return rows["position"]


def _sorted(rows: Rows) -> Rows:
    # A portion is made of sorted pieces, which a stable sort recognises.
    return rows[np.argsort(rows["position"], kind="stable")]


def _in_file(rows: Rows, directory: Path) -> Rows:
    with tempfile.TemporaryFile(dir=directory) as file:
        rows.tofile(file)
        file.flush()
        return np.memmap(file, dtype=ROW, mode="r", shape=rows.shape)
