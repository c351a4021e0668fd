"""Backends: where a solve stores finished tiers. The built-in ones register like those of plugins.

Solving with the lmdb backend over an existing table depends on the state of that table:

    no table                        create one
    another game                    TableError; nothing changes
    other rules, other values,      TableError, which names --force; nothing changes
    another format, metadata or
    pages damaged
    complete and intact             return it, read-only; there is nothing to solve
    unfinished and intact           resume: append to it
    some tiers damaged, or compact  copy the intact tiers to a new table, which replaces this one, then resume;
    and unfinished                  the missing tiers are solved again

Nothing is repaired in place, so readers keep the table that they opened. The memory backend saves a whole table in the
same way at the end of a solve, and checks before the solve that it can.

A forced solve keeps the old table until the new one is complete. A durable backend writes the new one to a separate
directory, `GAME.replacement`, where the same command resumes it after an interruption.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from perfectplay.errors import DamagedTable, TableError, reason
from perfectplay.files import sync
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.spec import hookimpl
from perfectplay.table.compact import CompactStore
from perfectplay.table.lmdb_reader import DATA_FILE, DamagedPages, TableFile, TableReader
from perfectplay.table.lmdb_store import LmdbStore, WriterLock, new_table
from perfectplay.table.locations import (
    replacement_path,
    require_same_game,
    require_same_options,
    require_same_values,
    solve_command,
)
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord
from perfectplay.table.store import Backend, MemoryStore, Store


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
        finished = _prepare(game, lock, info.values)  # raises if the table cannot be resumed
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


def _read_damaged(game: Game, path: Path, values: str) -> TableReader:
    """Read a table of this game, omitting damaged records.

    Raises TableError for another game or other values, and if the table is damaged beyond repair.
    """
    try:
        reader = TableReader(path, source=TableFile(path / DATA_FILE, repairing=True))
    except DamagedTable as error:
        raise TableError(f"{error}; replace it with `{solve_command(game, path, force=True)}`") from None
    require_same_game(reader, game)
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


def claim_place(game: Game, path: Path, values: str | None) -> WriterLock:
    """Lock the directory of a game's table before a solve that replaces it at the end.

    Raises TableError if the directory cannot be written or contains the table of another game. With `values`, a table
    with other values or other rules, or one that is damaged beyond repair, is refused too.
    """
    lock = WriterLock(path)
    with lock.release_on_error():
        if (path / DATA_FILE).exists():
            if values is not None:
                _read_damaged(game, path, values)
            else:
                _require_replaceable(game, path)
    return lock


def _require_replaceable(game: Game, path: Path) -> None:
    if not (path / DATA_FILE).is_file():
        raise TableError(f"cannot replace {path / DATA_FILE}: it is not a regular file")
    try:
        reader = TableReader(path, source=TableFile(path / DATA_FILE, repairing=True))
    except TableError:
        return  # damaged, or of another format
    require_same_options(reader, game)


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
        same = replace(reader.info, storage={}, host_version="") == replace(source.info, storage={}, host_version="")
        return same and not reader.info.compact and all(map(reader.is_intact, records))
    return False


# ---- replacing a table ----


def is_outdated(game: Game, path: Path) -> bool:
    """Return whether a directory has the table of a game in a file that has changed since; a solve replaces it."""
    if game.file is None:
        return False
    with suppress(TableError):  # the solve reports it
        info = TableReader(path).info
        return info.game == game.name and info.rules_version != game.rules_version
    return False


class Replacement:
    """The table of a durable backend that is solved while the old one stays in the locked directory `place`."""

    def __init__(self, backend: Backend, place: WriterLock) -> None:
        self._backend = backend
        self._target = place.directory
        self._path = replacement_path(place.directory)

    def open(self, game: Game, info: TableInfo) -> Store:
        """Open the replacement: a new one, or one that the same command began."""
        if not self._can_resume(game, info):
            self.remove()
        return self._backend.open(game, self._path, info)

    def _can_resume(self, game: Game, info: TableInfo) -> bool:
        try:
            store = self._backend.read(self._path) or TableReader(self._path)
            require_same_game(store, game)
            require_same_values(store, game, info.values)
        except TableError:
            return False
        return True

    def install(self) -> Path:
        """Let the finished replacement, which is closed, replace the old table. Returns the path of the table.

        An LMDB file is renamed, so there is one complete table at any moment. For the backend of a plugin, the whole
        directory is renamed after the old one, and a crash in between leaves both under other names.
        """
        target = self._target
        try:
            if issubclass(self._backend.store, LmdbStore):
                os.replace(self._path / DATA_FILE, target / DATA_FILE)
                sync(target)
                self.remove()
            else:
                old = target.with_name(f"{target.name}.old")
                shutil.rmtree(old, ignore_errors=True)
                target.rename(old)
                self._path.rename(target)
                sync(target.parent)
                shutil.rmtree(old)
        except OSError as error:
            raise TableError(f"cannot replace the table {target} by {self._path}: {reason(error)}") from None
        return target

    def remove(self) -> None:
        """Remove the replacement, if there is one."""
        if not self._path.is_dir():
            return
        if issubclass(self._backend.store, LmdbStore):
            with WriterLock(self._path):  # on release, it removes an empty directory
                (self._path / DATA_FILE).unlink(missing_ok=True)
        else:
            shutil.rmtree(self._path)
