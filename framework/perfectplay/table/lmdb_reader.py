"""A table on disk, for reading: checked as a whole when it is opened, and block by block when a block is first used.

What is checked against what:

    LMDB's pages           each other (pages.py)
    every record           its own checksum (layout.py)
    all records together   the checksum in a finished table's metadata, and the table's hash
    every block            its length, and the checksum in its tier's record
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np

from perfectplay.errors import DamagedTable, TableError
from perfectplay.table.lmdb_pages import Snapshot, read_snapshot
from perfectplay.table.lock import DATA_FILE
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
    opened,
    records_checksum,
    table_hash,
)
from perfectplay.table.store import Array, Block, Store
from perfectplay_native.values import stored_bytes

Record = TypeVar("Record", TierRecord, KeyRecord)


class TableReader(Store):
    """A table on disk, read-only: no lock, no file but the table's own, any number of processes and threads.

    It stays what it was when it was opened: what replaces it is for those who open the table afterwards.
    """

    backend = "lmdb"
    path: Path

    def __init__(
        self, path: Path, *, file: str = DATA_FILE, repairing: bool = False, snapshot: Snapshot | None = None
    ) -> None:
        """Open the table in a directory, or go on with a snapshot of its file.

        With `repairing`, records that cannot be trusted are left out, not refused.
        """
        self.path, self._file = path, path / file
        self.lock = threading.Lock()
        self.snapshot = snapshot or read_snapshot(self._file)
        self._entries = self.snapshot.entries
        self._checked: set[bytes] = set()
        self._repairing = repairing
        self.info = read_info(path, self.snapshot)
        self._tiers = {record.tier: record for record in self._records(b"T", TierRecord.from_json)}
        self._keys = {record.tier: record for record in self._records(b"K", KeyRecord.from_json)}
        if not repairing:
            self.check_whole()

    def _records(self, kind: bytes, read: Callable[[bytes], Record]) -> Iterator[Record]:
        for key, stored in self._entries.items():
            if key[:1] != kind:
                continue
            try:
                record = read(opened(key, stored))
                if number_key(kind, record.tier) != key:
                    raise ValueError("it is another tier's")
                yield record
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                if not self._repairing:
                    raise self.damage(f"the record of tier {int.from_bytes(key[1:])} cannot be read: {error}") from None

    def check_whole(self) -> None:
        """What the records say together: cheap, and it covers every size, width and checksum."""
        if self.info.status != "complete":
            return
        if table_hash(self._tiers.values(), self._keys.values()) != self.info.hash:
            raise self.damage("its records do not add up to its hash")
        if records_checksum(self._entries.items()) != self.info.storage.get(RECORDS_CHECKSUM):
            raise self.damage("its records have a wrong checksum")
        if any((record.width == 0) is not self.info.outcomes for record in self._tiers.values()):
            raise self.damage("its values are of two kinds")
        if self.info.indexing == "enumerated":
            sizes = {tier: record.size for tier, record in self._keys.items()}
            if sizes != {tier: record.size for tier, record in self._tiers.items()}:
                raise self.damage("it does not have as many values as positions")

    def records_stored(self, kind: bytes) -> int:
        """How many records of a kind there are, whether they can be read or not."""
        return sum(key[:1] == kind for key in self._entries)

    def damage(self, what: str) -> DamagedTable:
        return DamagedTable(f"the table {self.path} is damaged: {what}")

    # ---- reading ----

    def tier_records(self) -> dict[int, TierRecord]:
        return dict(self._tiers)

    def key_records(self) -> dict[int, KeyRecord]:
        return dict(self._keys)

    def value_blocks(self, record: TierRecord) -> list[Block]:
        return self._blocks(b"t", record, record.width)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return self._blocks(b"k", record, 8)

    def _blocks(self, kind: bytes, record: TierRecord | KeyRecord, width: int) -> list[Block]:
        expected = zip(block_lengths(record.size), record.checksums, strict=True)
        return [
            self._block(kind, record.tier, number, stored_bytes(slots, width), total)
            for number, (slots, total) in enumerate(expected)
        ]

    def _block(self, kind: bytes, tier: int, number: int, length: int, total: int) -> Block:
        key = number_key(kind, tier, number)
        block = self._entries.get(key)
        if block is None:
            raise self.damage(f"tier {tier} has no block {number}")
        if key not in self._checked:
            if len(block) != length:
                raise self.damage(f"tier {tier}, block {number} has {len(block):,} bytes, not {length:,}")
            if checksum(block) != total:
                raise self.damage(f"tier {tier}, block {number} has a wrong checksum")
            self._checked.add(key)
        return aligned(block)

    @property
    def size_on_disk(self) -> int:
        return os.stat(self._file).st_size

    def close(self) -> None:
        """Nothing is held but memory, which lives as long as somebody looks at it."""

    # ---- writing: not here ----

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        raise TableError(f"{self.path} is open for reading only")

    def write_values(self, record: TierRecord, values: Array) -> None:
        raise TableError(f"{self.path} is open for reading only")

    def set_info(self, info: TableInfo) -> None:
        raise TableError(f"{self.path} is open for reading only")


def read_info(path: Path, snapshot: Snapshot) -> TableInfo:
    """A table's metadata; TableError where there is none, where it is damaged, or where the format is another."""
    stored = snapshot.entries.get(META)
    if stored is None:
        raise TableError(f"there is no table in {path}")
    try:
        text = opened(META, stored)
        version = json.loads(text)["format"]
        info = TableInfo.from_json(text) if version == FORMAT else None
    except (ValueError, TypeError, KeyError):
        if not _is_format_1(stored):
            raise DamagedTable(f"the table {path} is damaged: its metadata cannot be read") from None
        version, info = 1, None
    if info is None:
        raise TableError(
            f"{path} has table format {version}, this perfectplay reads {FORMAT}: delete it and solve again"
        )
    return info


def _is_format_1(stored: Block) -> bool:
    """Whether this is the metadata of the first format, in which records had no checksum."""
    try:
        return bool(json.loads(bytes(stored))["format"] == 1)
    except (ValueError, TypeError, KeyError):
        return False


def aligned(view: Block) -> Block:
    """The view itself, or a copy where a small block lies on an odd address."""
    address = np.frombuffer(view, dtype=np.uint8).ctypes.data
    return view if address % 8 == 0 else memoryview(bytes(view))
