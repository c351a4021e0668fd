"""Rewrites a finished table in compact form, which compact.py describes and reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from perfectplay.errors import TableError, UsageError
from perfectplay.table.compact import (
    FORM,
    LEVEL,
    CompactStore,
    FrameIndex,
    KeyFrames,
    Layout,
    Record,
    ValueFrames,
    pack_counts,
)
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lmdb_store import LOCK_FILE, NEW_FILE, LmdbStore, WriterLock, new_table, sealed_item
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key
from perfectplay.table.store import Array, Block, Store
from perfectplay.table.table import Table
from perfectplay.threads import ThreadPool
from perfectplay_native.compact import mark_kept, pack_keys
from perfectplay_native.engine import Engine
from perfectplay_native.limits import BLOCK_SLOTS


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLimits:
    """Sizes that compaction works with. Tests use smaller ones."""

    layout: Layout = field(default_factory=Layout)
    dictionary_bytes: int = 1 << 17
    """The largest size of a tier's dictionary of keys."""
    keys_per_dictionary: int = 1 << 18
    """A tier with fewer keys has no dictionary."""
    sampled_keys: int = 1 << 22
    """About how many keys a dictionary is trained with."""
    fixed_memory: int = 16 << 20
    """Bytes of a memory budget that are not for packing."""
    thread_memory: int = 16 << 20
    """Bytes that a thread needs to pack or unpack a block."""


DEFAULT_LIMITS = CompactionLimits()

SAMPLED_BLOCKS = 16
"""One of this many blocks is unpacked again once the file is written."""

SEGMENT_BYTES = 256
"""Length of the pieces of which zstd makes a dictionary. Choosing it would make training forty times as long."""

