"""Long operations: a thread pool for steps that run in C without the interpreter lock, and progress reports."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from perfectplay.errors import Interrupted
from perfectplay_native.positions import Positions

Task = TypeVar("Task")
Result = TypeVar("Result")

MAX_THREADS = 4096
"""More threads than this are refused, because they would only take memory."""

SMALLEST_RANGE, LARGEST_RANGE = 1 << 16, 1 << 19
"""Fewer positions are not worth a separate thread. With more, temporary arrays would be too large to be reused."""

SAMPLES_PER_RANGE = 64
"""Positions of all arrays that are compared to find the bounds. A single array may cover a small range only."""


class ThreadPool:
    """A pool of threads, by default one per processor. With one thread the caller does all the work."""

    def __init__(self, threads: int | None) -> None:
        self.count = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self.count) if self.count > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Iterator[tuple[Task, Result]]:
        """Yield each task with its result, in order. Takes only as many tasks in advance as keep the threads busy."""
        if self._pool is None:
            yield from ((task, work(task)) for task in tasks)
            return
        running: deque[tuple[Task, Future[Result]]] = deque()
        for task in tasks:
            running.append((task, self._pool.submit(work, task)))
            if len(running) > 2 * self.count:
                first, future = running.popleft()
                yield first, future.result()
        while running:
            first, future = running.popleft()
            yield first, future.result()

    def by_ranges(
        self,
        work: Callable[[list[Positions], list[Positions]], Positions],
        sets: Sequence[Positions],
        others: Sequence[Positions],
    ) -> list[Positions]:
        """Split sorted arrays into ranges of positions, and return the results of `work` for the ranges, in order."""
        positions = sum(map(len, sets))
        parts = min(max(self.count, positions // LARGEST_RANGE), positions // SMALLEST_RANGE)
        if parts < 2:
            return [work(list(sets), list(others))]
        step = max(1, positions // (SAMPLES_PER_RANGE * parts))
        sample = np.sort(np.concatenate([array[step // 2 :: step] for array in sets]))
        bounds = sample[np.arange(1, parts) * len(sample) // parts]
        ranges = zip(_cut(sets, bounds), _cut(others, bounds), strict=True)
        return [result for _, result in self.map(lambda both: work(*both), ranges)]


def _cut(arrays: Sequence[Positions], bounds: Positions) -> list[list[Positions]]:
    """Split each array at the bounds; return the first parts of all arrays, then the second ones, and so on."""
    parts = [np.split(array, np.searchsorted(array, bounds)) for array in arrays]
    return [[each[number] for each in parts] for number in range(len(bounds) + 1)]


def check_stop(stop: threading.Event | None) -> None:
    """Raise Interrupted if the caller has requested a stop."""
    if stop is not None and stop.is_set():
        raise Interrupted("interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A snapshot of running work."""

    phase: str
    positions: int
    """How many are done, in `unit`s."""
    total: int | None = None
    done_before: int = 0
    """How many of those an earlier run had done; they do not count for the speed."""
    unit: str = "positions"
    """What is counted: positions, or slots of an index that may contain no position."""
    tiers_done: int = 0
    tiers: int = 0
    level: int = 0
    seconds: float = 0.0
