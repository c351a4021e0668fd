"""A whole table put in the place of another: written beside it, compared with what it should be, and renamed.

Those who have the old one open keep it; those who open the table afterwards get the new one. Whatever moment a process
dies at, one of the two is there, whole. The caller holds the table's lock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from perfectplay.errors import TableError
from perfectplay.files import sync
from perfectplay.system_errors import reason
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.locking import DATA_FILE, NEW_FILE, WriterLock
from perfectplay.tables.records import KeyRecord, TableInfo, TierRecord
from perfectplay.tables.store import Store


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


def copy_tiers(source: Store, target: LmdbStore, keys: Iterable[KeyRecord], values: Iterable[TierRecord]) -> None:
    """Write these tiers of a store to a table, block by block: a large tier must not lie in memory twice."""
    for key_record in keys:
        target.write_blocks(key_record, source.key_blocks(key_record))
    for record in values:
        target.write_blocks(record, source.value_blocks(record))
