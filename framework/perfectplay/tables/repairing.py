"""Opening a table to resume solving it: what can still be trusted is kept, and the rest is solved again.

Nothing is mended in place. Where something is damaged, the sound tiers are copied to a new table, which replaces the
damaged one; readers who have that open do not notice.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from perfectplay.errors import DamagedTable
from perfectplay.game import Game
from perfectplay.kernels import game_kernel
from perfectplay.tables.compact import CompactStore
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.locking import DATA_FILE, WriterLock
from perfectplay.tables.opening import require_same_game
from perfectplay.tables.pages import DamagedPages
from perfectplay.tables.reader import TableReader
from perfectplay.tables.records import KeyRecord, TableInfo, TierRecord
from perfectplay.tables.replacing import copy_tiers, new_table
from perfectplay.tables.store import Store


def open_to_solve(game: Game, path: Path, info: TableInfo) -> Store:
    """The table at `path`, every tier in it sound; a new one where there is none. A finished one can only be read."""
    lock = WriterLock(path)
    with lock.held_unless_failing():
        if not (path / DATA_FILE).exists():
            with new_table(lock, info):  # so that there is never a table without metadata
                pass
        finished = _resumable(game, path, lock)
        if finished is not None:
            lock.release()
            return finished
        store = LmdbStore(path / DATA_FILE, lock=lock)
        if store.info.host_version != info.host_version:
            store.set_info(replace(store.info, host_version=info.host_version))
        return store


def _resumable(game: Game, path: Path, lock: WriterLock) -> Store | None:
    """Make the table at `path` one that can be trusted and resumed; where there is nothing to do, the table itself."""
    found = TableReader(path, repairing=True)
    require_same_game(found, game)
    source = found
    if found.info.compact:
        source = CompactStore(path, kernel=game_kernel(game), repairing=True, snapshot=found.snapshot)
    keys = [record for record in source.key_records().values() if source.is_intact(record)]
    values = [record for record in source.tier_records().values() if source.is_intact(record)]
    sound = _is_sound(source, keys, values)
    if sound and source.info.status == "complete":
        return source
    if not sound or source.info.compact:
        _rebuild(source, lock, keys, values)
    return None


def _is_sound(source: TableReader, keys: list[KeyRecord], values: list[TierRecord]) -> bool:
    with suppress(DamagedTable, DamagedPages):
        source.check_whole()
        source.snapshot.check_free_pages()
        return len(keys) == source.records_stored(b"K") and len(values) == source.records_stored(b"T")
    return False


def _rebuild(source: TableReader, lock: WriterLock, keys: list[KeyRecord], values: list[TierRecord]) -> None:
    """Put a table of the sound tiers in the place of a damaged one."""
    info = source.info
    enumerated = info.indexing == "enumerated"
    all_keys = len(keys) == source.records_stored(b"K") and info.status != "enumerating"
    status = "enumerating" if enumerated and not all_keys else "solving"
    with new_table(lock, replace(info, status=status, hash=None, storage={})) as target:
        copy_tiers(source, target, keys, values)
