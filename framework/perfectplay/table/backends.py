"""Backends: where a solve stores finished tiers. The built-in ones register like those of plugins.

Solving with the lmdb backend over an existing table depends on the state of that table:

    no table                        create one
    another game, other rules,      TableError; nothing changes
    other values, another format
    complete and intact             return it, read-only; there is nothing to solve
    unfinished and intact           resume: append to it
    some tiers damaged, or compact  copy the intact tiers to a new table, which replaces this one, then resume;
    and unfinished                  the missing tiers are solved again
    metadata or pages damaged       TableError: delete it and solve again

Nothing is repaired in place, so readers keep the table that they opened. The memory backend saves a whole table in the
same way at the end of a solve, and checks before the solve that it can.
"""

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
from perfectplay.table.lmdb_reader import DATA_FILE, DamagedPages, TableFile, TableReader
from perfectplay.table.lmdb_store import LmdbStore, WriterLock, new_table
from perfectplay.table.locations import require_same_game, require_same_values
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord
from perfectplay.table.store import MemoryStore, Store


class MemoryBackend:
    """Keeps all tiers in memory. The finished table is saved as an LMDB file."""

    durable = False
    store = MemoryStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return MemoryStore(info)

    def read(self, path: Path) -> Store | None:
        return None


class LmdbBackend:
    """Writes every finished tier to disk at once."""

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


# ---- solving to disk ----


def open_to_solve(game: Game, path: Path, info: TableInfo) -> Store:
    """Open or create the LMDB table at `path`, as the head of this module describes."""
    lock = WriterLock(path)
    with lock.release_on_error():
        if not (path / DATA_FILE).exists():
            with new_table(lock, info):  # a table always has metadata
                pass
        finished = _prepare(game, lock, info.values)
        if finished is not None:
            lock.release()
            return finished
        store = LmdbStore(path / DATA_FILE, lock=lock)
        if store.info.host_version != info.host_version:
            store.set_info(replace(store.info, host_version=info.host_version))
        return store


def _prepare(game: Game, lock: WriterLock, values: str) -> Store | None:
    """Make the existing table one that can be resumed. Returns it if it is complete and intact."""
    store = _read_damaged(game, lock.directory, values)
    if store.info.compact:
        store = CompactStore(store, game_kernel(game))
    info, file = store.info, store.source
    keys = [record for record in store.key_records().values() if store.is_intact(record)]
    tiers = [record for record in store.tier_records().values() if store.is_intact(record)]
    all_keys, all_tiers = len(keys) == file.count_records(b"K"), len(tiers) == file.count_records(b"T")
    intact = all_keys and all_tiers and _is_whole(file)
    if intact and info.status == "complete":
        return store
    if not intact or info.compact:
        enumerated = info.indexing == "ranked" or (all_keys and info.status != "enumerating")
        status = "solving" if enumerated else "enumerating"
        with new_table(lock, replace(info, status=status, hash=None, storage={})) as target:
            target.copy_tiers(store, keys, tiers)
    return None


def _read_damaged(game: Game, path: Path, values: str | None) -> TableReader:
    """Read a table of this game, omitting damaged records. Raises TableError for another game or other values."""
    reader = TableReader(path, source=TableFile(path / DATA_FILE, repairing=True))
    require_same_game(reader, game)
    if values is not None:
        require_same_values(reader, game, values)
    return reader


def _is_whole(file: TableFile) -> bool:
    try:
        file.check_whole()
        file.snapshot.check_free_pages()
    except (DamagedTable, DamagedPages):
        return False
    return True


# ---- saving a table that was solved in memory ----


def claim_place(game: Game, path: Path, values: str | None = None) -> WriterLock:
    """Lock the directory of a game's table before a solve in memory.

    Raises TableError if the directory cannot be written or contains the table of another game, or, with `values`, a
    table with other values.
    """
    lock = WriterLock(path)
    with lock.release_on_error():
        if (path / DATA_FILE).exists():
            _read_damaged(game, path, values)
    return lock


def remove_outdated(game: Game, path: Path) -> None:
    """Remove the table of a game in a file that has changed since, because it is about to be replaced."""
    if game.file is None or not (path / DATA_FILE).exists():
        return
    with WriterLock(path), suppress(DamagedTable):  # the solve reports a damaged table
        info = TableReader(path).info
        if info.game == game.name and info.rules_version != game.rules_version:
            (path / DATA_FILE).unlink()


def save_table(source: Store, lock: WriterLock) -> None:
    """Write a whole table to the locked directory, unless it already contains the same table, intact."""
    if _is_saved(source, lock.directory):
        return
    info = source.info
    with new_table(lock, replace(info, status="solving", hash=None, storage={})) as target:
        target.copy_tiers(source, source.key_records().values(), source.tier_records().values())
        target.set_info(replace(info, storage=target.info.storage))


def _is_saved(source: Store, path: Path) -> bool:
    with suppress(TableError):
        reader = TableReader(path)
        records: list[KeyRecord | TierRecord] = [*reader.key_records().values(), *reader.tier_records().values()]
        return reader.info.hash == source.info.hash and not reader.info.compact and all(map(reader.is_intact, records))
    return False
