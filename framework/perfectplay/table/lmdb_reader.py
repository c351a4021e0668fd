"""Reads a table from an LMDB file without LMDB, taking no lock and checking everything before use.

LMDB trusts its own pages, so one flipped bit can make it read outside its map, and every LMDB reader needs a slot in a
writable lock file. This module checks instead:

    LMDB's pages           against each other, when the table is opened
    every record           against its checksum, when the table is opened
    all records together   against the checksum and the hash in a finished table's metadata, when it is opened
    every block            against its length and the checksum in its tier's record, when it is first used

The data file is a B+ tree of pages (LMDB's data version 1, written by all versions of LMDB 0.9):

    page 0, page 1     meta pages; the one with the higher transaction number locates the roots of the trees
    branch page        sorted keys, each with the number of a child page
    leaf page          sorted keys with their values; a large value is stored in consecutive "overflow" pages
    free tree          the pages that each transaction freed

A page begins with its number (8 bytes), 2 unused bytes and its kind (2). A tree page continues with the end of its
pointers (2) and the start of its nodes (2), an overflow page with its page count (4).

Reading during a write is safe because a transaction does not touch the pages of the last committed one. If the meta
pages are the same before and after reading, everything came from one transaction; otherwise it is read again. Small
values are copied. Large values are used in place, even much later, because our writer never frees them.
"""

from __future__ import annotations

import json
import mmap
import os
import stat
import struct
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from perfectplay.errors import DamagedTable, TableError, reason
from perfectplay.table.records import (
    FORMAT,
    META,
    RECORDS_CHECKSUM,
    KeyRecord,
    TableInfo,
    TierRecord,
    block_lengths,
    checksum,
    number_key,
    records_checksum,
    table_hash,
    unseal,
)
from perfectplay.table.store import Array, Block, Store
from perfectplay_native.values import stored_bytes

DATA_FILE = "data.mdb"

MAGIC = 0xBEEFC0DE
DATA_VERSION = 1
NO_PAGE = 2**64 - 1
MAX_DEPTH = 32
PAGE_SIZES = [1 << bits for bits in range(9, 17)]

_PAGE = struct.Struct("<QHHHH")
_OVERFLOW = struct.Struct("<QHHI")
_NODE = struct.Struct("<HHHH")
_TREE = struct.Struct("<IHHQQQQQ")
_META_HEAD = struct.Struct("<IIQQ")
_META_TAIL = struct.Struct("<QQ")
_META_SIZE = _META_HEAD.size + 2 * _TREE.size + _META_TAIL.size
_BRANCH, _LEAF, _BIG, _META = 1, 2, 4, 8
_BIG_DATA = 1

MAX_ATTEMPTS = 50
"""Commits are seconds apart and a read takes milliseconds, so more than a few attempts are never needed."""

Record = TypeVar("Record", TierRecord, KeyRecord)


# ---- pages ----


class DamagedPages(Exception):
    """LMDB did not write these pages; the text says where they are wrong."""


def _check(valid: bool, problem: str) -> None:
    if not valid:
        raise DamagedPages(problem)


@dataclass(frozen=True, slots=True)
class Tree:
    """The root and the declared size of a tree."""

    depth: int
    entries: int
    root: int


@dataclass(frozen=True, slots=True)
class Meta:
    """The contents of the newer meta page."""

    page_size: int
    transaction: int
    last_page: int
    free: Tree
    main: Tree


