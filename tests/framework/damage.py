"""Damage to tables, as caused by disks, killed processes and faulty solvers."""

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
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader
from perfectplay.table.lmdb_store import WriterLock, new_table
from perfectplay.table.locations import table_path
from perfectplay.table.records import META, TableInfo, TierRecord, seal, table_hash, unseal


def change_value(game: Game, *, index: int, code: int, tier: int = 0) -> int:
    """Store another code in a slot with correct checksums, as a faulty solver would. Returns the previous code."""
    before: list[int] = []

    def change(values: npt.NDArray[Any]) -> None:
        before.append(int(values[index]))
        values[index] = code

    change_values(table_path(game), tier, change)
    return before[0]


def change_values(path: Path, tier: int, change: Callable[[npt.NDArray[Any]], None]) -> None:
    """Rewrite a table with changed values of one tier."""
    source = TableReader(path)
    keys, records = source.key_records(), source.tier_records()
    with WriterLock(path) as lock, new_table(lock, replace(source.info, status="solving", storage={})) as target:
        unchanged = [record for record in records.values() if record.tier != tier]
        target.copy_tiers(source, keys.values(), unchanged)
        blocks = source.value_blocks(records[tier])
        values = np.concatenate([np.frombuffer(block, dtype=records[tier].dtype) for block in blocks])
        change(values)
        records[tier] = TierRecord.of(tier, values)
        target.write_values(records[tier], values)
        digest = table_hash(records.values(), keys.values())
        target.set_info(replace(source.info, hash=digest, storage=target.info.storage))


def stop_after_tiers(monkeypatch: pytest.MonkeyPatch, tiers: int) -> threading.Event:
    """Return an event for the `stop` of a solve, which is set after this many tiers were solved and stored."""
    stop, numbers, keep = threading.Event(), itertools.count(1), LocalSteps.write_tier

    def keep_and_count(steps: LocalSteps, tier: int) -> None:
        keep(steps, tier)
        if next(numbers) == tiers:
            stop.set()

    monkeypatch.setattr(LocalSteps, "write_tier", keep_and_count)
    return stop


def edit(path: Path, key: bytes, change: Callable[[bytes], bytes | None]) -> None:
    """Change the value of a key, or delete it if `change` returns None."""
    environment = lmdb.open(str(path / DATA_FILE), subdir=False, lock=False)
    with closing(environment), environment.begin(write=True) as transaction:
        value = change(transaction.get(key))
        if value is None:
            transaction.delete(key)
        else:
            transaction.put(key, value)


def flip(path: Path, key: bytes, at: int) -> None:
    """Flip one bit of the value of a key."""

    def change(stored: bytes) -> bytes:
        data = bytearray(stored)
        data[at % len(data)] ^= 4
        return bytes(data)

    edit(path, key, change)


def forge_info(path: Path, **changes: Any) -> None:
    """Change the metadata and give it a correct checksum."""

    def change(stored: bytes) -> bytes:
        info = TableInfo.from_json(unseal(META, memoryview(stored)))
        return seal(META, replace(info, **changes).to_json())

    edit(path, META, change)
