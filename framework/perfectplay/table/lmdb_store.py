"""Writes a table to an LMDB file, one transaction at a time; records.py describes the keys.

Only the process that holds the writer lock uses LMDB. All others read the file with lmdb_reader.py, so LMDB's own lock
file with its reader slots is not needed. Blocks are never overwritten or freed once they are written. A damaged or
compacted table is rewritten as a new file, which then replaces the old one, so readers keep the table they opened.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb

from perfectplay.errors import TableError, reason
from perfectplay.files import lock_file, sync
from perfectplay.table.lmdb_reader import DATA_FILE, DATA_VERSION, align
from perfectplay.table.records import (
    META,
    RECORD_KINDS,
    RECORDS_CHECKSUM,
    KeyRecord,
    TableInfo,
    TierRecord,
    blocks_of,
    number_key,
    records_checksum,
    seal,
    unseal,
)
from perfectplay.table.store import WRITE_BUFFER, Array, Block, Store

LOCK_FILE = "writer.lock"
FOREIGN_LOCK_FILE = "lock.mdb"
"""Created by LMDB's own tools, such as mdb_stat, when they read a table."""
NEW_FILE = "data.mdb.new"
"""A table being written to replace another. The holder of the lock may delete one left by a killed process."""

Item = tuple[bytes, Any]
"""A key and the bytes to store under it."""


class WriterLock:
    """The right to write the table in a directory, which is created if necessary.

    It is a lock on a file in the directory, so the system releases it when the process ends.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file: int | None = None
        self._new_parents = [folder for folder in directory.parents if not folder.exists()]
        """Parent directories that are created too, innermost first."""
        try:
            self._file = _lock(directory / LOCK_FILE)
            (directory / NEW_FILE).unlink(missing_ok=True)
        except BlockingIOError:
            raise TableError(f"another process is writing {directory}: wait for it, or use another --dir") from None
        except FileExistsError:
            raise TableError(f"cannot write a table to {directory}: it is not a directory") from None
        except OSError as error:
            self.release()
            raise TableError(f"cannot write to {directory}: {reason(error)}") from None

    def release(self) -> None:
        """Release the lock. If nothing was written, remove the directory and the parents created for it."""
        if self._file is None:
            return
        with suppress(OSError):
            if os.listdir(self.directory) == [LOCK_FILE]:
                (self.directory / LOCK_FILE).unlink()
                for folder in (self.directory, *self._new_parents):
                    folder.rmdir()
        os.close(self._file)
        self._file = None

    @contextmanager
    def release_on_error(self) -> Iterator[None]:
        """Release the lock if the block raises."""
        try:
            yield
        except BaseException:
            self.release()
            raise

    def __enter__(self) -> WriterLock:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def _lock(path: Path) -> int:
    """Open and lock a file. Retry if its previous holder has deleted it, or its directory, in the meantime."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except FileNotFoundError:
            continue
        try:
            lock_file(file)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


