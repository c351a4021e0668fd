"""Tiers in an LMDB environment on disk, and how a table is laid out in it.

Under these keys (numbers are 4 bytes, big-endian):

    meta                   TableInfo, as JSON
    K tier                 KeyRecord of a tier's sorted keys (enumerated games only), as JSON
    k tier block           the keys themselves, 2**20 a block, 8 bytes each, little-endian
    T tier                 TierRecord of a tier's values, as JSON
    t tier block           the values, 2**20 a block, 1 or 2 bytes each

A tier counts once its record is there, and the record is written in the transaction of its last block: whatever moment
a process dies at, a tier is whole or absent. Blocks are read where they lie in LMDB's memory map, without copying.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
import shutil
import struct
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb
import numpy as np

from perfectplay.errors import TableError
from perfectplay.tables.environments import close_environment, open_environment
from perfectplay.tables.records import FORMAT, KeyRecord, TableInfo, TierRecord, blocks_of, checksum
from perfectplay.tables.store import Array, Block, Store

DATA_FILE = "data.mdb"

# Bounds the dirty pages, which LMDB keeps in anonymous memory until a commit.
COMMIT_BYTES = 16 << 20

SMALL_DISK = 1 << 20
"""With fewer bytes free than this, a write that was cut short met a full disk."""


def number_key(kind: bytes, *numbers: int) -> bytes:
    return kind + struct.pack(f">{len(numbers)}I", *numbers)


def _aligned(view: Block) -> Block:
    """The view itself, or a copy where a small block lies on an odd address inside an LMDB page."""
    address = np.frombuffer(view, dtype=np.uint8).ctypes.data
    return view if address % 8 == 0 else memoryview(bytes(view))


class LmdbStore(Store):
    """Tiers in an LMDB environment on disk. Many may read it; one process writes it."""

    backend = "lmdb"
    path: Path

    def __init__(self, path: Path, *, writable: bool = False, info: TableInfo | None = None) -> None:
        """Open the table at `path`; with `info`, make it if it is not there."""
        self.path = path
        self.lock = threading.RLock()
        self._writer_lock: int | None = None
        self._checked: set[tuple[str, int, int]] = set()
        self._read: Any = None
        if info is not None:
            self._create_directory()
        if writable:
            self._take_writer_lock()
        try:
            self._env = open_environment(path, writable=writable)
            self._check_length()
            self._read = self._env.begin(buffers=True)
            self.info = self._load_info(info)
        except BaseException:
            self.close()
            raise

    @property
    def size_on_disk(self) -> int:
        return (self.path / DATA_FILE).stat().st_size

    def scratch_directory(self) -> Path | None:
        scratch = self.path / "scratch"
        scratch.mkdir(exist_ok=True)
        for left in scratch.iterdir():  # of a run that was killed
            left.unlink()
        return scratch

    # ---- opening ----

    def _create_directory(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TableError(f"cannot make the table directory {self.path}: {error.strerror}") from None

    def _take_writer_lock(self) -> None:
        try:
            self._writer_lock = os.open(self.path / "writer.lock", os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(self._writer_lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TableError(f"another process is writing {self.path}: wait for it, or use another --dir") from None
        except OSError as error:
            raise TableError(f"cannot write {self.path}: {error.strerror}") from None

    def _check_length(self) -> None:
        """Reading beyond the end of a truncated file would kill the process: refuse it first."""
        data = self.path / DATA_FILE
        needed = (self._env.info()["last_pgno"] + 1) * self._env.stat()["psize"]
        actual = data.stat().st_size
        if actual < needed:
            raise TableError(f"{data} is damaged: it has {actual:,} bytes of at least {needed:,} (truncated?)")

    def _load_info(self, fresh: TableInfo | None) -> TableInfo:
        stored = self._read.get(b"meta")
        if stored is None:
            if fresh is None:
                raise TableError(f"there is no table in {self.path}")
            storage = {"lmdb": ".".join(map(str, lmdb.version())), "data_version": _data_version(self.path)}
            self.set_info(replace(fresh, storage={**storage, **fresh.storage}))
            return self.info
        try:
            info = TableInfo.from_json(bytes(stored))
        except (ValueError, TypeError):
            raise TableError(
                f"the metadata of {self.path} cannot be read: the table is damaged, or of a later format"
            ) from None
        if info.format != FORMAT:
            raise TableError(
                f"{self.path} has table format {info.format}, this perfectplay reads {FORMAT}: solve again"
            )
        return info

    # ---- reading ----

    def renew(self) -> None:
        """See what has been written since.

        Blocks handed out stay valid: large ones lie in pages that nothing overwrites, small ones were copied.
        """
        self._read.abort()
        self._read = self._env.begin(buffers=True)

    def _records(self, kind: bytes) -> Iterator[bytes]:
        with self._read.cursor() as cursor:
            found = cursor.set_range(kind)
            while found and bytes(cursor.key())[:1] == kind:
                yield bytes(cursor.value())
                found = cursor.next()

    def tier_records(self) -> dict[int, TierRecord]:
        return {record.tier: record for record in map(TierRecord.from_json, self._records(b"T"))}

    def key_records(self) -> dict[int, KeyRecord]:
        return {record.tier: record for record in map(KeyRecord.from_json, self._records(b"K"))}

    def value_blocks(self, record: TierRecord) -> list[Block]:
        return [self._block("t", record.tier, i, total) for i, total in enumerate(record.checksums)]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return [self._block("k", record.tier, i, total) for i, total in enumerate(record.checksums)]

    def is_intact(self, record: TierRecord | KeyRecord) -> bool:
        return self.info.compact or super().is_intact(record)  # a compact table checks what it unpacks

    def fetch(self, key: bytes) -> Block | None:
        """What stands under a key, where it lies."""
        with self.lock:  # a transaction is for one thread at a time
            found: Block | None = self._read.get(key)
            return found

    def _block(self, kind: str, tier: int, number: int, total: int) -> Block:
        view = self.fetch(number_key(kind.encode(), tier, number))
        if view is None:
            raise TableError(f"the table {self.path} is damaged: tier {tier} has no block {number}")
        if (kind, tier, number) not in self._checked:
            if checksum(view) != total:
                raise TableError(f"the table {self.path} is damaged: tier {tier}, block {number} has a wrong checksum")
            self._checked.add((kind, tier, number))
        return _aligned(view)

    # ---- writing ----

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        self._write_tier(b"k", record.tier, keys, (number_key(b"K", record.tier), record.to_json()))

    def write_values(self, record: TierRecord, values: Array) -> None:
        self._write_tier(b"t", record.tier, values, (number_key(b"T", record.tier), record.to_json()))

    def _write_tier(self, kind: bytes, tier: int, array: Array, record: tuple[bytes, bytes]) -> None:
        """The blocks, some megabytes a transaction, and in the last one the record."""
        pending: list[tuple[bytes, Any]] = []
        size = 0
        for number, block in enumerate(blocks_of(array)):
            pending.append((number_key(kind, tier, number), block.data.cast("B")))
            size += block.nbytes
            if size >= COMMIT_BYTES:
                self.write(pending)
                pending, size = [], 0
        self.write([*pending, record])

    def set_info(self, info: TableInfo) -> None:
        self.write([(b"meta", info.to_json())])
        self.info = info

    def write(self, items: Sequence[tuple[bytes, Any]]) -> None:
        """All items in one transaction; the map grows when it is full."""
        while True:
            try:
                with self._env.begin(write=True) as transaction:
                    for key, value in items:
                        transaction.put(key, value)
                self.renew()
                return
            except lmdb.MapFullError:
                self._read.abort()
                self._env.set_mapsize(2 * self._env.info()["map_size"])
                self._read = self._env.begin(buffers=True)
                self.on_moved()
            except (lmdb.Error, OSError) as error:
                raise TableError(
                    f"cannot write {self.path}: {_reason(error, self.path)}; what was solved so far is kept"
                ) from None

    def close(self) -> None:
        scratch = self.path / "scratch"
        if self._writer_lock is not None and scratch.is_dir():
            scratch.rmdir()
        if self._read is not None:
            self._read.abort()
            self._read = None
        if getattr(self, "_env", None) is not None:
            close_environment(self._env)
            self._env = None
        if self._writer_lock is not None:
            os.close(self._writer_lock)
            self._writer_lock = None


def _data_version(path: Path) -> int:
    """The version of LMDB's data format, as the file itself has it: behind the first page's header and the magic."""
    with open(path / DATA_FILE, "rb") as file:
        magic, number = struct.unpack_from("<II", file.read(24), 16)
    return int(number) if magic == 0xBEEFC0DE else 0


def _reason(error: BaseException, path: Path) -> str:
    """Name what people can mend. LMDB says a plain input/output error when a write was cut short."""
    text = str(error)
    cut_short = os.strerror(errno.EIO) in text
    disk = os.statvfs(path)
    if os.strerror(errno.ENOSPC) in text or (cut_short and disk.f_bavail * disk.f_frsize < SMALL_DISK):
        return "the disk is full: make room and run the same command again"
    limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    if os.strerror(errno.EFBIG) in text or (cut_short and limited):
        return "the file would be larger than the limit allows: raise it and run the same command again"
    return text


def remove_table(path: Path) -> None:
    """Delete a table and nothing else."""
    for name in (DATA_FILE, "lock.mdb", "writer.lock"):
        (path / name).unlink(missing_ok=True)
    shutil.rmtree(path / "scratch", ignore_errors=True)
    if path.is_dir() and not any(path.iterdir()):
        path.rmdir()
