"""Sets of positions that may exceed memory: sorted runs, in memory within a budget and in files beyond it.

    insert ──> new run ──merge runs of similar length──> runs in memory ──spill──> runs in files
                                                                │                        │
                                                                └──── iter_sorted ───────┘

Runs in memory are merged as in a log-structured merge tree: each is at least twice as long as the next, so a set has
few of them and a position is copied only a few times. They consist of segments, which a merge returns to a pool. A run
in a file is written once and read from front to back. Only `insert`, `merge` and `iter_sorted` may spill a set.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perfectplay.errors import TableError, reason
from perfectplay_native.positions import Positions, difference, union

Array = npt.NDArray[Any]

CHUNK = 1 << 16
"""Rows that `merge_portions` reads from a run at a time."""

MERGE_BYTES = 16 << 20
"""Bytes merged at a time, of all runs together; under a budget at most a sixteenth of it."""

SEGMENT = 1 << 19
"""Positions in a segment of a run in memory; under a budget they take at most a sixteenth of it."""

SMALLEST_SEGMENT = 1 << 9
"""The fewest positions in a segment: a page of memory."""


class SegmentPool:
    """Memory for runs. Segments are used again, because the system has to clear the pages of new ones."""

    def __init__(self, length: int) -> None:
        """`length` is the number of positions in a segment."""
        self.length = length
        self.free: list[Positions] = []

    def take(self) -> Positions:
        if self.free:
            return self.free.pop()
        memory = mmap.mmap(-1, 8 * self.length, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        if hasattr(mmap, "MADV_HUGEPAGE"):  # Linux only
            memory.madvise(mmap.MADV_HUGEPAGE)
        return np.frombuffer(memory, np.uint64)

    def shrink(self, count: int) -> None:
        """Return free segments to the system, except for at most `count`."""
        del self.free[count:]


class SortedRun:
    """A sorted sequence without duplicates. It consists of arrays of the same length; the last may be shorter."""

    def __init__(self, arrays: list[Positions], pool: SegmentPool | None = None) -> None:
        """All arrays except for the last are segments of `pool`. Without a pool there is at most one array."""
        self.arrays = arrays
        self._pool = pool
        self._length = sum(map(len, arrays))
        self._released = 0

    @classmethod
    def in_memory(cls, parts: Iterable[Positions], pool: SegmentPool) -> SortedRun:
        """Concatenate sorted parts."""
        arrays: list[Positions] = []
        segment, filled = pool.take(), 0
        for part in parts:
            place = 0
            while place < len(part):
                piece = part[place : place + len(segment) - filled]
                segment[filled : filled + len(piece)] = piece
                filled += len(piece)
                place += len(piece)
                if filled == len(segment):
                    arrays.append(segment)
                    segment, filled = pool.take(), 0
        arrays.append(segment[:filled].copy())
        pool.free.append(segment)
        return cls(arrays, pool)

    @classmethod
    def in_file(cls, parts: Iterable[Positions], directory: Path) -> SortedRun:
        """Write sorted parts to an unnamed file in `directory` and map it."""
        length = 0
        try:
            with tempfile.TemporaryFile(dir=directory) as file:
                for part in parts:
                    file.write(part.data)  # not numpy's `tofile`, which hides the cause of an error
                    length += len(part)
                file.flush()
                if not length:
                    return cls([])
                return cls([np.memmap(file, dtype=np.uint64, mode="r", shape=(length,))])
        except OSError as error:
            raise TableError(
                f"cannot write to {directory}: {reason(error, directory)}; finished tiers are kept"
            ) from None

    def __len__(self) -> int:
        return self._length

    @property
    def size_in_memory(self) -> int:
        """Bytes that are not released yet."""
        return sum(array.nbytes for array in self.arrays)

    def __getitem__(self, part: slice) -> Positions:
        """Return positions from `part.start` to `part.stop`, or to the end of an array before that."""
        if part.start >= self._length:
            return np.empty(0, np.uint64)
        number, first = (0, part.start) if self._pool is None else divmod(part.start, self._pool.length)
        return self.arrays[number][first : first + part.stop - part.start]

    def release_before(self, place: int) -> None:
        """Return the segments before index `place`, which are no longer needed, to the pool."""
        if self._pool is not None:
            end = min(place // self._pool.length, len(self.arrays) - 1)
            self._pool.free += self.arrays[self._released : end]
            self.arrays[self._released : end] = [np.empty(0, np.uint64)] * (end - self._released)
            self._released = end


class ExternalSet:
    """A growing set of positions. Its runs in memory are disjoint; runs in files may overlap with them."""

    def __init__(self, budget: SpillBudget) -> None:
        self._budget = budget
        self._in_memory: list[SortedRun] = []  # longest first; each at least twice as long as the next
        self._in_files: list[SortedRun] = []
        self.memory_bytes = 0
        self.pinned = False
        """Whether the set is being iterated, so that it must not be spilled."""
        budget.sets[self] = None

    def _replace_runs(self, runs: list[SortedRun]) -> list[SortedRun]:
        """Replace the runs in memory, update the accounts, and return the previous runs."""
        previous, self._in_memory = self._in_memory, runs
        self._update_accounts()
        return previous

    def _update_accounts(self) -> None:
        size = sum(run.size_in_memory for run in self._in_memory)
        self._budget.memory_bytes += size - self.memory_bytes
        self.memory_bytes = size
        self._budget.trim_pool()

    def __bool__(self) -> bool:
        return bool(self._in_memory or self._in_files)

    @property
    def max_length(self) -> int:
        """An upper bound of the number of positions; exact unless a position is in several runs."""
        return sum(map(len, self.arrays))

    @property
    def arrays(self) -> list[Positions]:
        """The arrays of all runs."""
        return [array for run in (*self._in_files, *self._in_memory) for array in run.arrays]

    def sample(self, count: int) -> Positions:
        """Return about `count` positions from all parts of the set, sorted."""
        step = max(1, self.max_length // count)
        return union([array[step // 2 :: step].copy() for array in self.arrays])

    @property
    def arrays_in_memory(self) -> list[Positions]:
        return [array for run in self._in_memory for array in run.arrays]

    def insert(self, parts: Sequence[Positions]) -> None:
        """Add positions that are not in memory yet, as parts of one sorted sequence. May spill this or another set."""
        if any(map(len, parts)):
            self._insert_run(SortedRun.in_memory(parts, self._budget.pool))
            self._budget.enforce()

    def merge(self, other: ExternalSet) -> None:
        """Move all positions of `other`, which must be disjoint from this set's runs in memory. May spill."""
        self._in_files += other._in_files
        other._in_files = []
        for run in other._replace_runs([]):
            self._insert_run(run)
        self._budget.enforce()

    def _insert_run(self, run: SortedRun) -> None:
        runs = [*self._in_memory, run]
        while True:
            runs.sort(key=len, reverse=True)
            similar = [i for i in range(1, len(runs)) if len(runs[i - 1]) < 2 * len(runs[i])]
            if not similar:
                break
            pair = [runs.pop(similar[-1]), runs.pop(similar[-1] - 1)]
            merged = _merge_runs(pair, self._budget.merge_bytes, release=True)
            runs.append(SortedRun.in_memory(merged, self._budget.pool))
        self._replace_runs(runs)

    def spill(self, directory: Path) -> None:
        """Write the longest run in memory to a file, except for positions that are in a file already."""
        runs = self._in_memory[:1]
        self._replace_runs(self._in_memory[1:])
        files = [array for run in self._in_files for array in run.arrays]
        parts = (difference(part, files) for part in _merge_runs(runs, self._budget.merge_bytes, release=True))
        self._in_files.append(SortedRun.in_file(parts, directory))

    def iter_sorted(self) -> Iterator[Positions]:
        """Yield all positions in order, each once, in arrays that stay valid. Do not insert during the iteration."""
        self._budget.prepare_iteration(self)
        self.pinned = True
        try:
            yield from _merge_runs([*self._in_files, *self._in_memory], self._budget.merge_bytes)
        finally:
            self.pinned = False

    def drain_sorted(self) -> Iterator[Positions]:
        """Empty the set and yield its positions as `iter_sorted` does; each array is valid until the next one.

        The set's memory is freed behind the reader, so that other sets can use it. This set is not spilled meanwhile.
        """
        self.pinned = True
        for part in _merge_runs([*self._in_files, *self._in_memory], self._budget.merge_bytes, release=True):
            yield part
            self._update_accounts()
        self._in_files = []
        self._replace_runs([])
        self.pinned = False


