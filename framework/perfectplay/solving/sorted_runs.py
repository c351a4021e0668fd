"""Sets of positions larger than memory: sorted arrays, in memory while a budget lasts and in files beyond it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perfectplay_native.engine import Positions

Array = npt.NDArray[Any]

CHUNK = 1 << 16
"""Positions merged at a time."""

MAX_RUNS = 16
"""More runs than this are merged into one."""


class Runs:
    """A growing set of positions: sorted arrays, in memory or in files."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._runs: list[Positions] = []

    def add(self, positions: Positions) -> None:
        """Add positions, sorted and each once; they may be in the set already."""
        if len(positions):
            self._runs.append(self._spill.keep([positions], len(positions)))
        if len(self._runs) > MAX_RUNS:
            self._runs = [self.merged()]

    def without_known(self, positions: Positions) -> Positions:
        """Those of the sorted positions that are not in the set."""
        for run in self._runs:
            place = np.searchsorted(run, positions)
            place[place == len(run)] = 0
            positions = positions[run[place] != positions]
        return positions

    def merged(self) -> Positions:
        """All positions, sorted, each once, as one array. The runs are given back."""
        runs, self._runs = self._runs, []
        if len(runs) == 1:
            return runs[0]
        result = self._spill.keep(merge_sorted(runs), sum(map(len, runs)))
        for run in runs:
            self._spill.give_back(run)
        return result


class Spill:
    """Decides whether an array stays in memory, and keeps it in a file where it does not."""

    def __init__(self, budget: int | None, directory: Path | None) -> None:
        self.budget = budget
        self.directory = directory
        self.held = 0

    @property
    def is_overfull(self) -> bool:
        """Whether more is held than the budget allows, there being no directory for it."""
        return self.directory is None and self.budget is not None and self.held > self.budget

    def keep(self, parts: Any, length_bound: int) -> Positions:
        """The parts, one after the other, as one array of at most `length_bound` positions."""
        size = 8 * length_bound
        if self.budget is None or self.directory is None or self.held + size <= self.budget:
            arrays = list(parts)
            whole: Positions = arrays[0] if len(arrays) == 1 else np.concatenate([np.empty(0, np.uint64), *arrays])
            self.held += whole.nbytes
            return whole
        with tempfile.TemporaryFile(dir=self.directory) as file:
            length = 0
            for part in parts:
                part.tofile(file)
                length += len(part)
            file.flush()
            if not length:
                return np.empty(0, dtype=np.uint64)
            return np.memmap(file, dtype=np.uint64, mode="r", shape=(length,))

    def give_back(self, array: Positions) -> None:
        if not isinstance(array, np.memmap):
            self.held -= array.nbytes


def merge_sorted(runs: list[Positions], chunk: int = CHUNK) -> Iterator[Positions]:
    """The union of sorted arrays, as sorted parts without duplicates, reading a chunk of each at a time.

    >>> [part.tolist() for part in merge_sorted([np.array([1, 4, 9], np.uint64), np.array([2, 4], np.uint64)], chunk=2)]
    [[1, 2, 4], [9]]
    """
    if 0 < sum(map(len, runs)) <= chunk:
        return iter([distinct(np.concatenate(runs))])
    return (distinct(portion) for portion in merge_portions(runs, lambda run: run, chunk))


class Run(Protocol):
    """An array, or what gives a slice of one."""

    def __getitem__(self, part: slice, /) -> Array: ...


def merge_portions(runs: Sequence[Run], key: Callable[[Array], Positions], chunk: int = CHUNK) -> Iterator[Array]:
    """What lies in arrays that are sorted by `key`, in portions: no key of a portion is above one of the next.

    Within a portion the runs' parts stand one after the other. No run may have a key twice; then equal keys of several
    runs are always in the same portion.
    """
    heads = [_Head(run, key, chunk) for run in runs]
    while heads := [head for head in heads if head.fill()]:
        bound = min(head.keys[-1] for head in heads)  # everything up to here is in the heads
        yield np.concatenate([head.take(bound) for head in heads])


class _Head:
    """The part of a run that has been read and not yet taken."""

    def __init__(self, run: Run, key: Callable[[Array], Positions], chunk: int) -> None:
        self._run, self._key, self._chunk = run, key, chunk
        self._place = 0
        self._rows: Array = np.empty(0)
        self.keys: Positions = np.empty(0, dtype=np.uint64)

    def fill(self) -> bool:
        """Read on if all has been taken; False at the end of the run."""
        if not len(self.keys):
            self._rows = self._run[self._place : self._place + self._chunk]
            self.keys = np.ascontiguousarray(self._key(self._rows))  # or each search would copy them
            self._place += len(self._rows)
        return len(self.keys) > 0

    def take(self, bound: np.uint64) -> Array:
        count = int(np.searchsorted(self.keys, bound, side="right"))
        taken, self._rows, self.keys = self._rows[:count], self._rows[count:], self.keys[count:]
        return taken


def distinct(positions: Positions) -> Positions:
    """The positions sorted, each once; sorts the given array itself.

    numpy's own `unique` hashes such arrays, which takes ten times as long as sorting them.

    >>> distinct(np.array([4, 2, 4], np.uint64)).tolist()
    [2, 4]
    """
    positions.sort()
    first_of_its_kind = np.ones(len(positions), dtype=np.bool_)
    np.not_equal(positions[1:], positions[:-1], out=first_of_its_kind[1:])
    return positions[first_of_its_kind]
