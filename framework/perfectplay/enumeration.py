"""Finds every position of a game that has no index of its own: breadth first from the start, tier by tier.

Tier numbers never fall along a move, so a tier is complete once all lower ones are. What arrives for a tier is kept
as sorted runs without duplicates. Runs live in memory while the budget lasts and in files beyond it; merging them
reads each once. No set of positions has to fit in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.tables.records import KeyRecord, blocks_of, checksum
from perfectplay.tables.store import Store
from perfectplay_native.engine import Positions, children_of_many, tiers_of_many
from perfectplay_native.kernel import Kernel
from perfectplay_native.python_kernel import PythonKernel

Array = npt.NDArray[Any]

CHUNK = 1 << 16
"""Positions expanded, or merged, at a time."""

PYTHON_CHUNK = 1 << 11
"""The same for a game in Python, so that a request to stop is heard within a second."""

MAX_RUNS = 16
"""More runs than this are merged into one."""

MAX_LEVELS = 1 << 14
"""Moves from the start beyond which nothing new may come; a table stores no remoteness above this either."""


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


def enumerate_positions(
    kernel: Kernel,
    store: Store,
    *,
    game: str,
    budget: int | None,
    directory: Path | None,
    found: Callable[[int, int], None],
    check: Callable[[], None],
) -> None:
    """Seal the sorted keys of every tier in `store`. `found(tier, positions)` is told of the progress.

    Beyond `budget` bytes, files in `directory` are used; without a directory, that is the end.
    """
    spill = Spill(budget, directory)
    start = kernel.canonicalize(kernel.start())
    incoming = {kernel.tier(start): Runs(spill)}
    incoming[kernel.tier(start)].add(np.array([start], dtype=np.uint64))
    total = 0
    while incoming:
        tier = min(incoming)
        known, children = Runs(spill), set()
        frontier = incoming.pop(tier).merged()
        levels = 0
        while len(frontier):
            if levels == MAX_LEVELS:
                raise _endless(game, int(frontier[0]))
            levels += 1
            known.add(frontier)
            inside = Runs(spill)
            for child_tier, positions in _children_by_tier(kernel, frontier, check):
                children.add(child_tier)
                if child_tier == tier:
                    inside.add(known.without_known(positions))
                elif child_tier > tier:
                    incoming.setdefault(child_tier, Runs(spill)).add(positions)
                else:
                    raise _tier_goes_back(game, kernel, frontier, tier, child_tier)
                if directory is None and budget is not None and spill.held > budget:
                    raise _no_room(game, total)
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
        portion = frontier[place : place + chunk]
        children, used = children_of_many(kernel, portion, room=min(16 * CHUNK, len(portion) * kernel.max_moves))
        check()
        place += used
        children = distinct(children)
        tiers = tiers_of_many(kernel, children)
        check()
        if len(tiers) and (tiers == tiers[0]).all():
            yield int(tiers[0]), children
            continue
        for tier in np.unique(tiers):
            yield int(tier), children[tiers == tier]


def _tier_goes_back(game: str, kernel: Kernel, frontier: Positions, tier: int, child_tier: int) -> PluginError:
    """Name the position from which the tier falls."""
    for position in map(int, frontier):
        for move in kernel.moves(position):
            child = kernel.apply(position, move)
            if kernel.tier(kernel.canonicalize(child)) < tier:
                return PluginError(
                    f"{game}: tiers must never go back: move {move} leads from position {position} in tier {tier} "
                    f"to position {child} in tier {kernel.tier(kernel.canonicalize(child))}"
                )
    return PluginError(f"{game}: tiers must never go back: a move leads from tier {tier} to tier {child_tier}")


def _endless(game: str, position: int) -> PluginError:
    return PluginError(
        f"{game}: {MAX_LEVELS:,} moves away there are still new positions (such as {position}), more than a table can "
        f"store: does something in a position only ever grow, like a count of moves? Leave out whatever the rest of "
        f"the game does not depend on"
    )


def _no_room(game: str, positions: int) -> PerfectPlayError:
    return PerfectPlayError(
        f"{game}: memory is full after {positions:,} positions, and there are more: if you expected fewer, "
        f"`solve check {game}` looks for an endless game; if not, use --backend lmdb, which goes on on disk"
    )
