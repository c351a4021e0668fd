"""Rewrites a finished table in compact form, which compact.py describes and reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.errors import TableError, UsageError
from perfectplay.table.compact import FORM, CompactStore, Record, ValueFrames, pack_keys
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lmdb_store import LOCK_FILE, NEW_FILE, LmdbStore, WriterLock, new_table, sealed_item
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key
from perfectplay.table.store import Array, Block, Store
from perfectplay.table.table import Table
from perfectplay.threads import ThreadPool
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_codes


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLimits:
    """Sizes that compaction works with. Tests use smaller ones."""

    frame_slots: int = 1 << 16
    fixed_memory: int = 16 << 20
    """Bytes of a memory budget that are not for packing."""
    thread_memory: int = 16 << 20
    """Bytes that a thread needs to pack or unpack a block."""


DEFAULT_LIMITS = CompactionLimits()


def compact_table(
    table: Table,
    output: Path | None = None,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
    limits: CompactionLimits = DEFAULT_LIMITS,
) -> Path:
    """Rewrite a finished table in compact form and return its directory: `output`, or the table's own.

    By default there is one thread per processor. Nothing is replaced before the new table has been read back and
    compared with this one, block by block. Anonymous memory stays within `memory` bytes. `progress` is called with the
    number of slots written.

    Raises TableError if the table is not finished, not saved, or compact already. Raises UsageError if `output` exists,
    if the table contains outcomes only, or if the compressed form of a tier does not fit in `memory`.
    """
    smallest = limits.fixed_memory + 2 * limits.thread_memory
    if memory is not None and memory < smallest:
        raise UsageError(f"--memory is too small: use at least {smallest >> 20}M")
    directory = output or table.store.path
    if directory is None:
        raise TableError("only a saved table can be made compact")
    if table.info.compact:
        raise TableError(f"the table in {table.store.path} is already compact")
    table.require_complete()
    if table.outcomes_only:
        raise UsageError(f"the table of {table.game.identity} has outcomes only and cannot be smaller")
    if output is not None and not _is_free(output):
        raise UsageError(f"{output} already exists: choose another --output")
    # A game in Python would take too long to compute omitted values again.
    storage = {"compact": True, "form": FORM, "frame_slots": limits.frame_slots, "drops_settled": table.kernel.cheap}
    info = replace(table.info, status="solving", hash=None, storage=storage)
    count = (threads or os.cpu_count() or 1) if table.kernel.parallel else 1
    tier_limit = None
    if memory is not None:
        half = (memory - limits.fixed_memory) // 2
        count = min(count, half // limits.thread_memory)
        tier_limit = (
            half // 3
        )  # LMDB copies the frames before it writes them, and a growing array may need twice its size
    with ThreadPool(count) as pool, WriterLock(directory) as lock, new_table(lock, info) as target:
        _Packing(table.store, table.kernel, target, pool, tier_limit).run(progress)
        target.set_info(replace(table.info, storage=target.info.storage))
        _compare(CompactStore(TableReader(directory, file=NEW_FILE), table.kernel), table.store, pool)
    return directory


def _is_free(output: Path) -> bool:
    """Return whether a path is unused, or contains only what a killed run of the same command left."""
    return not output.exists() or (
        output.is_dir() and {each.name for each in output.iterdir()} <= {LOCK_FILE, NEW_FILE}
    )


def _compare(copy: CompactStore, source: Store, pool: ThreadPool) -> None:
    """Raise TableError if a compact table differs from its source or cannot be read back."""
    with copy:
        keys, values = copy.key_records(), copy.tier_records()
        if keys != source.key_records() or values != source.tier_records():
            raise TableError("the compact table has other tiers than its source: nothing was replaced")
        records: list[Record] = [*keys.values(), *values.values()]
        for record in records:  # their checksums are those of the unpacked blocks
            try:
                for _ in pool.map(partial(_check_block, copy, record), range(len(record.checksums))):
                    pass
            except TableError:
                raise TableError(f"tier {record.tier} cannot be read back: nothing was replaced") from None


def _check_block(store: CompactStore, record: Record, number: int) -> None:
    store.unpack_block(record, number)


class _Packing:
    """Packs the tiers of a table frame by frame, on all threads, and writes them."""

    def __init__(
        self, source: Store, kernel: Kernel, target: LmdbStore, pool: ThreadPool, tier_limit: int | None
    ) -> None:
        self.source, self.kernel, self.target, self.pool = source, kernel, target, pool
        self.tier_limit = tier_limit
        self.omits = bool(target.info.storage["drops_settled"])
        self.frame_slots = int(target.info.storage["frame_slots"])

    def run(self, progress: Callable[[int], None]) -> None:
        keys, slots = self.source.key_records(), 0
        with closing(Engine(self.kernel, tiers=max([*self.source.tier_records(), 0]) + 1)) as index:
            for record in sorted(self.source.tier_records().values(), key=lambda r: r.tier):
                if record.tier in keys:
                    key_blocks = self.source.key_blocks(keys[record.tier])
                    self._write_keys(keys[record.tier], key_blocks)
                    positions = partial(self._frame, key_blocks, np.dtype("<u8"))
                else:
                    index.define(record.tier, record.size)
                    positions = partial(self._unrank, index, record)
                self._write(record, self._value_frames(record, positions, partial(_report, progress, slots)))
                slots += record.size
                progress(slots)

    def _value_frames(
        self, record: TierRecord, positions: Callable[[int], Array], progress: Callable[[int], None]
    ) -> Iterator[bytes]:
        """Yield packed frames. `positions` returns the positions of the frame that begins at a slot."""
        value_blocks, frames = self.source.value_blocks(record), ValueFrames(record)

        def pack(first: int) -> bytes:
            codes = self._frame(value_blocks, record.dtype, first)
            if not self.omits:
                return frames.pack(codes, np.ones(len(codes), dtype=bool))
            return frames.pack(codes, one_ply_codes(self.kernel, positions(first)) == 0)

        for first, packed in self.pool.map(pack, range(0, record.size, self.frame_slots)):
            progress(first)
            yield packed

    def _write_keys(self, record: KeyRecord, blocks: list[Block]) -> None:
        def frame(first: int) -> Array:
            return self._frame(blocks, np.dtype("<u8"), first)

        starts = range(0, record.size, self.frame_slots)
        frames = (packed for _, packed in self.pool.map(lambda first: pack_keys(frame(first)), starts))
        self._write(record, frames, [int(frame(first)[0]) for first in starts])

    def _write(self, record: Record, frames: Iterable[bytes], first_keys: Sequence[int] = ()) -> None:
        """Write the frames of a tier as one value, their index, and the record of the tier."""
        packed = bytearray()
        ends, checksums = [], []
        for frame in frames:
            packed += frame
            ends.append(len(packed))
            checksums.append(checksum(frame))
            if self.tier_limit is not None and len(packed) > self.tier_limit:
                raise UsageError(f"--memory is too small: tier {record.tier} needs more, even compressed")
        index = np.array([*ends, *checksums, *first_keys], dtype="<u8").tobytes()
        kind, record_kind = (b"c", b"T") if isinstance(record, TierRecord) else (b"d", b"K")
        self.target.commit(
            [
                (number_key(kind, record.tier), packed),
                sealed_item(kind.upper(), record.tier, index),
                sealed_item(record_kind, record.tier, record.to_json()),
            ]
        )

    def _frame(self, blocks: list[Block], dtype: np.dtype[Any], first: int) -> Array:
        block: Array = np.frombuffer(blocks[first // BLOCK_SLOTS], dtype=dtype)
        return block[first % BLOCK_SLOTS :][: self.frame_slots]

    def _unrank(self, index: Engine, record: TierRecord, first: int) -> Array:
        return index.positions(record.tier, first, min(self.frame_slots, record.size - first))


def _report(progress: Callable[[int], None], before: int, slots: int) -> None:
    progress(before + slots)
