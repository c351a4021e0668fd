"""Finished tiers go to the table in a thread of their own, while the workers solve the next ones."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from queue import Queue

from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.records import TierRecord, checksum
from perfectplay_native.engine import count_codes
from perfectplay_native.shares import Array

WAITING_TIERS = 4
"""More than this wait to be written, and the solve waits too."""


class Writer:
    """Writes one tier after the other. What goes wrong is raised by the next call."""

    def __init__(self, store: LmdbStore) -> None:
        self._store = store
        self._queue: Queue[tuple[TierRecord, Sequence[Array]] | None] = Queue(WAITING_TIERS)
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, record: TierRecord, blocks: Sequence[Array]) -> None:
        self._queue.put((record, blocks))
        self._raise()

    def drain(self) -> None:
        """Wait until everything is written: only then may another thread use the store."""
        self._queue.join()
        self._raise()

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._queue.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                if self._failure is None:  # a tier must not be there before those it leads to
                    self._store.write_blocks(item[0], [block.data for block in item[1]])
            except BaseException as error:  # raised again in the caller's thread
                self._failure = error
            del item
            self._queue.task_done()
        self._queue.task_done()


def record_of(tier: int, size: int, blocks: Sequence[Array]) -> TierRecord:
    """The record of a tier in blocks."""
    counts: dict[int, int] = {}
    checksums: list[int] = []
    width = blocks[0].dtype.itemsize if blocks else 1
    for block in blocks:
        for code, count in count_codes(block).items():
            counts[code] = counts.get(code, 0) + count
        checksums.append(checksum(block))
    return TierRecord(tier, size, width, dict(sorted(counts.items())), checksums)
