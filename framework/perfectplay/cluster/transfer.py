"""Moves tiers between the table, Ray's object store and the workers.

`TierTransfer` puts finished tiers into the object store, where the workers of a machine share them, and records which
tiers each worker has. `TableWriter` writes solved tiers to the table while the workers solve the next ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perfectplay.cluster.messages import AttachTiers, Ref, TierData
from perfectplay.cluster.pool import Pool
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import KeyRecord, TierRecord, checksum
from perfectplay.table.store import Store
from perfectplay_native.share import Array
from perfectplay_native.values import count_codes

PIECE_BLOCKS = 64
"""Blocks that are put into the object store as one object."""

MAX_UNWRITTEN_BYTES = 64 << 20
"""The size of waiting tiers above which the solve waits for the table writer. They stay in the object store."""


@dataclass(frozen=True, slots=True)
class PublishedTier:
    """A tier in the object store; the references are the pieces of its keys, then those of its values."""

    data: TierData
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Attachment:
    """The tiers that a worker needs for its next task, and the pieces that are sent with them."""

    message: AttachTiers
    pieces: tuple[Ref, ...]

    @property
    def without_new(self) -> AttachTiers:
        """The message for a worker that has attached these tiers already."""
        return replace(self.message, new=())


class TierTransfer:
    """The tiers of one table in the object store and on the workers of a pool."""

    def __init__(
        self,
        pool: Pool,
        store: Store,
        sizes: Mapping[int, int],
        keys: Mapping[int, KeyRecord],
        records: Mapping[int, TierRecord],
        before_reading: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_reading` is called before blocks are read from the store."""
        self.pool, self.store, self.sizes, self.keys, self.records = pool, store, sizes, keys, records
        self.before_reading = before_reading
        self._tier_count = max(sizes, default=0) + 1
        self.reset()

    def reset(self) -> None:
        """Forget all tiers, because the workers are new and their objects may be lost."""
        self._published: dict[int, PublishedTier] = {}
        self._attached: list[dict[int, bool]] = [{} for _ in range(self.pool.size)]  # tier: whether with values

    def prepare(self, worker: int, needed: dict[int, bool]) -> Attachment:
        """Return what makes a worker attach exactly these tiers, each with or without its values."""
        attached = self._attached[worker]
        new = [
            self._publish(tier, values=values) for tier, values in needed.items() if attached.get(tier) is not values
        ]
        self._attached[worker] = needed
        message = AttachTiers(self._tier_count, tuple(needed), tuple(each.data for each in new))
        return Attachment(message, tuple(ref for each in new for ref in each.refs))

    def add_values(self, record: TierRecord, refs: tuple[Ref, ...], turn: int) -> None:
        """Publish the values of a solved tier, given as pieces in the object store."""
        keys = self._published.get(record.tier) or self._publish(record.tier, values=False)
        key_refs = keys.refs[: keys.data.key_pieces]
        self._published[record.tier] = PublishedTier(
            _add_values(keys.data, record, len(refs), turn), (*key_refs, *refs)
        )

    def discard(self, tier: int) -> None:
        """Free a tier that no component needs any more."""
        self._published.pop(tier, None)

    def _publish(self, tier: int, *, values: bool) -> PublishedTier:
        """Return a tier in the object store, reading it from the table if necessary."""
        published = self._published.get(tier)
        if published is not None and (published.data.value_pieces > 0) is values:
            return published
        data, refs = TierData(tier, self.sizes[tier]), ()
        if tier in self.keys or values:
            self.before_reading()
        if tier in self.keys:
            refs = self._put_blocks(self.store.key_blocks(self.keys[tier]), np.uint64)
            data = replace(data, key_pieces=len(refs), key_checksums=tuple(self.keys[tier].checksums))
        if values:
            record = self.records[tier]
            value_refs = self._put_blocks(self.store.value_blocks(record), f"<u{record.width}")
            data = _add_values(data, record, len(value_refs), 0)
            refs = (*refs, *value_refs)
        self._published[tier] = PublishedTier(data, refs)
        return self._published[tier]

    def _put_blocks(self, blocks: Sequence[Any], dtype: Any) -> tuple[Ref, ...]:
        arrays = [np.frombuffer(block, dtype=dtype) for block in blocks]
        count = -(-len(arrays) // PIECE_BLOCKS)
        return tuple(self.pool.put(arrays[number::count]) for number in range(count))


def _add_values(data: TierData, record: TierRecord, pieces: int, turn: int) -> TierData:
    checksums = tuple(record.checksums)
    return replace(data, value_pieces=pieces, value_checksums=checksums, width=record.width, turn=turn)


class TableWriter:
    """Writes tiers in a thread, in the order of the calls. An error is raised by a later call."""

    def __init__(self, store: LmdbStore) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer")
        self._waiting: deque[tuple[TierRecord, Sequence[Array]]] = deque()
        self._writes: deque[tuple[Future[None], int]] = deque()  # unfinished writes, and their sizes in bytes
        self._unwritten = 0
        self._failed = False

    def write(self, record: TierRecord, blocks: Sequence[Array]) -> None:
        """Write a tier; wait first if too much is unwritten."""
        while self._writes and (self._unwritten >= MAX_UNWRITTEN_BYTES or self._writes[0][0].done()):
            self._finish_write()
        size = sum(block.nbytes for block in blocks)
        self._waiting.append((record, blocks))
        self._writes.append((self._thread.submit(self._write_waiting), size))
        self._unwritten += size

    def drain(self) -> None:
        """Wait until everything is written; only then may another thread use the store."""
        while self._writes:
            self._finish_write()

    def close(self) -> None:
        """Write the waiting tiers and end the thread."""
        self._thread.shutdown()

    def _finish_write(self) -> None:
        write, size = self._writes[0]
        write.result()
        self._writes.popleft()
        self._unwritten -= size

    def _write_waiting(self) -> None:
        """Write all waiting tiers in one transaction."""
        tiers = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if tiers and not self._failed:
            self._failed = True  # after an error nothing more is written: a tier needs the tiers it leads to
            self._store.write_tiers(tiers)
            self._failed = False


def make_record(tier: int, size: int, blocks: Sequence[Array]) -> TierRecord:
    """Return the record of a tier, given its blocks of values."""
    counts: dict[int, int] = {}
    checksums: list[int] = []
    width = blocks[0].dtype.itemsize if blocks else 1
    for block in blocks:
        for code, count in count_codes(block).items():
            counts[code] = counts.get(code, 0) + count
        checksums.append(checksum(block))
    return TierRecord(tier, size, width, dict(sorted(counts.items())), checksums)
