"""Reads LMDB's file without LMDB: every page is checked before it is believed, and nothing is locked or written.

LMDB trusts its own pages: one flipped bit can make it read outside its map, and every reader needs a slot in a lock
file that it can write. So tables are read here. The data file is a B+ tree of pages:

    page 0, page 1     meta pages: the one with the later transaction number says where the trees begin
    branch page        sorted keys, each with the number of a page below
    leaf page          sorted keys with their values; a large value lies in pages of its own ("overflow"), in one piece
    free tree          by transaction, the pages that it gave up

A page begins with its number (8 bytes), 2 unused bytes, its kind (2), and for a tree page where its pointers end (2)
and its nodes begin (2), else the count of its pages (4). The format is LMDB's data version 1, which all of 0.9 writes.

This works beside a writer: a transaction does not touch pages of the last one committed. If the meta page is the same
before and after, what was read in between is one transaction's; if not, it is read again. Small values are copied.
Large ones are read where they lie, also much later: our writer never frees them.
"""

from __future__ import annotations

import mmap
import os
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from perfectplay.errors import DamagedTable, TableError, reason

MAGIC = 0xBEEFC0DE
DATA_VERSION = 1
NO_PAGE = 2**64 - 1
MAX_DEPTH = 32
PAGE_BITS = range(9, 17)

_PAGE = struct.Struct("<QHHHH")
_OVERFLOW = struct.Struct("<QHHI")
_NODE = struct.Struct("<HHHH")
_TREE = struct.Struct("<IHHQQQQQ")
_META_HEAD = struct.Struct("<IIQQ")
_META_TAIL = struct.Struct("<QQ")
_META_SIZE = _META_HEAD.size + 2 * _TREE.size + _META_TAIL.size
_BRANCH, _LEAF, _BIG, _META = 1, 2, 4, 8
_BIG_DATA = 1

ATTEMPTS = 50
"""Commits come seconds apart and a look takes milliseconds: more than a few attempts are never needed."""


class DamagedPages(Exception):
    """The file is not what LMDB writes; the text says where."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where a tree begins, and how much there should be in it."""

    depth: int
    entries: int
    root: int


@dataclass(frozen=True, slots=True)
class Meta:
    """What the newer meta page says."""

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

    def check_free_pages(self) -> None:
        """DamagedPages where a page that is in use is listed as free: a writer would overwrite it."""
        used = self._pages_used.copy()
        lists = [np.frombuffer(value, dtype="<u8") for _, value in self._read(self.meta.free)]
        for pages in lists:
            self._check(len(pages) > 0 and int(pages[0]) == len(pages) - 1, "a list of free pages has a wrong length")
            free = pages[1:]
            self._check(bool(np.all((free >= 2) & (free <= self.meta.last_page))), "a free page is outside the file")
            self._check(not used[free].any(), "a page is both in use and free")

    def _read(self, tree: Tree) -> Iterator[tuple[bytes, memoryview]]:
        """The entries of a tree, every page and the order of all keys checked."""
        if tree.root == NO_PAGE:
            self._check(tree.entries == 0, "an empty tree has entries")
            return
        self._check(0 < tree.depth <= MAX_DEPTH, "a tree has an impossible depth")
        count, last = 0, b""
        for key, value in self._below(tree.root, tree.depth):
            self._check(count == 0 or key > last, "keys are out of order")
            count, last = count + 1, key
            yield key, value
        self._check(count == tree.entries, "a tree has another number of entries than it says")

    def _below(self, number: int, depth: int) -> Iterator[tuple[bytes, memoryview]]:
        page = self._page(number, _LEAF if depth == 1 else _BRANCH)
        _, _, _, lower, upper = _PAGE.unpack_from(page)
        size = len(page)
        if not _PAGE.size < lower <= upper <= size or lower % 2:
            raise DamagedPages(f"page {number} has impossible bounds")
        for (offset,) in struct.iter_unpack("<H", page[_PAGE.size : lower]):
            if not upper <= offset <= size - _NODE.size:
                raise DamagedPages(f"page {number} points outside itself")
            low, high, flags, key_size = _NODE.unpack_from(page, offset)
            start = offset + _NODE.size
            if start + key_size > size:
                raise DamagedPages(f"page {number} has a key that is too long")
            if depth > 1:
                yield from self._below(low | high << 16 | flags << 32, depth - 1)
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
        self._take(number, 1)
        size = self.meta.page_size
        page = self._data[number * size : (number + 1) * size]
        itself, _, flags, _, _ = _PAGE.unpack_from(page)
        if itself != number or flags != kind:
            raise DamagedPages(f"page {number} is of the wrong kind")
        return page

    def _overflow(self, number: int, length: int) -> memoryview:
        size = self.meta.page_size
        self._check(2 <= number <= self.meta.last_page, "a value lies outside the file")
        itself, _, flags, pages = _OVERFLOW.unpack_from(self._data, number * size)
        if itself != number or flags != _BIG or _OVERFLOW.size + length > pages * size:
            raise DamagedPages(f"page {number} is not the start of a value")
        self._take(number, pages)
        start = number * size + _OVERFLOW.size
        return self._data[start : start + length]

    def _take(self, number: int, count: int) -> None:
        """Pages belong to one place: what is reached twice is a circle, or a wrong pointer."""
        self._check(number >= 2 and number + count - 1 <= self.meta.last_page, "a page lies outside the file")
        if self._pages_used[number : number + count].any():
            raise DamagedPages(f"page {number} is used twice")
        self._pages_used[number : number + count] = True

    def _check(self, holds: bool, problem: str) -> None:
        if not holds:
            raise DamagedPages(problem)


