"""Finding a game's table and opening it, if it is really that game's."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from perfectplay.errors import TableError
from perfectplay.game import Game
from perfectplay.kernels import game_kernel
from perfectplay.tables.compact import CompactStore, is_compact
from perfectplay.tables.records import TableInfo
from perfectplay.tables.store import LmdbStore
from perfectplay.tables.table import CompactTable, Table


def table_directory() -> Path:
    """Where tables live: $PERFECTPLAY_TABLES, or perfectplay in the user's data directory."""
    if given := os.environ.get("PERFECTPLAY_TABLES"):
        return Path(given)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "perfectplay"


def table_path(game: Game, directory: Path | None = None) -> Path:
    """Where the table of a game, with its options, lives."""
    return (directory or table_directory()) / game.identity


def open_store(game: Game, path: Path, *, writable: bool = False, info: TableInfo | None = None) -> LmdbStore:
    """The store at `path`, if it is this game's under these rules."""
    store = LmdbStore(path, writable=writable, info=info)
    found = store.info
    problem = None
    if found.game != game.name:
        problem = f"holds a table of {found.game}, not of {game.name}"
    elif found.options != game.options:
        problem = f"holds a table with other options: {found.options}, not {game.options}"
    elif found.rules_version != game.rules_version:
        problem = (
            f"was made under version {found.rules_version} of the rules of {game.name}, this is version "
            f"{game.rules_version}: delete it and solve again"
        )
    if problem:
        store.close()
        raise TableError(f"{path} {problem}")
    if writable and info is not None and found.status == "solving" and found.host_version != info.host_version:
        store.set_info(replace(found, host_version=info.host_version))
    return store


def open_table(game: Game, path: Path | str | None = None) -> Table:
    """Open the solved table of a game, read-only; `path` is the table's own directory.

    A table may be read by any number of threads and processes at once. Raises TableError where there is none, where
    it is damaged, or where it belongs to another game or other rules.

    >>> from perfectplay import load_game
    >>> with open_table(load_game("gobblet")) as table:
    ...     table.probe(0)
    Value(outcome=<Outcome.WIN: 1>, remoteness=13)
    """
    where = Path(path) if path is not None else table_path(game)
    if not (where / "data.mdb").exists():
        raise TableError(f"there is no table of {game.name} in {where}: run `solve {game.name}` first")
    kernel = game_kernel(game)
    store = open_store(game, where)
    if not is_compact(store.info):
        return Table(game, store, kernel)
    store.close()
    return CompactTable(game, CompactStore(where, kernel=kernel), kernel)
