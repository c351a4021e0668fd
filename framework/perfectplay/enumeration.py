"""Finds every position of a game that has no index of its own: breadth first from the start, tier by tier.

Tier numbers never fall along a move, so a tier is complete once all lower ones are. What arrives for a tier is kept
as sorted runs without duplicates. Runs live in memory while the budget lasts and in files beyond it; merging them
reads each once. No set of positions has to fit in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.errors import PluginError
from perfectplay.tables.records import KeyRecord, blocks_of, checksum
from perfectplay.tables.store import Store
from perfectplay_native.engine import Positions, children_of_many, tiers_of_many
from perfectplay_native.kernel import Kernel
from perfectplay_native.python_kernel import PythonKernel

CHUNK = 1 << 16
"""Positions expanded, or merged, at a time."""

PYTHON_CHUNK = 1 << 11
"""The same for a game in Python, so that a request to stop is heard within a second."""

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
    places = [0] * len(runs)
    while True:
        heads = [(i, run[place : place + chunk]) for i, (run, place) in enumerate(zip(runs, places, strict=True))]
        heads = [(i, head) for i, head in heads if len(head)]
        if not heads:
            return
        bound = min(head[-1] for _, head in heads)  # everything up to here is in the heads
        parts = []
        for i, head in heads:
            count = int(np.searchsorted(head, bound, side="right"))
            places[i] += count
            parts.append(head[:count])
        yield distinct(np.concatenate(parts))


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


def enumerate_positions(
    kernel: Kernel,
    store: Store,
    *,
    budget: int | None,
    directory: Path | None,
    found: Callable[[int, int], None],
    check: Callable[[], None],
) -> None:
    """Seal the sorted keys of every tier in `store`. `found(tier, positions)` is told of the progress."""
    spill = Spill(budget, directory)
    start = kernel.canonicalize(kernel.start())
    incoming = {kernel.tier(start): Runs(spill)}
    incoming[kernel.tier(start)].add(np.array([start], dtype=np.uint64))
    total = 0
    while incoming:
        tier = min(incoming)
        known, children = Runs(spill), set()
        frontier = incoming.pop(tier).merged()
        while len(frontier):
            known.add(frontier)
            inside = Runs(spill)
            for child_tier, positions in _children_by_tier(kernel, frontier, check):
                children.add(child_tier)
                if child_tier == tier:
                    inside.add(known.without_known(positions))
                elif child_tier > tier:
                    incoming.setdefault(child_tier, Runs(spill)).add(positions)
                else:
                    _complain(kernel, frontier, tier, child_tier)
            total += len(frontier)
            found(tier, total)
            frontier = inside.merged()
        keys = known.merged()
        check()
        record = KeyRecord(
            tier=tier,
            size=len(keys),
            cyclic=tier in children,
            children=sorted(children - {tier}),
            checksums=[checksum(block) for block in blocks_of(keys)],
        )
        store.seal_keys(record, keys)
        if store.copies:
            spill.give_back(keys)


def _children_by_tier(
    kernel: Kernel, frontier: Positions, check: Callable[[], None]
) -> Iterator[tuple[int, Positions]]:
    """The children of the frontier in portions: a tier, and sorted distinct positions of it."""
    place = 0
    chunk = PYTHON_CHUNK if isinstance(kernel, PythonKernel) else CHUNK
    while place < len(frontier):
        children, used = children_of_many(kernel, frontier[place : place + chunk], room=16 * CHUNK)
        check()
        place += used
        children = distinct(children)
        tiers = tiers_of_many(kernel, children)
        check()
        for tier in np.unique(tiers):
            yield int(tier), children[tiers == tier]


def _complain(kernel: Kernel, frontier: Positions, tier: int, child_tier: int) -> None:
    """Name the position from which the tier falls."""
    for position in map(int, frontier):
        for move in kernel.moves(position):
            child = kernel.apply(position, move)
            if kernel.tier(kernel.canonicalize(child)) < tier:
                raise PluginError(
                    f"tiers must never go back: move {move} leads from position {position} in tier {tier} "
                    f"to position {child} in tier {kernel.tier(kernel.canonicalize(child))}"
                )
    raise PluginError(f"tiers must never go back: a move leads from tier {tier} to tier {child_tier}")
