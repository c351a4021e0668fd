"""Where tables are: the directory, a game's place in it, what lies there, and the command that makes one there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from perfectplay.errors import TableError, UsageError, reason
from perfectplay.files import require_path
from perfectplay.game.game import Game
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lock import DATA_FILE, WriterLock
from perfectplay.table.records import FULL, TableInfo
from perfectplay.table.store import Store, backends


def table_directory() -> Path:
    """Where tables live: $PERFECTPLAY_TABLES, or perfectplay in the user's data directory."""
    if given := os.environ.get("PERFECTPLAY_TABLES"):
        return Path(given)
    if data := os.environ.get("XDG_DATA_HOME"):
        return Path(data) / "perfectplay"
    try:
        return Path.home() / ".local" / "share" / "perfectplay"
    except RuntimeError:
        raise UsageError(
            "you have no home directory to keep tables in: say where with --dir or PERFECTPLAY_TABLES"
        ) from None


def table_path(game: Game, directory: Path | None = None) -> Path:
    """Where the table of a game, with its options, lives."""
    return require_path(directory or usual_directory(game)) / game.identity


def usual_directory(game: Game) -> Path:
    """Where the tables of a game are kept: all together, but those of a file that is not installed beside it."""
    return table_directory() if game.file is None else game.file.with_suffix(".tables")


def solve_command(game: Game, path: Path | None, *, backend: str | None = None, values: str = FULL) -> str:
    """The command that solves a game so that its table is at `path`; with a backend, the one that resumes it."""
    arguments = ["--backend", backend] if backend else []
    if values != FULL:
        arguments += ["--values", values]
    if path is not None and path.name == game.identity and path.parent != usual_directory(game):
        arguments += ["--dir", str(path.parent)]
    return game.command_line(*arguments)


def has_table(path: Path) -> bool:
    """Whether a directory holds a table, sound or not."""
    return _has_data(path) or _others_store(path) is not None


def read_store(path: Path) -> Store | None:
    """The table in a directory, for reading, whichever backend wrote it; None where there is none."""
    if _has_data(path):  # nearly always: without asking all plugins
        return TableReader(path)
    return _others_store(path)


def _has_data(path: Path) -> bool:
    try:
        return (path / DATA_FILE).exists()
    except OSError as error:  # a directory that others keep to themselves
        raise TableError(f"cannot read {path}: {reason(error)}") from None


def _others_store(path: Path) -> Store | None:
    registered = backends().entries.values() if path.is_dir() else []
    return next((store for backend in registered if (store := backend.read(path)) is not None), None)


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table on disk: what it says of itself, or why it cannot be read."""

    path: Path
    info: TableInfo | None = None
    size_on_disk: int = 0
    problem: str | None = None


def find_tables(directory: Path | None = None) -> list[FoundTable]:
    """Every table in a directory, of whatever game and backend, in the order of their names."""
    place = directory or table_directory()
    found = map(_look_at, sorted(place.iterdir()) if place.is_dir() else [])
    return [table for table in found if table is not None]


def _look_at(path: Path) -> FoundTable | None:
    try:
        store = read_store(path)
    except TableError as error:
        return FoundTable(path, problem=str(error))
    if store is None:
        return None
    try:
        return FoundTable(path, store.info, store.size_on_disk)
    finally:
        store.close()


# Deleting a table from disk, and nothing else.


def remove_table(path: Path) -> None:
    """Delete the table in a directory; TableError where there is none, or while somebody writes it.

    Other files in the directory stay, and the directory with them. Those who have the table open keep it.
    """
    if not (path / DATA_FILE).exists():
        raise TableError(f"there is no table in {path}")
    with WriterLock(path):  # which removes the directory, if nothing else is left in it
        try:
            (path / DATA_FILE).unlink()
            (path / "lock.mdb").unlink(missing_ok=True)
        except OSError as error:
            raise TableError(f"cannot remove {path}: {reason(error)}") from None
