"""Rewrites a finished table in compact form. What the form is, compact.py says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np

from perfectplay.errors import TableError, UsageError
from perfectplay.tables.compact import FRAME_SLOTS, CompactStore, pack_keys, pack_values
from perfectplay.tables.layout import number_key
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.locking import LOCK_FILE, NEW_FILE, WriterLock
from perfectplay.tables.records import KeyRecord, TierRecord, checksum
from perfectplay.tables.replacing import new_table
from perfectplay.tables.store import Array, Store
from perfectplay.tables.table import Table
from perfectplay_native.engine import Engine, rule_codes
from perfectplay_native.kernel import Kernel


def compact_table(table: Table, output: Path | None, *, progress: Callable[[int], None]) -> Path:
    """Rewrite a finished table in compact form: at `output`, or in its own place.

    Nothing is replaced before the new table was read back and compared with this one, tier by tier.
    """
    place = output or table.store.path
    if place is None:
        raise TableError("only a saved table can be made compact")
    if table.info.compact:
        raise TableError(f"the table in {table.store.path} is already compact")
    table.require_complete()
    if output is not None and _is_taken(output):
        raise UsageError(f"{output} already exists: choose another --output")
    # A game in Python would take long to say again what its rules decide.
    storage = {"compact": True, "drops_settled": table.kernel.cheap}
    info = replace(table.info, status="solving", hash=None, storage=storage)
    with WriterLock(place) as lock, new_table(lock, info) as target:
        _write_compact(table.store, table.kernel, target, progress)
        target.set_info(replace(table.info, storage=target.info.storage))
        _compare(CompactStore(place, kernel=table.kernel, file=NEW_FILE), table.store)
    return place


def _is_taken(output: Path) -> bool:
    """Whether a directory holds anything but what a killed run of the same command left."""
    return output.exists() and not (
        output.is_dir() and {each.name for each in output.iterdir()} <= {LOCK_FILE, NEW_FILE}
    )


def _compare(made: CompactStore, source: Store) -> None:
    """TableError where a compact table is not the same as its source, or cannot be read back."""
    with closing(made):
        keys, values = made.key_records(), made.tier_records()
        if keys != source.key_records() or values != source.tier_records():
            raise TableError("the compact table has other tiers than its source: nothing was replaced")
        records: list[KeyRecord | TierRecord] = [*keys.values(), *values.values()]
        for record in records:  # their checksums are of the unpacked blocks
            if not made.is_intact(record):
                raise TableError(f"tier {record.tier} cannot be read back: nothing was replaced")


def _write_compact(source: Store, kernel: Kernel, target: LmdbStore, done: Callable[[int], None]) -> None:
    """Write all tiers in compact form; `done` is told the slots written."""
    drop_settled = bool(target.info.storage["drops_settled"])
    keys, slots = source.key_records(), 0
    with closing(Engine(kernel, tiers=max([*source.tier_records(), 0]) + 1)) as index:
        for record in sorted(source.tier_records().values(), key=lambda r: r.tier):
            key_record = keys.get(record.tier)
            index.define(record.tier, record.size, None if key_record is None else source.key_blocks(key_record))
            frames, records = _framed(b"c", record.tier, _value_frames(source, record, index, kernel, drop_settled))
            if key_record is not None:
                key_frames, key_records = _key_frames(key_record, source)
                frames, records = frames + key_frames, records + key_records
            target.write(frames, records=[*records, (number_key(b"T", record.tier), record.to_json())])
            index.drop(record.tier)
            slots += record.size
            done(slots)


Items = list[tuple[bytes, bytes]]


def _framed(kind: bytes, tier: int, frames: Iterable[bytes], *more: Array) -> tuple[Items, Items]:
    """Frames as they are stored, and the record that says where each ends, its checksum, and `more` about it."""
    packed = list(frames)
    ends = np.cumsum([len(frame) for frame in packed], dtype="<u8")
    checksums = np.array([checksum(frame) for frame in packed], dtype="<u8")
    index = np.concatenate([ends, checksums, *more]).astype("<u8").tobytes()
    return [(number_key(kind, tier), b"".join(packed))], [(number_key(kind.upper(), tier), index)]


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


def _key_frames(record: KeyRecord, source: Store) -> tuple[Items, Items]:
    keys = np.concatenate([np.empty(0, "<u8"), *(np.frombuffer(b, dtype="<u8") for b in source.key_blocks(record))])
    frames = (pack_keys(part) for part in np.split(keys, range(FRAME_SLOTS, len(keys), FRAME_SLOTS)))
    packed, records = _framed(b"d", record.tier, frames, keys[::FRAME_SLOTS])
    return packed, [*records, (number_key(b"K", record.tier), record.to_json())]