def read_snapshot(path: Path) -> Snapshot:
    """The newest transaction of a data file; TableError where the file cannot be read or is damaged."""
    for _ in range(ATTEMPTS):
        data = _map(path)
        before = _state(path, data)
        snapshot, damage = None, ""
        try:
            snapshot = Snapshot(data, _newer_meta(data))
        except DamagedPages as error:
            damage = str(error)
        if _state(path, data) != before or before[0] != len(data):
            continue  # a writer was at work
        if snapshot is None:
            raise DamagedTable(f"{path} is not a table, or is damaged: {damage}")
        return snapshot
    raise TableError(f"{path} is being solved, and changes too quickly to be read: try again")


def _state(path: Path, data: memoryview) -> tuple[int, bytes]:
    """What changes with every transaction: the file's length, and its meta pages, whatever the size of a page."""
    starts = [0, *(1 << bits for bits in PAGE_BITS)]
    length = os.stat(path).st_size if path.exists() else 0
    return length, b"".join(bytes(data[start : start + _PAGE.size + _META_SIZE]) for start in starts)


def _map(path: Path) -> memoryview:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a FIFO would wait for a writer
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
    if (newer.last_page + 1) * newer.page_size > len(data):
        needed = (newer.last_page + 1) * newer.page_size
        raise DamagedPages(f"it has {len(data):,} bytes of at least {needed:,} (truncated?)")
    return newer


def _meta(data: memoryview, number: int, page_size: int | None) -> Meta:
    start = number * (page_size or 0)
    if start + _PAGE.size + _META_SIZE > len(data):
        raise DamagedPages("it is too short (truncated?)")
    itself, _, flags, _, _ = _PAGE.unpack_from(data, start)
    magic, version, _, _ = _META_HEAD.unpack_from(data, start + _PAGE.size)
    if itself != number or flags != _META or magic != MAGIC:
        raise DamagedPages("it does not begin as LMDB's files do")
    if version != DATA_VERSION:
        raise DamagedPages(f"it has LMDB's data version {version}, and only {DATA_VERSION} can be read")
    trees = start + _PAGE.size + _META_HEAD.size
    size, free = _tree(data, trees)
    _, main = _tree(data, trees + _TREE.size)
    last_page, transaction = _META_TAIL.unpack_from(data, trees + 2 * _TREE.size)
    if size not in (1 << bits for bits in PAGE_BITS) or size != (page_size or size):
        raise DamagedPages(f"it has pages of {size} bytes")
    if last_page >= NO_PAGE // size:
        raise DamagedPages("it says that it has more pages than any file")
    return Meta(size, transaction, last_page, free, main)


def _tree(data: memoryview, at: int) -> tuple[int, Tree]:
    pad, _, depth, _, _, _, entries, root = _TREE.unpack_from(data, at)
    return pad, Tree(depth, entries, root)
