"""Damage of all kinds, as disks, killed programs and wrong solvers make it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import lmdb
import numpy as np
import numpy.typing as npt
import pytest

from perfectplay.game.game import Game
from perfectplay.solve.steps import LocalSteps
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lmdb_store import new_table
from perfectplay.table.locations import table_path
from perfectplay.table.lock import DATA_FILE, WriterLock
from perfectplay.table.records import META, TableInfo, TierRecord, enveloped, opened, table_hash


def change_value(game: Game, *, index: int, code: int, tier: int = 0) -> int:
    """Store another code in a slot of the game's table, with right checksums, as a wrong solver would have done.

    Returns the code that was there.
    """
    before: list[int] = []

    def change(values: npt.NDArray[Any]) -> None:
        before.append(int(values[index]))
        values[index] = code

    change_values(table_path(game), tier, change)
    return before[0]


def change_values(path: Path, tier: int, change: Callable[[npt.NDArray[Any]], None]) -> None:
    """Write a table anew in which one tier's values are changed."""
    source = TableReader(path)
    records = {}
    with WriterLock(path) as lock, new_table(lock, replace(source.info, status="solving", storage={})) as target:
        for key_record in source.key_records().values():
            keys = [np.frombuffer(block, dtype="<u8") for block in source.key_blocks(key_record)]
            target.write_keys(key_record, np.concatenate(keys))
        for record in source.tier_records().values():
            blocks = [np.frombuffer(block, dtype=f"<u{record.width}") for block in source.value_blocks(record)]
            values = np.concatenate(blocks)
            if record.tier == tier:
                change(values)
            records[record.tier] = TierRecord.of(record.tier, values)
            target.write_values(records[record.tier], values)
        digest = table_hash(records.values(), source.key_records().values())
        target.set_info(replace(source.info, hash=digest, storage=target.info.storage))


def stop_after_tiers(monkeypatch: pytest.MonkeyPatch, tiers: int) -> threading.Event:
    """What a solve takes as `stop`: it is set once so many tiers are solved and stored."""
    stop, kept, keep = threading.Event(), itertools.count(1), LocalSteps.write_tier

    def counted(steps: LocalSteps, tier: int) -> None:
        keep(steps, tier)
        if next(kept) == tiers:
            stop.set()

    monkeypatch.setattr(LocalSteps, "write_tier", counted)
    return stop


def edit(path: Path, key: bytes, change: Callable[[bytes], bytes | None]) -> None:
    """Change what is stored under a key, or delete it, and nothing else."""
    environment = lmdb.open(str(path / DATA_FILE), subdir=False, lock=False)
    with closing(environment), environment.begin(write=True) as transaction:
        changed = change(transaction.get(key))
        if changed is None:
            transaction.delete(key)
        else:
            transaction.put(key, changed)


def flip(path: Path, key: bytes, at: int) -> None:
    """Change one bit of what is stored under a key."""

    def change(stored: bytes) -> bytes:
        data = bytearray(stored)
        data[at % len(data)] ^= 4
        return bytes(data)

    edit(path, key, change)


def forge_info(path: Path, **changes: Any) -> None:
    """Change the metadata, with a right checksum."""

    def change(stored: bytes) -> bytes:
        info = TableInfo.from_json(opened(META, memoryview(stored)))
        return enveloped(META, replace(info, **changes).to_json())

    edit(path, META, change)