class SpillBudget:
    """The memory budget of several sets; spills the largest ones when it is exceeded."""

    def __init__(self, limit: int | None, directory: Path | None) -> None:
        """`limit` is in bytes, None for no limit; sets can be spilled only if there is a `directory`."""
        self.limit = limit
        self.directory = directory
        self.merge_bytes = MERGE_BYTES if limit is None else min(MERGE_BYTES, limit // 16)
        self.sets: dict[ExternalSet, None] = {}
        self.memory_bytes = 0
        self.pool = SegmentPool(SEGMENT if limit is None else min(SEGMENT, max(SMALLEST_SEGMENT, limit // 128)))

    def trim_pool(self) -> None:
        """Return free segments to the system as far as they would exceed the limit, together with the sets."""
        if self.limit is not None:
            self.pool.shrink(max(0, self.limit - self.memory_bytes) // (8 * self.pool.length))

    @property
    def is_exceeded(self) -> bool:
        """Whether the sets exceed the limit and there is no directory to spill to."""
        return self.directory is None and self.limit is not None and self.memory_bytes > self.limit

    def enforce(self) -> None:
        """Spill runs of the largest sets until the limit is kept or nothing more can be spilled."""
        while self.directory is not None and self.limit is not None and self.memory_bytes > self.limit:
            candidates = [each for each in self.sets if each.memory_bytes and not each.pinned]
            if not candidates:
                return
            max(candidates, key=lambda each: each.memory_bytes).spill(self.directory)

    def prepare_iteration(self, subject: ExternalSet) -> None:
        """Spill runs of a set about to be pinned while it would leave the others less than half of the budget."""
        while self.directory is not None and self.limit is not None and subject.memory_bytes > self.limit // 2:
            subject.spill(self.directory)

    def discard(self, subject: ExternalSet) -> None:
        """Free a set that is no longer needed."""
        subject._replace_runs([])
        del self.sets[subject]


def _merge_runs(runs: Sequence[SortedRun], size: int, *, release: bool = False) -> Iterator[Positions]:
    """Yield the union of runs in sorted parts of about `size` bytes; `release` frees memory behind the reader."""
    chunk = max(1, size // 8 // max(1, len(runs)))
    readers = [_RunReader(run, lambda rows: rows, chunk) for run in runs]
    for parts in _iter_portions(readers):
        yield union(parts)
        if release:
            for run, reader in zip(runs, readers, strict=True):
                run.release_before(reader.rows_taken)


class Run(Protocol):
    """An array, or an object that returns slices of one. These may be too short, but are empty only at the end."""

    def __getitem__(self, part: slice, /) -> Array: ...


def merge_portions(runs: Sequence[Run], key: Callable[[Array], Positions], chunk: int = CHUNK) -> Iterator[Array]:
    """Merge arrays sorted by `key` into portions, where no key of a portion is above a key of the next one.

    Within a portion the rows of each run are consecutive. No run may contain a key twice; equal keys of several runs
    are then always in the same portion.
    """
    return (np.concatenate(parts) for parts in _iter_portions([_RunReader(run, key, chunk) for run in runs]))


def _iter_portions(readers: list[_RunReader]) -> Iterator[list[Array]]:
    while readers := [reader for reader in readers if reader.fill()]:
        bound = min(reader.keys[-1] for reader in readers)  # every row up to this key has been read
        yield [reader.take(bound) for reader in readers]


class _RunReader:
    """Reads a run in chunks; `keys` are the keys of the rows that were read but not taken yet."""

    def __init__(self, run: Run, key: Callable[[Array], Positions], chunk: int) -> None:
        self._run, self._key, self._chunk = run, key, chunk
        self._place = 0
        self._rows: Array = np.empty(0)
        self.keys: Positions = np.empty(0, dtype=np.uint64)

    @property
    def rows_taken(self) -> int:
        return self._place - len(self.keys)

    def fill(self) -> bool:
        """Read the next chunk if all rows have been taken; return False at the end of the run."""
        if not len(self.keys):
            self._rows = self._run[self._place : self._place + self._chunk]
            self.keys = np.ascontiguousarray(self._key(self._rows))  # otherwise every search would copy them
            self._place += len(self._rows)
        return len(self.keys) > 0

    def take(self, bound: int) -> Array:
        """Take the rows with keys up to `bound`."""
        count = int(np.searchsorted(self.keys, bound, side="right"))
        rows = self._rows[:count]
        self._rows, self.keys = self._rows[count:], self.keys[count:]
        return rows