class Snapshot:
    """All keys and values of one transaction."""

    def __init__(self, data: memoryview, meta: Meta) -> None:
        self._data, self.meta = data, meta
        self._pages_used = np.zeros(meta.last_page + 1, dtype=bool)
        self._pages_used[:2] = True
        self.entries: dict[bytes, memoryview] = dict(self._read(meta.main))

    @property
    def size(self) -> int:
        """The length of the file when it was read; it may have been removed since."""
        return len(self._data)

    def check_free_pages(self) -> None:
        """Raise DamagedPages if a page in use is listed as free, because a writer would overwrite it."""
        used = self._pages_used.copy()
        lists = [np.frombuffer(value, dtype="<u8") for _, value in self._read(self.meta.free)]
        for pages in lists:
            _check(len(pages) > 0 and int(pages[0]) == len(pages) - 1, "a list of free pages has a wrong length")
            free = pages[1:]
            _check(bool(np.all((free >= 2) & (free <= self.meta.last_page))), "a free page is outside the file")
            _check(not used[free].any(), "a page is both in use and free")

    def _read(self, tree: Tree) -> Iterator[tuple[bytes, memoryview]]:
        """Yield the entries of a tree, checking every page and the order of the keys."""
        if tree.root == NO_PAGE:
            _check(tree.entries == 0, "an empty tree has entries")
            return
        _check(0 < tree.depth <= MAX_DEPTH, "a tree has an impossible depth")
        count, last = 0, b""
        for key, value in self._subtree(tree.root, tree.depth):
            _check(count == 0 or key > last, "keys are out of order")
            count, last = count + 1, key
            yield key, value
        _check(count == tree.entries, "a tree has a wrong number of entries")

    def _subtree(self, number: int, depth: int) -> Iterator[tuple[bytes, memoryview]]:
        page = self._page(number, _LEAF if depth == 1 else _BRANCH)
        _, _, _, lower, upper = _PAGE.unpack_from(page)
        size = len(page)
        if not _PAGE.size < lower <= upper <= size or lower % 2:
            raise DamagedPages(f"page {number} has impossible bounds")
        for (offset,) in struct.iter_unpack("<H", page[_PAGE.size : lower]):
            if not upper <= offset <= size - _NODE.size:
                raise DamagedPages(f"page {number} has a pointer outside the page")
            low, high, flags, key_size = _NODE.unpack_from(page, offset)
            start = offset + _NODE.size
            if start + key_size > size:
                raise DamagedPages(f"page {number} has a key that is too long")
            if depth > 1:
                yield from self._subtree(low | high << 16 | flags << 32, depth - 1)
                continue
            key, rest = bytes(page[start : start + key_size]), page[start + key_size :]
            length = low | high << 16
            if flags == _BIG_DATA:
                if len(rest) < 8:
                    raise DamagedPages(f"page {number} has a value that is too short")
                yield key, self._overflow(int.from_bytes(rest[:8], "little"), length)
            else:
                if flags or length > len(rest):
                    raise DamagedPages(f"page {number} has a value that is too long")
                yield key, memoryview(bytes(rest[:length]))  # a later transaction may overwrite this page

    def _page(self, number: int, kind: int) -> memoryview:
        self._claim(number, 1)
        size = self.meta.page_size
        page = self._data[number * size : (number + 1) * size]
        stored_number, _, flags, _, _ = _PAGE.unpack_from(page)
        if stored_number != number or flags != kind:
            raise DamagedPages(f"page {number} is of the wrong kind")
        return page

    def _overflow(self, number: int, length: int) -> memoryview:
        size = self.meta.page_size
        _check(2 <= number <= self.meta.last_page, "a value is outside the file")
        stored_number, _, flags, pages = _OVERFLOW.unpack_from(self._data, number * size)
        if stored_number != number or flags != _BIG or _OVERFLOW.size + length > pages * size:
            raise DamagedPages(f"page {number} is not the start of a value")
        self._claim(number, pages)
        start = number * size + _OVERFLOW.size
        return self._data[start : start + length]

    def _claim(self, number: int, count: int) -> None:
        """Mark pages as used. A page that is reached twice reveals a cycle or a wrong pointer."""
        _check(number >= 2 and number + count - 1 <= self.meta.last_page, "a page is outside the file")
        if self._pages_used[number : number + count].any():
            raise DamagedPages(f"page {number} is used twice")
        self._pages_used[number : number + count] = True


def read_snapshot(path: Path) -> Snapshot:
    """Read the newest transaction of a data file. Raises TableError if it cannot be read or is damaged."""
    for _ in range(MAX_ATTEMPTS):
        data = _map(path)
        before = _state(path, data)
        snapshot, damage = None, ""
        try:
            snapshot = Snapshot(data, _newer_meta(data))
        except DamagedPages as error:
            damage = str(error)
        if _state(path, data) != before or before[0] != len(data):
            continue  # a writer was active
        if snapshot is None:
            raise DamagedTable(f"{path} is not a table, or is damaged: {damage}")
        return snapshot
    raise TableError(f"{path} is being solved and changes too quickly to be read: try again")


