"""A whole table put in the place of another: written beside it, compared with what it should be, and renamed.

Those who have the old one open keep it; those who open the table afterwards get the new one. Whatever moment a process
dies at, one of the two is there, whole. The caller holds the table's lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from perfectplay.errors import TableError
from perfectplay.files import sync
from perfectplay.system_errors import reason
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.locking import DATA_FILE, NEW_FILE, WriterLock
from perfectplay.tables.records import KeyRecord, TableInfo, TierRecord
from perfectplay.tables.store import Array, Block, Store


@contextmanager
def new_table(lock: WriterLock, info: TableInfo) -> Iterator[LmdbStore]:
    """A new table, which is put in place when the block ends well."""
    new = lock.directory / NEW_FILE
    store: LmdbStore | None = None
    try:
        new.unlink(missing_ok=True)
        store = LmdbStore(new, info=info)
        yield store
        store.close()
        os.replace(new, lock.directory / DATA_FILE)
        sync(lock.directory)
    except OSError as error:
        raise TableError(f"cannot write {lock.directory}: {reason(error)}") from None
    finally:
        if store is not None:
            store.close()
        new.unlink(missing_ok=True)


def copy_tiers(source: Store, target: Store, keys: Iterable[KeyRecord], values: Iterable[TierRecord]) -> None:
    """Write these tiers of one store to another."""
    for key_record in keys:
        target.write_keys(key_record, _joined(source.key_blocks(key_record), "<u8"))
    for record in values:
        target.write_values(record, _joined(source.value_blocks(record), f"<u{record.width}"))


def _joined(blocks: list[Block], dtype: str) -> Array:
    parts = [np.frombuffer(block, dtype=dtype) for block in blocks]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=dtype), *parts])