class LmdbStore(Store):
    """A table being written. Its tiers were checked when it was opened, or written by this process."""

    backend = "lmdb"
    path: Path

    def __init__(self, file: Path, *, info: TableInfo | None = None, lock: WriterLock | None = None) -> None:
        """Open a file in a directory that the caller has locked; with `info`, create it. `close` releases `lock`."""
        self.path = file.parent
        self._file = file
        self._read_lock = threading.RLock()
        self._resources = ExitStack()
        if lock is not None:
            self._resources.callback(lock.release)
        try:
            self._env = self._open()
            self._lock_data_file()
            with self._translate_lmdb_errors():
                self._read = self._env.begin(buffers=True)
            if info is None:
                self.info = TableInfo.from_json(unseal(META, self._read.get(META)))
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
            environment = lmdb.open(
                os.fsencode(self._file),  # the name may not be valid text
                subdir=False,
                lock=False,  # the writer lock replaces LMDB's
                mode=0o666,
                map_size=max(1 << 30, 2 * size),
                max_spare_txns=2,
            )
        except (lmdb.Error, OSError) as error:
            raise TableError(f"cannot write {self._file}: {reason(error)}") from None
        self._resources.callback(environment.close)
        return environment

    def _lock_data_file(self) -> None:
        """Lock the data file too: through a link, it may also be the table of another directory."""
        try:
            file = os.open(self._file, os.O_RDONLY | os.O_CLOEXEC)
            self._resources.callback(os.close, file)
            lock_file(file)
        except BlockingIOError:
            raise TableError(f"another process is writing {self._file} under another name: wait for it") from None
        except OSError as error:
            raise TableError(f"cannot write {self._file}: {reason(error)}") from None

    @contextmanager
    def _translate_lmdb_errors(self) -> Iterator[None]:
        """Raise TableError for what LMDB cannot do, such as writing to a full disk."""
        try:
            yield
        except (lmdb.Error, OSError) as error:
            cause = reason(error, self.path)
            raise TableError(f"cannot write {self._file}: {cause}; all tiers solved so far are saved") from None

    # ---- reading ----

    def _stored_records(self, kind: bytes) -> Iterator[tuple[bytes, Block]]:
        """Yield the stored records of a kind. Iterating over all entries would load every block into memory."""
        with self._translate_lmdb_errors(), self._read.cursor() as cursor:
            found = cursor.set_range(kind)
            while found and bytes(cursor.key())[:1] == kind:
                yield bytes(cursor.key()), cursor.value()
                found = cursor.next()

    def tier_records(self) -> dict[int, TierRecord]:
        records = (TierRecord.from_json(unseal(*entry)) for entry in self._stored_records(b"T"))
        return {record.tier: record for record in records}

    def key_records(self) -> dict[int, KeyRecord]:
        records = (KeyRecord.from_json(unseal(*entry)) for entry in self._stored_records(b"K"))
        return {record.tier: record for record in records}

    def value_blocks(self, record: TierRecord) -> list[Block]:
        return self._blocks(b"t", record)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return self._blocks(b"k", record)

    def _blocks(self, kind: bytes, record: TierRecord | KeyRecord) -> list[Block]:
        keys = [number_key(kind, record.tier, number) for number in range(len(record.checksums))]
        with self._read_lock, self._translate_lmdb_errors():  # only one thread may use a transaction
            return [align(self._read.get(key)) for key in keys]

    # ---- writing ----

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        self.write_key_blocks(record.tier, blocks_of(keys), lambda: record)

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        self._write(_items(b"k", tier, (block.data for block in blocks), lambda: record().to_json()))

    def write_values(self, record: TierRecord, values: Array) -> None:
        self.write_tiers([(record, record.blocks(values))])

    def write_tiers(self, tiers: Iterable[tuple[TierRecord, Sequence[Array]]]) -> None:
        """Write the blocks of tiers in this order. Small tiers share a transaction, because each waits for the disk."""
        self._write(
            item
            for record, blocks in tiers
            for item in _items(b"t", record.tier, (block.data for block in blocks), record.to_json)
        )

    def copy_tiers(self, source: Store, keys: Iterable[KeyRecord], values: Iterable[TierRecord]) -> None:
        """Write tiers of another store, one block at a time, because a large tier may not fit in memory twice."""
        for key_record in keys:
            self._write(_items(b"k", key_record.tier, source.key_blocks(key_record), key_record.to_json))
        for record in values:
            self._write(_items(b"t", record.tier, source.value_blocks(record), record.to_json))

    def _write(self, items: Iterable[Item]) -> None:
        """Write items in order, in transactions of about the size of the write buffer."""
        pending: list[Item] = []
        size = 0
        for key, data in items:
            pending.append((key, data))
            size += len(data)
            if size >= WRITE_BUFFER:
                self.commit(pending)
                pending, size = [], 0
        self.commit(pending)

    def commit(self, items: Sequence[Item]) -> None:
        """Write items in one transaction. The map grows when it is full."""
        with self._translate_lmdb_errors():
            while True:
                try:
                    with self._env.begin(write=True) as transaction:
                        for key, data in items:
                            transaction.put(key, data)
                    break
                except lmdb.MapFullError:
                    self._read.abort()
                    self._env.set_mapsize(2 * self._env.info()["map_size"])
                    self._read = self._env.begin(buffers=True)
                    self.on_moved()
            # Make the new entries visible. Earlier blocks stay valid, because no transaction frees one.
            self._read.abort()
            self._read = self._env.begin(buffers=True)

    def set_info(self, info: TableInfo) -> None:
        complete = info.status == "complete"
        if complete:
            total = records_checksum(entry for kind in RECORD_KINDS for entry in self._stored_records(kind))
            info = replace(info, storage={**info.storage, RECORDS_CHECKSUM: total})
        # A finished table is committed twice, so that the older meta page describes it too.
        for _ in range(2 if complete else 1):
            self.commit([(META, seal(META, info.to_json()))])
        self.info = info

    # ---- files ----

    @property
    def size_on_disk(self) -> int:
        return os.stat(self._file).st_size

    def scratch_directory(self) -> Path | None:
        return self.path

    def close(self) -> None:
        self._resources.close()


def sealed_item(kind: bytes, tier: int, text: bytes) -> Item:
    """Return the item that stores a record of a tier."""
    key = number_key(kind, tier)
    return key, seal(key, text)


def _items(kind: bytes, tier: int, blocks: Iterable[Block], record: Callable[[], bytes]) -> Iterator[Item]:
    """Yield the items of a tier: its blocks, then its record."""
    for number, block in enumerate(blocks):
        yield number_key(kind, tier, number), block.cast("B")
    yield sealed_item(kind.upper(), tier, record())


@contextmanager
def new_table(lock: WriterLock, info: TableInfo) -> Iterator[LmdbStore]:
    """Create a table that replaces the one in the locked directory when the block ends without an error.

    The new table is written to another file, which is renamed at the end. After a crash at any moment either the old or
    the new table exists, complete. Readers of the old table keep it.
    """
    new = lock.directory / NEW_FILE
    try:
        new.unlink(missing_ok=True)
        with LmdbStore(new, info=info) as store:
            yield store
        os.replace(new, lock.directory / DATA_FILE)
        sync(lock.directory)
    except OSError as error:
        raise TableError(f"cannot write {lock.directory}: {reason(error)}") from None
    finally:
        new.unlink(missing_ok=True)


def remove_table(path: Path) -> None:
    """Delete the table in a directory, and the directory if it contains no other files.

    Readers keep a table that they have open. Raises TableError if there is no table, or while it is being written.
    """
    if not (path / DATA_FILE).exists():
        raise TableError(f"there is no table in {path}")
    with WriterLock(path):  # on release, it removes an empty directory
        try:
            (path / DATA_FILE).unlink()
            (path / FOREIGN_LOCK_FILE).unlink(missing_ok=True)
        except OSError as error:
            raise TableError(f"cannot remove {path}: {reason(error)}") from None