def _state(path: Path, data: memoryview) -> tuple[int, bytes]:
    """Return what every transaction changes: the length of the file, and its meta pages for any page size."""
    try:
        length = os.stat(path).st_size
    except FileNotFoundError:
        length = 0
    return length, b"".join(bytes(data[start : start + _PAGE.size + _META_SIZE]) for start in [0, *PAGE_SIZES])


def _map(path: Path) -> memoryview:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # do not wait for a FIFO
    except OSError as error:
        raise TableError(f"cannot read {path}: {reason(error)}") from None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            raise TableError(f"cannot read {path}: it is not a regular file")
        if not status.st_size:
            raise DamagedTable(f"{path} is not a table, or is damaged: it is empty")
        return memoryview(mmap.mmap(file, status.st_size, prot=mmap.PROT_READ))
    except (OSError, ValueError) as error:
        raise TableError(f"cannot read {path}: {reason(error)}") from None
    finally:
        os.close(file)


def _newer_meta(data: memoryview) -> Meta:
    first = _meta(data, 0, None)
    second = _meta(data, 1, first.page_size)
    newer = max(first, second, key=lambda meta: meta.transaction)
    size = (newer.last_page + 1) * newer.page_size
    _check(size <= len(data), f"it has {len(data):,} bytes instead of at least {size:,} (truncated?)")
    return newer


