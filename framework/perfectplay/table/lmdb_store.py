"""Tiers written to an LMDB file (layout.py says how), one transaction after the other.

Only the one process that holds the table's lock uses LMDB; everybody else reads the file with reader.py. So LMDB's own
lock file, with its reader slots, is not needed. Blocks once written are never overwritten or freed: a table that has to
be mended is written anew and put in its place (replacing.py). Those who read it then keep the old one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb

from perfectplay.errors import TableError, reason
from perfectplay.files import lock_file, sync
from perfectplay.table.lmdb_pages import DATA_VERSION
from perfectplay.table.lmdb_reader import aligned
from perfectplay.table.lock import DATA_FILE, NEW_FILE, WriterLock
from perfectplay.table.records import (
    META,
    RECORD_KINDS,
    RECORDS_CHECKSUM,
    KeyRecord,
    TableInfo,
    TierRecord,
    blocks_of,
    enveloped,
    number_key,
    opened,
    records_checksum,
)
from perfectplay.table.store import Array, Block, Store

# Bounds the dirty pages, which LMDB keeps in anonymous memory until a commit.
COMMIT_BYTES = 8 << 20

_Tier = tuple[bytes, int, Iterable[Block], Callable[[], TierRecord | KeyRecord]]
"""The kind of its blocks, its number, the blocks, and what gives its record once they are written."""


def _known(record: TierRecord | KeyRecord, blocks: Iterable[Block]) -> _Tier:
    return b"t" if isinstance(record, TierRecord) else b"k", record.tier, blocks, lambda: record


class LmdbStore(Store):
    """A table being written. What it hands out was checked when it was opened, or written by this process."""

    backend = "lmdb"
    path: Path

    def __init__(self, file: Path, *, info: TableInfo | None = None, lock: WriterLock | None = None) -> None:
        """Open the file, whose directory the caller has locked; with `info`, make it. `close` releases `lock`."""
        self.path = file.parent
        self._file = file
        self._writer_lock = lock
        self.lock = threading.RLock()
        self._read: Any = None
        self._env: Any = None
        self._held: int | None = None
        try:
            self._env = self._open()
            self._hold()
            with self._in_words():
                self._read = self._env.begin(buffers=True)
            if info is None:
                self.info = TableInfo.from_json(opened(META, self._read.get(META)))
            else:
                version = ".".join(map(str, lmdb.version()))
                self.set_info(replace(info, storage={**info.storage, "lmdb": version, "data_version": DATA_VERSION}))
                sync(self.path)
        except BaseException:
            self.close()
            raise

    def _open(self) -> Any:
        size = self._file.stat().st_size if self._file.exists() else 0
        try:
            return lmdb.open(
                os.fsencode(self._file),  # a name may be no text
                subdir=False,
                lock=False,  # we have one of our own
                mode=0o666,
                map_size=max(1 << 30, 2 * size),
                max_spare_txns=2,
            )
        except (lmdb.Error, OSError) as error:
            raise TableError(f"cannot write {self._file}: {reason(error)}") from None

    def _hold(self) -> None:
        """Lock the file itself too: by a link, it may be the table of another directory as well."""
        try:
            self._held = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
            lock_file(self._held)
        except BlockingIOError:
            raise TableError(f"another process is writing {self._file}, by another name: wait for it") from None
        except OSError as error:
            raise TableError(f"cannot write {self._file}: {reason(error)}") from None

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """What LMDB cannot do, for want of memory or of room, as a TableError."""
        try:
            yield
        except (lmdb.Error, OSError) as error:
            why = reason(error, self.path)
            raise TableError(f"cannot write {self._file}: {why}; what was solved so far is kept") from None

    # ---- reading ----

    def _renew(self) -> None:
        """See what has been written since. What was handed out stays valid: no transaction frees a block."""
        self._read.abort()
        self._read = self._env.begin(buffers=True)

    def _stored(self, kind: bytes) -> Iterator[tuple[bytes, Block]]:
        """The records of a kind. A walk over all entries would bring every block into memory: the binding reads what it
        passes."""
        with self._in_words(), self._read.cursor() as cursor:
            found = cursor.set_range(kind)
            while found and bytes(cursor.key())[:1] == kind:
                yield bytes(cursor.key()), cursor.value()
                found = cursor.next()

    def _records(self, kind: bytes) -> Iterator[bytes]:
        return (opened(key, stored) for key, stored in self._stored(kind))

    def tier_records(self) -> dict[int, TierRecord]:
        return {record.tier: record for record in map(TierRecord.from_json, self._records(b"T"))}

    def key_records(self) -> dict[int, KeyRecord]:
        return {record.tier: record for record in map(KeyRecord.from_json, self._records(b"K"))}

    def value_blocks(self, record: TierRecord) -> list[Block]:
        return self._blocks(b"t", record)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return self._blocks(b"k", record)

    def _blocks(self, kind: bytes, record: TierRecord | KeyRecord) -> list[Block]:
        with self.lock, self._in_words():  # a transaction is for one thread at a time
            found = [self._read.get(number_key(kind, record.tier, number)) for number in range(len(record.checksums))]
        return [aligned(block) for block in found]

    # ---- writing ----

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        self.write_blocks(record, [block.data for block in blocks_of(keys)])

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        self._write_tiers([(b"k", tier, (block.data for block in blocks), record)])

    def write_values(self, record: TierRecord, values: Array) -> None:
        self.write_blocks(record, [block.data for block in record.blocks(values)])

    def write_blocks(self, record: TierRecord | KeyRecord, blocks: Iterable[Block]) -> None:
        """A tier's values or keys."""
        self._write_tiers([_known(record, blocks)])

    def write_tiers(self, tiers: Iterable[tuple[TierRecord, Sequence[Array]]]) -> None:
        """Values of tiers in blocks, in this order. Small tiers share a transaction: each waits for the disk."""
        self._write_tiers(_known(record, [block.data for block in blocks]) for record, blocks in tiers)

    def _write_tiers(self, tiers: Iterable[_Tier]) -> None:
        """Some megabytes a transaction; no record before the last block of its tier."""
        pending: list[tuple[bytes, Any]] = []
        records: list[tuple[bytes, bytes]] = []
        size = 0
        for kind, tier, blocks, record in tiers:
            for number, block in enumerate(blocks):
                pending.append((number_key(kind, tier, number), block.cast("B")))
                size += block.nbytes
                if size >= COMMIT_BYTES:
                    self.write(pending, records=records)
                    pending, records, size = [], [], 0
            records.append((number_key(kind.upper(), tier), record().to_json()))
        self.write(pending, records=records)

    def set_info(self, info: TableInfo) -> None:
        complete = info.status == "complete"
        if complete:
            total = records_checksum(entry for kind in RECORD_KINDS for entry in self._stored(kind))
            info = replace(info, storage={**info.storage, RECORDS_CHECKSUM: total})
        # Of a finished table both meta pages, the older one too, should speak of the finished table.
        for _ in range(2 if complete else 1):
            self.write([], records=[(META, info.to_json())])
        self.info = info

    def write(self, items: Sequence[tuple[bytes, Any]], *, records: Sequence[tuple[bytes, bytes]] = ()) -> None:
        """All items and records in one transaction; the map grows when it is full."""
        with self._in_words():
            while not self._fits(items, records):
                self._read.abort()
                self._env.set_mapsize(2 * self._env.info()["map_size"])
                self._read = self._env.begin(buffers=True)
                self.on_moved()
            self._renew()

    def _fits(self, items: Sequence[tuple[bytes, Any]], records: Sequence[tuple[bytes, bytes]]) -> bool:
        """Commit a transaction; False where the map has no room for it."""
        try:
            with self._env.begin(write=True) as transaction:
                for key, value in items:
                    transaction.put(key, value)
                for key, payload in records:
                    transaction.put(key, enveloped(key, payload))
            return True
        except lmdb.MapFullError:
            return False

    # ---- where it is ----

    @property
    def size_on_disk(self) -> int:
        return os.stat(self._file).st_size

    def scratch_directory(self) -> Path | None:
        return self.path

    def close(self) -> None:
        if self._read is not None:
            self._read.abort()
            self._read = None
        if self._env is not None:
            self._env.close()
            self._env = None
        if self._held is not None:
            os.close(self._held)
            self._held = None
        if self._writer_lock is not None:
            self._writer_lock.release()


# A whole table put in the place of another: written beside it, compared with what it should be, and renamed.
#
# Those who have the old one open keep it; those who open the table afterwards get the new one. Whatever moment a process
# dies at, one of the two is there, whole. The caller holds the table's lock.


@contextmanager
def new_table(lock: WriterLock, info: TableInfo) -> Iterator[LmdbStore]:
    """A new table, which is put in place when the block ends well."""
    new = lock.directory / NEW_FILE
    store: LmdbStore | None = None
    try:
        new.unlink(missing_ok=True)
        store = LmdbStore(new, info=info)
        yield store
        store.close()
        os.replace(new, lock.directory / DATA_FILE)
        sync(lock.directory)
    except OSError as error:
        raise TableError(f"cannot write {lock.directory}: {reason(error)}") from None
    finally:
        if store is not None:
            store.close()
        new.unlink(missing_ok=True)


def copy_tiers(source: Store, target: LmdbStore, keys: Iterable[KeyRecord], values: Iterable[TierRecord]) -> None:
    """Write these tiers of a store to a table, block by block: a large tier must not lie in memory twice."""
    for key_record in keys:
        target.write_blocks(key_record, source.key_blocks(key_record))
    for record in values:
        target.write_blocks(record, source.value_blocks(record))
