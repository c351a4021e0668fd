"""Sets of positions larger than memory: sorted runs, in memory while a budget lasts and in files beyond it.

A set takes in new positions by joining runs of like size, so that it has few of them, each position having been copied
a few times only. What goes to a file is written there once, and read from front to back.
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
"""Rows merged at a time."""

MERGE_BYTES = 16 << 20
"""About so much is merged at a time, of all runs together; under a budget no more than a sixteenth of it."""

GIVE_BACK_BYTES = 4 << 20
"""Memory is given back in pieces of about this size, so that the pages of the rest stay large."""


class SortedRun:
    """A sorted array without repetitions."""

    def __init__(self, keys: Positions, memory: mmap.mmap | None = None) -> None:
        """With `memory`, where the keys lie if that can be given back piece by piece."""
        self.keys = keys
        self._memory = memory
        self._given_back = 0

    @classmethod
    def of(cls, parts: Iterable[Positions], length: int) -> SortedRun:
        """The parts, one after the other, in memory: at most `length` positions."""
        memory = _anonymous(8 * length) if 8 * length >= GIVE_BACK_BYTES else None
        keys = np.empty(length, np.uint64) if memory is None else np.frombuffer(memory, np.uint64, length)
        place = 0
        for part in parts:
            keys[place : place + len(part)] = part
            place += len(part)
        return cls(keys[:place], memory)

    @classmethod
    def in_file(cls, parts: Iterable[Positions], directory: Path) -> SortedRun:
        """The same in a file, which has no name."""
        length = 0
        try:
            with tempfile.TemporaryFile(dir=directory) as file:
                for part in parts:
                    file.write(part.data)  # numpy's `tofile` would not say what went wrong
                    length += len(part)
                file.flush()
                if not length:
                    return cls(np.empty(0, np.uint64))
                return cls(np.memmap(file, dtype=np.uint64, mode="r", shape=(length,)))
        except OSError as error:
            why = reason(error, directory)
            raise TableError(f"cannot write to {directory}: {why}; what is finished is kept") from None

    def __len__(self) -> int:
        return len(self.keys)

    def give_back(self, place: int) -> None:
        """What lies before `place` is not needed any more."""
        size = 8 * place - self._given_back
        if self._memory is not None and size >= GIVE_BACK_BYTES:
            size -= size % mmap.PAGESIZE
            self._memory.madvise(mmap.MADV_DONTNEED, self._given_back, size)
            self._given_back += size


def _anonymous(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):  # of Linux
        memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


class Runs:
    """A growing set of positions: sorted runs. Those in memory have no position in common."""

    def __init__(self, spill: Spill) -> None:
        self._spill = spill
        self._in_memory: list[SortedRun] = []  # each at least twice as long as the next
        self._in_files: list[SortedRun] = []
        self.held = 0
        """The bytes of memory that it takes."""
        self.stays = False
        """Whether somebody reads it, so that it cannot move to a file."""
        spill.sets[self] = None

    def _hold(self, runs: list[SortedRun]) -> list[SortedRun]:
        """From now on have these in memory; returns those it had before."""
        before, self._in_memory = self._in_memory, runs
        held = 8 * sum(map(len, runs))
        self._spill.held += held - self.held
        self.held = held
        return before

    def __bool__(self) -> bool:
        return bool(self._in_memory or self._in_files)

    @property
    def most(self) -> int:
        """So many positions at most; fewer where some are in several files."""
        return sum(map(len, self.runs))

    @property
    def runs(self) -> list[Positions]:
        return [run.keys for run in (*self._in_files, *self._in_memory)]

    @property
    def runs_in_memory(self) -> list[Positions]:
        return [run.keys for run in self._in_memory]

    def add(self, parts: Sequence[Positions]) -> None:
        """Add positions, none of them in memory yet: sorted, in parts each of which goes on where the last ended."""
        length = sum(map(len, parts))
        if length:
            self._keep(SortedRun.of(parts, length))
            self._spill.make_room()

    def take(self, other: Runs) -> None:
        """Add all of another set, none of which this one has in memory."""
        self._in_files += other._in_files
        other._in_files = []
        for run in other._hold([]):
            self._keep(run)
        self._spill.make_room()

    def _keep(self, run: SortedRun) -> None:
        runs = [*self._in_memory, run]
        while True:
            runs.sort(key=len, reverse=True)
            near = [i for i in range(1, len(runs)) if len(runs[i - 1]) < 2 * len(runs[i])]
            if not near:
                break
            pair = [runs.pop(near[-1]), runs.pop(near[-1] - 1)]
            length = sum(map(len, pair))
            if 8 * length < GIVE_BACK_BYTES:
                runs.append(SortedRun(union([run.keys for run in pair])))
            else:
                runs.append(SortedRun.of(_merged(pair, self._spill.merge_bytes, give_back=True), length))
        self._hold(runs)

    def move_to_file(self, directory: Path) -> None:
        """Write what is in memory to a file, but for what is in one already."""
        runs = self._hold([])
        files = [run.keys for run in self._in_files]
        self._in_files.append(
            SortedRun.in_file(
                (difference(part, files) for part in _merged(runs, self._spill.merge_bytes, give_back=True)), directory
            )
        )

    def portions(self) -> Iterator[Positions]:
        """All positions, sorted, each once, in arrays that stay as they are. Nothing may be added meanwhile."""
        self._spill.make_room_beside(self)
        self.stays = True
        try:
            yield from _merged([*self._in_files, *self._in_memory], self._spill.merge_bytes)
        finally:
            self.stays = False

    def taken(self) -> Iterator[Positions]:
        """The same, each array to be used before the next: memory is given back on the way, and the set is empty."""
        runs = [*self._in_files, *self._hold([])]
        self._in_files = []
        return _merged(runs, self._spill.merge_bytes, give_back=True)


class Spill:
    """Watches over what sets of positions hold, and moves them to files where that is too much."""

    def __init__(self, budget: int | None, directory: Path | None) -> None:
        self.budget = budget
        self.directory = directory
        self.merge_bytes = MERGE_BYTES if budget is None else min(MERGE_BYTES, budget // 16)
        self.sets: dict[Runs, None] = {}
        self.held = 0
        """The bytes of memory that all sets take."""

    @property
    def is_overfull(self) -> bool:
        """Whether more is held than the budget allows, there being no directory for it."""
        return self.directory is None and self.budget is not None and self.held > self.budget

    def make_room(self) -> None:
        """Keep within the budget: the largest sets go to files."""
        while self.directory is not None and self.budget is not None and self.held > self.budget:
            movable = [each for each in self.sets if each.held and not each.stays]
            if not movable:
                return
            max(movable, key=lambda each: each.held).move_to_file(self.directory)

    def make_room_beside(self, read: Runs) -> None:
        """Before a set is read, which takes a while: leave others at least half of the budget."""
        if self.directory is not None and self.budget is not None and read.held > self.budget // 2:
            read.move_to_file(self.directory)

    def forget(self, used_up: Runs) -> None:
        """A set is not needed any more."""
        used_up._hold([])
        del self.sets[used_up]


def _merged(runs: Sequence[SortedRun], size: int, *, give_back: bool = False) -> Iterator[Positions]:
    """The union of runs, as sorted parts of about `size` bytes; with `give_back`, memory is given back behind them."""
    chunk = max(1, size // 8 // max(1, len(runs)))
    heads = [_Head(run.keys, lambda rows: rows, chunk) for run in runs]
    for parts in _portions(heads):
        yield union(parts)
        if give_back:
            for run, head in zip(runs, heads, strict=True):
                run.give_back(head.taken)


class Run(Protocol):
    """An array, or what gives a slice of one."""

    def __getitem__(self, part: slice, /) -> Array: ...


def merge_portions(runs: Sequence[Run], key: Callable[[Array], Positions], chunk: int = CHUNK) -> Iterator[Array]:
    """What lies in arrays that are sorted by `key`, in portions: no key of a portion is above one of the next.

    Within a portion the runs' parts stand one after the other. No run may have a key twice; then equal keys of several
    runs are always in the same portion.
    """
    return (np.concatenate(parts) for parts in _portions([_Head(run, key, chunk) for run in runs]))


def _portions(heads: list[_Head]) -> Iterator[list[Array]]:
    while heads := [head for head in heads if head.fill()]:
        bound = min(head.keys[-1] for head in heads)  # everything up to here is in the heads
        yield [head.take(bound) for head in heads]


class _Head:
    """The part of a run that has been read and not yet taken."""

    def __init__(self, run: Run, key: Callable[[Array], Positions], chunk: int) -> None:
        self._run, self._key, self._chunk = run, key, chunk
        self._place = 0
        self._rows: Array = np.empty(0)
        self.keys: Positions = np.empty(0, dtype=np.uint64)

    @property
    def taken(self) -> int:
        """How many rows have been taken."""
        return self._place - len(self.keys)

    def fill(self) -> bool:
        """Read on if all has been taken; False at the end of the run."""
        if not len(self.keys):
            self._rows = self._run[self._place : self._place + self._chunk]
            self.keys = np.ascontiguousarray(self._key(self._rows))  # or each search would copy them
            self._place += len(self._rows)
        return len(self.keys) > 0

    def take(self, bound: int) -> Array:
        """The rows up to a key."""
        count = int(np.searchsorted(self.keys, bound, side="right"))
        taken = self._rows[:count]
        self._rows, self.keys = self._rows[count:], self.keys[count:]
        return taken
