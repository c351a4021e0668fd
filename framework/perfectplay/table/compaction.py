"""Rewrites a finished table in compact form. What the form is, compact.py says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from perfectplay.errors import TableError, UsageError
from perfectplay.table.compact import FORM, FRAME_SLOTS, CompactStore, ValueFrames, pack_keys
from perfectplay.table.lmdb_store import LmdbStore, new_table
from perfectplay.table.lock import LOCK_FILE, NEW_FILE, WriterLock
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key
from perfectplay.table.store import Array, Block, Store
from perfectplay.table.table import Table
from perfectplay.threads import Workers
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_codes

FIXED_MEMORY = 16 << 20
THREAD_MEMORY = 16 << 20
"""What a thread needs to pack or unpack a block, and something to spare."""


def compact_table(
    table: Table,
    output: Path | None,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[int], None],
) -> Path:
    """Rewrite a finished table in compact form: at `output`, or in its own place; with one thread a processor.

    Nothing is replaced before the new table was read back and compared with this one, block by block. Anonymous memory
    stays within `memory` bytes; UsageError where a tier's compressed form does not fit into that.
    """
    if memory is not None and memory < FIXED_MEMORY + 2 * THREAD_MEMORY:
        least = (FIXED_MEMORY + 2 * THREAD_MEMORY) >> 20
        raise UsageError(f"--memory is too small: the least that works is {least}M")
    place = output or table.store.path
    if place is None:
        raise TableError("only a saved table can be made compact")
    if table.info.compact:
        raise TableError(f"the table in {table.store.path} is already compact")
    table.require_complete()
    if table.outcomes_only:
        raise UsageError(f"the table of {table.game.identity} knows outcomes alone, two bits a slot: it stays as it is")
    if output is not None and _is_taken(output):
        raise UsageError(f"{output} already exists: choose another --output")
    # A game in Python would take long to say again what its rules decide.
    storage = {"compact": True, "form": FORM, "drops_settled": table.kernel.cheap}
    info = replace(table.info, status="solving", hash=None, storage=storage)
    workers = Workers(_thread_count(table.kernel, threads, memory))
    with workers, WriterLock(place) as lock, new_table(lock, info) as target:
        _Packing(table.store, table.kernel, target, workers, memory).run(progress)
        target.set_info(replace(table.info, storage=target.info.storage))
        _compare(CompactStore(place, kernel=table.kernel, file=NEW_FILE), table.store, workers)
    return place


def _thread_count(kernel: Kernel, threads: int | None, memory: int | None) -> int:
    wanted = (threads or os.cpu_count() or 1) if kernel.parallel else 1
    return wanted if memory is None else min(wanted, (memory - FIXED_MEMORY) // 2 // THREAD_MEMORY)


def _is_taken(output: Path) -> bool:
    """Whether a directory holds anything but what a killed run of the same command left."""
    return output.exists() and not (
        output.is_dir() and {each.name for each in output.iterdir()} <= {LOCK_FILE, NEW_FILE}
    )


def _compare(made: CompactStore, source: Store, workers: Workers) -> None:
    """TableError where a compact table is not the same as its source, or cannot be read back."""
    with closing(made):
        keys, values = made.key_records(), made.tier_records()
        if keys != source.key_records() or values != source.tier_records():
            raise TableError("the compact table has other tiers than its source: nothing was replaced")
        records: list[KeyRecord | TierRecord] = [*keys.values(), *values.values()]
        for record in records:  # their checksums are of the unpacked blocks
            try:
                for _ in workers.map(partial(made.check_block, record), range(len(record.checksums))):
                    pass
            except TableError:
                raise TableError(f"tier {record.tier} cannot be read back: nothing was replaced") from None


Items = list[tuple[bytes, bytes | bytearray]]
Records = list[tuple[bytes, bytes]]


class _Packing:
    """One run: packs a table's tiers frame by frame, on all threads, and writes them."""

    def __init__(self, source: Store, kernel: Kernel, target: LmdbStore, workers: Workers, memory: int | None) -> None:
        self.source, self.kernel, self.target, self.workers, self.memory = source, kernel, target, workers, memory
        self.drop_settled = bool(target.info.storage["drops_settled"])

    def run(self, done: Callable[[int], None]) -> None:
        """Write all tiers; `done` is told the slots written."""
        keys, slots = self.source.key_records(), 0
        with closing(Engine(self.kernel, tiers=max([*self.source.tier_records(), 0]) + 1)) as index:
            for record in sorted(self.source.tier_records().values(), key=lambda r: r.tier):
                key_blocks = None
                if record.tier in keys:
                    self._write_keys(keys[record.tier])
                    key_blocks = self.source.key_blocks(keys[record.tier])
                else:
                    index.define(record.tier, record.size)
                frames = self._value_frames(record, index, key_blocks)
                items, records = self._framed(b"c", record.tier, _counted(frames, slots, done))
                self.target.write(items, records=[*records, (number_key(b"T", record.tier), record.to_json())])
                slots += record.size
                done(slots)

    def _value_frames(
        self, record: TierRecord, index: Engine, key_blocks: list[Block] | None
    ) -> Iterator[tuple[int, bytes]]:
        """Each frame packed, with its first slot."""
        value_blocks, frames = self.source.value_blocks(record), ValueFrames(record)

        def pack(first: int) -> bytes:
            part = _frame(value_blocks, f"<u{record.width}", first)
            if not self.drop_settled:
                return frames.pack(part, np.ones(len(part), dtype=bool))
            if key_blocks is None:
                positions = index.positions(record.tier, first, len(part))
            else:
                positions = _frame(key_blocks, "<u8", first)
            return frames.pack(part, one_ply_codes(self.kernel, positions) == 0)

        return self.workers.map(pack, range(0, record.size, FRAME_SLOTS))

    def _write_keys(self, record: KeyRecord) -> None:
        blocks = self.source.key_blocks(record)
        places = range(0, record.size, FRAME_SLOTS)
        frames = (
            packed for _, packed in self.workers.map(lambda first: pack_keys(_frame(blocks, "<u8", first)), places)
        )
        firsts = np.array([_frame(blocks, "<u8", first)[0] for first in places], dtype="<u8")
        items, records = self._framed(b"d", record.tier, frames, firsts)
        self.target.write(items, records=[*records, (number_key(b"K", record.tier), record.to_json())])

    def _framed(self, kind: bytes, tier: int, frames: Iterable[bytes], *more: Array) -> tuple[Items, Records]:
        """Frames as they are stored, and the record that says where each ends, its checksum, and `more` about it."""
        packed = bytearray()
        ends, checksums = [], []
        for frame in frames:
            packed += frame
            ends.append(len(packed))
            checksums.append(checksum(frame))
            # LMDB has the whole once more before it writes it; and a growing array may need as much again
            if self.memory is not None and 3 * len(packed) > (self.memory - FIXED_MEMORY) // 2:
                raise UsageError(f"--memory is too small: tier {tier} needs more, even compressed")
        index = np.concatenate([np.array(ends, "<u8"), np.array(checksums, "<u8"), *more]).astype("<u8").tobytes()
        return [(number_key(kind, tier), packed)], [(number_key(kind.upper(), tier), index)]


def _counted(frames: Iterator[tuple[int, bytes]], before: int, done: Callable[[int], None]) -> Iterator[bytes]:
    for first, packed in frames:
        done(before + first)
        yield packed


def _frame(blocks: list[Block], dtype: str, first: int) -> Array:
    """A frame's part of the block that it lies in."""
    block: Array = np.frombuffer(blocks[first // BLOCK_SLOTS], dtype=dtype)
    return block[first % BLOCK_SLOTS :][:FRAME_SLOTS]
