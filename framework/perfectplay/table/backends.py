"""Backends: where a solve keeps its finished tiers. Ours register as a third party's do: `register_backends`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from perfectplay.errors import DamagedTable, TableError
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.spec import hookimpl
from perfectplay.table.compact import CompactStore
from perfectplay.table.lmdb_pages import DamagedPages
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lmdb_store import LmdbStore, copy_tiers, new_table
from perfectplay.table.lock import DATA_FILE, WriterLock
from perfectplay.table.opening import require_same_game, require_same_values
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord
from perfectplay.table.store import MemoryStore, Store


class MemoryBackend:
    """Everything in memory; the finished table is saved at the end, as LMDB would have."""

    durable = False
    store = MemoryStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return MemoryStore(info)

    def read(self, path: Path) -> Store | None:
        return None


class LmdbBackend:
    """Every finished tier goes to disk at once."""

    durable = True
    store = LmdbStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return open_to_solve(game, path, info)

    def read(self, path: Path) -> Store | None:
        return TableReader(path) if (path / DATA_FILE).exists() else None


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("memory", MemoryBackend())
    register("lmdb", LmdbBackend())


# Opening a table to resume solving it: what can still be trusted is kept, and the rest is solved again.
#
# Nothing is mended in place. Where something is damaged, the sound tiers are copied to a new table, which replaces the
# damaged one; readers who have that open do not notice.


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


# A table that was solved in memory goes to disk as a whole. Whether it can is found out before the solve.


def claim_place(game: Game, path: Path, values: str | None = None) -> WriterLock:
    """Lock the place where a game's table is to go; TableError where it cannot be written, or holds another's table.

    With `values`, a table of the other kind is such a table too.
    """
    lock = WriterLock(path)
    with lock.held_unless_failing():
        if (path / DATA_FILE).exists():
            there = TableReader(path, repairing=True)
            require_same_game(there, game)
            if values is not None:
                require_same_values(there, game, values)
    return lock


def remove_outdated(game: Game, path: Path) -> None:
    """Remove the table of a game in a file that has changed since: it is about to be replaced."""
    if game.file is None or not (path / DATA_FILE).exists():
        return
    with WriterLock(path), suppress(DamagedTable):  # of that, whoever writes there will complain
        found = TableReader(path).info
        if found.game == game.name and found.rules_version != game.rules_version:
            (path / DATA_FILE).unlink()


def save_table(source: Store, lock: WriterLock) -> None:
    """Write a whole table in place of what is there, unless that is the same table and sound."""
    if _is_there(source, lock.directory):
        return
    info = source.info
    with new_table(lock, replace(info, status="solving", hash=None, storage={})) as target:
        copy_tiers(source, target, source.key_records().values(), source.tier_records().values())
        target.set_info(replace(info, storage=target.info.storage))


def _is_there(source: Store, path: Path) -> bool:
    with suppress(TableError):
        there = TableReader(path)
        records: list[KeyRecord | TierRecord] = [*there.key_records().values(), *there.tier_records().values()]
        return there.info.hash == source.info.hash and not there.info.compact and all(map(there.is_intact, records))
    return False