def _meta(data: memoryview, number: int, page_size: int | None) -> Meta:
    start = number * (page_size or 0)
    _check(start + _PAGE.size + _META_SIZE <= len(data), "it is too short (truncated?)")
    stored_number, _, flags, _, _ = _PAGE.unpack_from(data, start)
    magic, version, _, _ = _META_HEAD.unpack_from(data, start + _PAGE.size)
    _check(stored_number == number and flags == _META and magic == MAGIC, "it does not begin like an LMDB file")
    _check(version == DATA_VERSION, f"it has LMDB data version {version} instead of {DATA_VERSION}")
    trees = start + _PAGE.size + _META_HEAD.size
    size, free = _tree(data, trees)
    _, main = _tree(data, trees + _TREE.size)
    last_page, transaction = _META_TAIL.unpack_from(data, trees + 2 * _TREE.size)
    _check(size in PAGE_SIZES and size == (page_size or size), f"it has pages of {size} bytes")
    _check(last_page < NO_PAGE // size, f"it has an impossible number of pages, {last_page:,}")
    return Meta(size, transaction, last_page, free, main)


def _tree(data: memoryview, at: int) -> tuple[int, Tree]:
    pad, _, depth, _, _, _, entries, root = _TREE.unpack_from(data, at)
    return pad, Tree(depth, entries, root)


# ---- tables ----


class TableFile:
    """A snapshot of a table's file with its parsed and checked records. Plain and compact readers use it."""

    def __init__(self, file: Path, *, repairing: bool = False) -> None:
        """Read a file. With `repairing`, unreadable records are omitted instead of refused."""
        self.file, self.repairing = file, repairing
        self.snapshot = read_snapshot(file)
        self.entries = self.snapshot.entries
        self.info = self._read_info()
        self.tiers = {record.tier: record for record in self._read_records(b"T", TierRecord.from_json)}
        self.keys = {record.tier: record for record in self._read_records(b"K", KeyRecord.from_json)}
        if not repairing:
            self.check_whole()

    def _read_info(self) -> TableInfo:
        stored = self.entries.get(META)
        if stored is None:
            raise TableError(f"there is no table in {self.file.parent}")
        try:
            text = unseal(META, stored)
            version = json.loads(text)["format"]
            if version == FORMAT:
                return TableInfo.from_json(text)
        except (ValueError, TypeError, KeyError):
            raise self.damage("its metadata cannot be read") from None
        raise TableError(
            f"{self.file.parent} has table format {version}, but this version of perfectplay reads format {FORMAT}: "
            "solve again with --force"
        )

    def _read_records(self, kind: bytes, parse: Callable[[bytes], Record]) -> Iterator[Record]:
        for key, stored in self.entries.items():
            if key[:1] != kind:
                continue
            try:
                record = parse(unseal(key, stored))
                if number_key(kind, record.tier) != key:
                    raise ValueError("it belongs to another tier")
                yield record
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if not self.repairing:
                    raise self.damage(
                        f"the record of tier {int.from_bytes(key[1:5])} cannot be read: {error}"
                    ) from None

    def check_whole(self) -> None:
        """Check all records of a finished table together: cheap, and it covers every size, width and checksum."""
        if self.info.status != "complete":
            return
        if table_hash(self.tiers.values(), self.keys.values()) != self.info.hash:
            raise self.damage("its records do not match its hash")
        if records_checksum(self.entries.items()) != self.info.storage.get(RECORDS_CHECKSUM):
            raise self.damage("its records have a wrong checksum")
        if any((record.width == 0) is not self.info.outcomes for record in self.tiers.values()):
            raise self.damage("it mixes full values and outcomes")
        if self.info.indexing == "enumerated":
            sizes = {tier: record.size for tier, record in self.keys.items()}
            if sizes != {tier: record.size for tier, record in self.tiers.items()}:
                raise self.damage("it does not have as many values as positions")

    def count_records(self, kind: bytes) -> int:
        """Return the number of stored records of a kind, readable or not."""
        return sum(key[:1] == kind for key in self.entries)

    def damage(self, problem: str) -> DamagedTable:
        return DamagedTable(f"the table {self.file.parent} is damaged: {problem}")


class TableReader(Store):
    """A table on disk, read-only, for any number of processes and threads.

    It does not change after it was opened, even if the table is replaced; the replacement is for later readers.
    """

    backend = "lmdb"
    path: Path

    def __init__(self, path: Path, *, file: str = DATA_FILE, source: TableFile | None = None) -> None:
        """Open the table in a directory, or use a `source` that was read before."""
        self.path = path
        self.source = source or TableFile(path / file)
        self.info = self.source.info
        self.lock = threading.Lock()
        self._checked: set[bytes] = set()

    def tier_records(self) -> dict[int, TierRecord]:
        return dict(self.source.tiers)

    def key_records(self) -> dict[int, KeyRecord]:
        return dict(self.source.keys)

    def value_blocks(self, record: TierRecord) -> list[Block]:
        return self._blocks(b"t", record, record.width)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return self._blocks(b"k", record, 8)

    def _blocks(self, kind: bytes, record: TierRecord | KeyRecord, width: int) -> list[Block]:
        return [
            self._block(kind, record, number, stored_bytes(slots, width))
            for number, slots in enumerate(block_lengths(record.size))
        ]

    def _block(self, kind: bytes, record: TierRecord | KeyRecord, number: int, length: int) -> Block:
        key, name = number_key(kind, record.tier, number), f"tier {record.tier}, block {number}"
        block = self.source.entries.get(key)
        if block is None:
            raise self.source.damage(f"{name} is missing")
        if key not in self._checked:
            if len(block) != length:
                raise self.source.damage(f"{name} has {len(block):,} bytes instead of {length:,}")
            if checksum(block) != record.checksums[number]:
                raise self.source.damage(f"{name} has a wrong checksum")
            self._checked.add(key)
        return align(block)

    @property
    def size_on_disk(self) -> int:
        return self.source.snapshot.size

    def close(self) -> None:
        """Do nothing: the map is closed when the last array that uses it is freed."""

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        raise TableError(f"{self.path} is open for reading only")

    def write_values(self, record: TierRecord, values: Array) -> None:
        raise TableError(f"{self.path} is open for reading only")

    def set_info(self, info: TableInfo) -> None:
        raise TableError(f"{self.path} is open for reading only")


def align(view: Block) -> Block:
    """Return the view itself, or a copy if it does not start at a multiple of 8 bytes."""
    address = np.frombuffer(view, dtype=np.uint8).ctypes.data
    return view if address % 8 == 0 else memoryview(bytes(view))
