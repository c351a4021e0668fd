"""Finished tiers go to the table in a thread of their own, while the workers solve the next ones."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TierRecord, checksum
from perfectplay_native.share import Array
from perfectplay_native.values import count_codes

WAITING_BYTES = 64 << 20
"""More than this waits to be written, and the solve waits too: until then it lies in the object store."""


class Writer:
    """Writes tiers in the order in which they come. What goes wrong is raised by the next call."""

    def __init__(self, store: LmdbStore) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._waiting: list[tuple[TierRecord, Sequence[Array]]] = []
        self._unwritten = 0  # bytes: of those that wait, and of those being written
        self._busy = self._closing = False
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def write(self, record: TierRecord, blocks: Sequence[Array]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._unwritten < WAITING_BYTES)
            self._raise()
            self._waiting.append((record, blocks))
            self._unwritten += _size(blocks)
            self._changed.notify_all()

    def drain(self) -> None:
        """Wait until everything is written: only then may another thread use the store."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._busy)
            self._raise()

    def close(self) -> None:
        """Write what is waiting, and end."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()

    def _raise(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        while tiers := self._take():
            try:
                if self._failure is None:  # a tier must not be there before those it leads to
                    self._store.write_tiers(tiers)
            except BaseException as error:  # raised again in the caller's thread
                self._failure = error
            with self._changed:
                self._busy = False
                self._unwritten -= sum(_size(blocks) for _, blocks in tiers)
                self._changed.notify_all()

    def _take(self) -> list[tuple[TierRecord, Sequence[Array]]]:
        """Everything that waits, at least one tier; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            tiers, self._waiting = self._waiting, []
            self._busy = True
            return tiers


def _size(blocks: Sequence[Array]) -> int:
    return sum(block.nbytes for block in blocks)


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
