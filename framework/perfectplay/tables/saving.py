"""Writing a whole table to disk: what a solve in memory ends with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay.errors import TableError
from perfectplay.game import Game
from perfectplay.tables.lmdb_store import remove_table
from perfectplay.tables.opening import open_store
from perfectplay.tables.store import Store


def check_writable(path: Path) -> None:
    """A directory that cannot be written is better known before the solve than after it."""
    place = path
    while not place.exists():
        place = place.parent
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError:
        raise TableError(
            f"cannot write the table to {path}: {place} is not a writable directory (use --dir or --no-save)"
        ) from None


def save_table(game: Game, source: Store, path: Path) -> None:
    """Write a whole table to disk, in place of what was there for the same game."""
    with_info = replace(source.info, status="solving", hash=None)
    target = open_store(game, path, writable=True, info=with_info)
    if _has_other_contents(target, source):  # the author changed the rules, and not their version
        target.close()
        remove_table(path)
        target = open_store(game, path, writable=True, info=with_info)
    try:
        records = target.tier_records()
        keys = target.key_records()
        for key_record in source.key_records().values():
            if keys.get(key_record.tier) != key_record or not target.is_intact(key_record):
                target.write_keys(key_record, _joined(source.key_blocks(key_record), "<u8"))
        for record in source.tier_records().values():
            if records.get(record.tier) != record or not target.is_intact(record):
                target.write_values(record, _joined(source.value_blocks(record), f"<u{record.width}"))
        target.set_info(replace(source.info, storage=target.info.storage))
    finally:
        target.close()


def _has_other_contents(target: Store, source: Store) -> bool:
    """Whether something in a table on disk is not what was found now."""
    values, keys = source.tier_records(), source.key_records()
    return any(values.get(tier) != record for tier, record in target.tier_records().items()) or any(
        keys.get(tier) != record for tier, record in target.key_records().items()
    )


def _joined(blocks: Sequence[memoryview], dtype: str) -> npt.NDArray[Any]:
    parts = [np.frombuffer(block, dtype=dtype) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=dtype), *parts])
