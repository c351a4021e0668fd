"""Rewrites a finished table in compact form. What the form is, compact.py says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from perfectplay.errors import TableError, UsageError
from perfectplay.tables.compact import FRAME_SLOTS, CompactStore, pack_keys, pack_values
from perfectplay.tables.lmdb_store import LmdbStore, number_key, remove_table
from perfectplay.tables.records import KeyRecord, TierRecord, checksum
from perfectplay.tables.store import Store
from perfectplay.tables.table import Table
from perfectplay_native.engine import Engine, rule_codes
from perfectplay_native.kernel import Kernel


def compact_table(table: Table, output: Path | None, *, progress: Callable[[int], None]) -> Path:
    """Rewrite a finished table in compact form: at `output`, or in its own place. Every value is read back first."""
    if table.store.path is None:
        raise TableError("only a saved table can be made compact")
    if table.info.compact:
        raise TableError(f"the table in {table.store.path} is already compact")
    table.require_complete()
    place = table.store.path
    path = output or place.with_name(place.name + ".new")
    if output is not None and output.exists():
        raise UsageError(f"{output} exists already: choose another --output")
    remove_table(path)
    try:
        write_compact(table.store, table.kernel, path, drop_settled=table.kernel.cheap, done=progress)
        check = CompactStore(path, kernel=table.kernel)
        try:
            for record in check.tier_records().values():
                check.value_blocks(record)
            for key_record in check.key_records().values():
                check.key_blocks(key_record)
        finally:
            check.close()
    except BaseException:
        remove_table(path)
        raise
    if output is None:
        table.close()
        os.replace(path / "data.mdb", place / "data.mdb")
        remove_table(path)
        path = place
    return path


def write_compact(
    source: Store, kernel: Kernel, path: Path, *, drop_settled: bool, done: Callable[[int], None]
) -> None:
    """Write the table of `source` to `path` in compact form; `done` is told the slots written."""
    storage = {"compact": True, "drops_settled": drop_settled}
    target = LmdbStore(path, writable=True, info=replace(source.info, status="solving", hash=None, storage=storage))
    index = Engine(kernel, tiers=max([*source.tier_records(), 0]) + 1)
    try:
        keys = source.key_records()
        slots = 0
        for record in sorted(source.tier_records().values(), key=lambda r: r.tier):
            key_record = keys.get(record.tier)
            index.define(record.tier, record.size, None if key_record is None else source.key_blocks(key_record))
            items = _framed(b"c", record.tier, _value_frames(source, record, index, kernel, drop_settled))
            if key_record is not None:
                items += _key_items(key_record, source)
            target.write([*items, (number_key(b"T", record.tier), record.to_json())])
            index.drop(record.tier)
            slots += record.size
            done(slots)
        target.set_info(replace(source.info, storage={**target.info.storage, **storage}))
    finally:
        index.close()
        target.close()


def _framed(kind: bytes, tier: int, frames: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    packed = list(frames)
    ends = np.cumsum([len(frame) for frame in packed], dtype="<u8")
    checksums = np.array([checksum(frame) for frame in packed], dtype="<u8")
    index = np.concatenate([ends, checksums]).astype("<u8").tobytes()
    return [(number_key(kind, tier), b"".join(packed)), (number_key(kind.upper(), tier), index)]


def _value_frames(
    source: Store, record: TierRecord, index: Engine, kernel: Kernel, drop_settled: bool
) -> Iterator[bytes]:
    first = 0
    for block in source.value_blocks(record):
        values = np.frombuffer(block, dtype=f"<u{record.width}")
        for part in np.split(values, range(FRAME_SLOTS, len(values), FRAME_SLOTS)):
            kept = np.ones(len(part), dtype=bool)
            if drop_settled:
                kept = rule_codes(kernel, index.positions(record.tier, first, len(part))) == 0
            yield pack_values(part, kept)
            first += len(part)


def _key_items(record: KeyRecord, source: Store) -> list[tuple[bytes, bytes]]:
    keys = np.concatenate([np.empty(0, "<u8"), *(np.frombuffer(b, dtype="<u8") for b in source.key_blocks(record))])
    frames = (pack_keys(part) for part in np.split(keys, range(FRAME_SLOTS, len(keys), FRAME_SLOTS)))
    return [
        *_framed(b"d", record.tier, frames),
        (number_key(b"F", record.tier), keys[::FRAME_SLOTS].astype("<u8").tobytes()),
        (number_key(b"K", record.tier), record.to_json()),
    ]
