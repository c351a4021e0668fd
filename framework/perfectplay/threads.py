"""Threads for work whose heavy steps are in C: while one computes, the others do too."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self, TypeVar

import numpy as np

from perfectplay_native.positions import Positions

Task = TypeVar("Task")
Result = TypeVar("Result")

SMALLEST_RANGE = 1 << 16
"""Of fewer positions than this, a thread of its own is not worth the while."""


class Workers:
    """Some threads. With one, everything is done by the caller itself."""

    def __init__(self, threads: int | None) -> None:
        """So many, None for one a processor."""
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
        """Each task with its result, in order; no more tasks are taken on than keep the threads busy."""
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
        known: Sequence[Positions],
    ) -> list[Positions]:
        """What `work` makes of sorted sets and of others: range of positions by range of positions, in order."""
        wanted = min(self.count, sum(map(len, sets)) // SMALLEST_RANGE)
        if wanted < 2:
            return [work(list(sets), list(known))]
        longest = max(sets, key=len)
        bounds = longest[np.arange(1, wanted) * len(longest) // wanted]
        ranges = zip(_cut(sets, bounds), _cut(known, bounds), strict=True)
        return [result for _, result in self.map(lambda both: work(*both), ranges)]


def _cut(arrays: Sequence[Positions], bounds: Positions) -> list[list[Positions]]:
    """The parts of all arrays below the first bound, those from there to the second, and so on."""
    parts = [np.split(array, np.searchsorted(array, bounds)) for array in arrays]
    return [[each[number] for each in parts] for number in range(len(bounds) + 1)]