NOTHING_REPLACED = "nothing was replaced"


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

    By default there is one thread per processor. Each frame is unpacked and compared with this table as soon as it is
    packed, and the file is read back before it replaces anything. Anonymous memory stays within `memory` bytes.
    `progress` is called with the number of slots written.

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
    settled = table.game.kernel is not None
    storage = {"compact": True, "form": FORM, "drops_settled": settled}
    info = replace(table.info, status="solving", hash=None, storage=storage)
    count = (threads or os.cpu_count() or 1) if table.kernel.parallel else 1
    tier_limit = None
    if memory is not None:
        half = (memory - limits.fixed_memory) // 2
        count = min(count, half // limits.thread_memory)
        # LMDB copies the frames before it writes them, and a growing array may need twice its size.
        tier_limit = half // 3
    with ThreadPool(count) as pool, WriterLock(directory) as lock, new_table(lock, info) as target:
        _Packing(table, target, pool, limits, tier_limit).run(progress)
        target.set_info(replace(table.info, storage=target.info.storage))
        _compare(CompactStore(TableReader(directory, file=NEW_FILE), table.kernel), table.store, pool)
    return directory


def _is_free(output: Path) -> bool:
    """Return whether a path is unused, or contains only what a killed run of the same command left."""
    return not output.exists() or (
        output.is_dir() and {each.name for each in output.iterdir()} <= {LOCK_FILE, NEW_FILE}
    )


def _compare(copy: CompactStore, source: Store, pool: ThreadPool) -> None:
    """Raise TableError if a compact table differs from its source or cannot be read back.

    The contents of all frames were compared when they were packed, so it is enough to check their checksums here. A
    sample of the blocks is also unpacked as a reader does it.
    """
    with copy:
        keys, values = copy.key_records(), copy.tier_records()
        if keys != source.key_records() or values != source.tier_records():
            raise TableError(f"the compact table has other tiers than its source: {NOTHING_REPLACED}")
        blocks = 0
        records: list[Record] = [*keys.values(), *values.values()]
        for record in records:
            try:
                copy.check_frames(record)
                sample = range(-blocks % SAMPLED_BLOCKS, len(record.checksums), SAMPLED_BLOCKS)
                for _ in pool.map(partial(_check_block, copy, record), sample):
                    pass
            except TableError:
                raise TableError(f"tier {record.tier} cannot be read back: {NOTHING_REPLACED}") from None
            blocks += len(record.checksums)


def _check_block(store: CompactStore, record: Record, number: int) -> None:
    store.unpack_block(record, number)


class _Packing:
    """Packs the tiers of a table frame by frame, on all threads, and writes them."""

    def __init__(
        self, table: Table, target: LmdbStore, pool: ThreadPool, limits: CompactionLimits, tier_limit: int | None
    ) -> None:
        self.source, self.kernel, self.target, self.pool = table.store, table.kernel, target, pool
        self.limits, self.tier_limit = limits, tier_limit
        self.omits = bool(target.info.storage["drops_settled"])

    def run(self, progress: Callable[[int], None]) -> None:
        keys, slots = self.source.key_records(), 0
        with closing(Engine(self.kernel, tiers=max([*self.source.tier_records(), 0]) + 1)) as index:
            for record in sorted(self.source.tier_records().values(), key=lambda r: r.tier):
                key_blocks = None
                if record.tier in keys:
                    key_blocks = self.source.key_blocks(keys[record.tier])
                    self._write_keys(keys[record.tier], key_blocks)
                else:
                    index.define(record.tier, record.size)
                self._write_values(record, index, key_blocks, partial(_report, progress, slots))
                slots += record.size
                progress(slots)

    def _write_values(
        self, record: TierRecord, index: Engine, key_blocks: list[Block] | None, progress: Callable[[int], None]
    ) -> None:
        layout = self.limits.layout.for_values(record, omits=self.omits)
        value_blocks, frames = self.source.value_blocks(record), ValueFrames(record, layout)

        def pack(first: int) -> tuple[bytes, Array]:
            codes = _frame(value_blocks, record.dtype, first, layout)
            kept, wrong = np.ones(len(codes), dtype=np.bool_), 0
            if self.omits:
                positions = None if key_blocks is None else _frame(key_blocks, np.dtype("<u8"), first, layout)
                kept, wrong = mark_kept(index, record.tier, first, codes, positions)
            packed, counts = frames.pack(codes, kept)
            if wrong or not np.array_equal(frames.codes[frames.unpack(packed)], codes[kept]):
                raise TableError(f"tier {record.tier} cannot be packed: {NOTHING_REPLACED}")
            return packed, counts

        run_counts: list[Array] = []

        def packed_frames() -> Iterator[bytes]:
            for first, (packed, counts) in self.pool.map(pack, range(0, record.size, layout.frame_slots)):
                run_counts.append(counts)
                progress(first)
                yield packed

        self._write(record, layout, packed_frames(), trailer=lambda: pack_counts(np.concatenate(run_counts)))

    def _write_keys(self, record: KeyRecord, blocks: list[Block]) -> None:
        layout = self.limits.layout.for_keys()
        starts = range(0, record.size, layout.frame_slots)

        def frame(first: int) -> Array:
            return _frame(blocks, np.dtype("<u8"), first, layout)

        dictionary = b""
        if record.size >= self.limits.keys_per_dictionary:
            step = max(1, record.size // self.limits.sampled_keys)
            dictionary = _train([pack_keys(frame(first)) for first in starts[step // 2 :: step]], record, self.limits)
        frames = KeyFrames(dictionary)

        def pack(first: int) -> bytes:
            keys = frame(first)
            packed = frames.pack(keys)
            if not np.array_equal(frames.unpack(packed, int(keys[0]), len(keys)), keys):
                raise TableError(f"the keys of tier {record.tier} cannot be packed: {NOTHING_REPLACED}")
            return packed

        first_keys = np.array([frame(first)[0] for first in starts], dtype=np.uint64)
        packed_frames = (packed for _, packed in self.pool.map(pack, starts))
        packed_dictionary = zstandard.compress(dictionary, LEVEL) if dictionary else b""
        self._write(record, layout, packed_frames, trailer=lambda: packed_dictionary, first_keys=first_keys)

    def _write(
        self,
        record: Record,
        layout: Layout,
        frames: Iterable[bytes],
        *,
        trailer: Callable[[], bytes],
        first_keys: Array | None = None,
    ) -> None:
        """Write the frames of a tier and a trailer as one value, their index, and the record of the tier."""
        packed = bytearray()
        ends, checksums = [], []
        for frame in frames:
            packed += frame
            ends.append(len(packed))
            checksums.append(checksum(frame))
            if self.tier_limit is not None and len(packed) > self.tier_limit:
                raise UsageError(f"--memory is too small: tier {record.tier} needs more, even compressed")
        last = trailer()
        packed += last
        index = FrameIndex(
            layout=layout,
            trailer_checksum=checksum(last),
            ends=np.array(ends, dtype=np.uint64),
            checksums=np.array(checksums, dtype=np.uint64),
            first_keys=np.empty(0, dtype=np.uint64) if first_keys is None else first_keys,
        )
        kind, record_kind = (b"c", b"T") if isinstance(record, TierRecord) else (b"d", b"K")
        self.target.commit(
            [
                (number_key(kind, record.tier), packed),
                sealed_item(kind.upper(), record.tier, index.to_bytes()),
                sealed_item(record_kind, record.tier, record.to_json()),
            ]
        )


def _frame(blocks: list[Block], dtype: np.dtype[Any], first: int, layout: Layout) -> Array:
    block: Array = np.frombuffer(blocks[first // BLOCK_SLOTS], dtype=dtype)
    return block[first % BLOCK_SLOTS :][: layout.frame_slots]


def _train(samples: list[bytes], record: KeyRecord, limits: CompactionLimits) -> bytes:
    """Return a dictionary for the keys of a tier; empty if zstd finds the samples too small."""
    size = min(limits.dictionary_bytes, record.size // 8)
    try:
        return zstandard.train_dictionary(size, [*samples], k=SEGMENT_BYTES, d=8).as_bytes()
    except zstandard.ZstdError:
        return b""


def _report(progress: Callable[[int], None], before: int, slots: int) -> None:
    progress(before + slots)
