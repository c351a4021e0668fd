"""Where tables are, which ones exist, and opening the table of a game for reading."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from perfectplay.errors import TableError, UsageError, reason
from perfectplay.files import require_path
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.hooks import brief
from perfectplay.game.loading import load_game
from perfectplay.table.compact import CompactStore, CompactTable
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader
from perfectplay.table.records import FULL, TableInfo
from perfectplay.table.store import Store, backends
from perfectplay.table.table import Table
from perfectplay_native.kernel import Kernel

# ---- paths ----

REPLACEMENT = ".replacement"
"""The end of the name of a table that a forced solve writes before it replaces another one."""


def table_directory() -> Path:
    """Return the directory of all tables: $PERFECTPLAY_TABLES, or perfectplay in the user's data directory."""
    if variable := os.environ.get("PERFECTPLAY_TABLES"):
        return Path(variable)
    try:
        return platformdirs.user_data_path("perfectplay", appauthor=False).expanduser()
    except RuntimeError:
        raise UsageError(
            "you have no home directory for tables: choose a directory with --dir or PERFECTPLAY_TABLES"
        ) from None


def usual_directory(game: Game) -> Path:
    """Return the default directory for a game's tables. For a game in a file, it is next to that file."""
    return table_directory() if game.file is None else game.file.with_suffix(".tables")


def table_path(game: Game, directory: Path | None = None) -> Path:
    """Return the path of the table of a game with its options."""
    return require_path(directory or usual_directory(game)) / game.identity


def replacement_path(path: Path) -> Path:
    """Return the directory of the table that a forced solve writes before it replaces the one at `path`."""
    return path.with_name(path.name + REPLACEMENT)


def solve_command(
    game: Game, path: Path | None, *, backend: str | None = None, values: str = FULL, force: bool = False
) -> str:
    """Return the command that solves a game to `path`, or with a `backend` the command that resumes it."""
    arguments = ["--backend", backend] if backend else []
    if values != FULL:
        arguments += ["--values", values]
    if path is not None and path.name == game.identity and path.parent != usual_directory(game):
        arguments += ["--dir", str(path.parent)]
    if force:
        arguments.append("--force")
    return game.command_line(*arguments)


# ---- opening ----


def open_table(
    game: Game | str, path: Path | str | None = None, *, memory: int | None = None, kernel: Kernel | None = None
) -> Table:
    """Open the solved table of a game, read-only. For a game without options, its name is enough.

    `path` is the table's own directory, by default the usual place for this game. The index of an enumerated game takes
    half a byte of memory per position. With `memory`, an index that needs more bytes is stored in unnamed files next to
    the table if that directory is writable. `kernel` has the rules, by default the game's own.

    Any number of threads and processes may read a table. Raises TableError if there is no table, if it is damaged, or
    if it belongs to another game or other rules.

    >>> with open_table("gobblet") as table:
    ...     print(table.probe(0), len(table), 74242 in table)
    win in 13 266238323 True
    """
    if isinstance(game, str):
        game = load_game(game)
    if not isinstance(game, Game):
        raise UsageError(f"open_table takes a game or its name, not {brief(game)}")
    path = Path(path) if path is not None else table_path(game)
    store = read_store(path)
    if store is None:
        raise TableError(f"there is no table of {game.name} in {path}: run `{solve_command(game, path)}` first")
    require_same_game(store, game)
    kernel, resume = kernel or game_kernel(game), _resume_command(store, game)
    if isinstance(store, TableReader) and store.info.compact:
        return CompactTable(game, CompactStore(store, kernel), kernel, resume_command=resume)
    return Table(game, store, kernel, memory=memory, resume_command=resume)


def _resume_command(store: Store, game: Game) -> str:
    return solve_command(game, store.path, backend=store.backend, values=store.info.values)


def _may_lack_wins(game: Game) -> bool:
    """Return whether the values that a kernel's `wins_now` gave may be missing in a game that now is in Python."""
    return game.kernel is None and not game.has_score  # `wins_now` is not called in games with scores


def require_same_game(store: Store, game: Game) -> None:
    """Close a store and raise TableError if it contains another game, other options or other rules."""
    require_same_options(store, game)
    info = store.info
    omits = bool(info.storage.get("drops_settled"))
    if info.rules_version == game.rules_version and not (omits and _may_lack_wins(game)):
        return
    again = f"replace it with `{solve_command(game, store.path, force=True)}`"
    if info.rules_version == game.rules_version:
        problem = f"was made compact with a C kernel, but {game.name} has none any more: {again}"
    elif game.file is not None:
        problem = f"was made before {game.file} changed: run `{solve_command(game, store.path)}` again"
    elif game.dates_rules_by_code:
        problem = (
            f"was made before the code of {game.name} changed: {again} (define RULES_VERSION to control when tables "
            "expire)"
        )
    else:
        problem = (
            f"was made for version {info.rules_version} of the rules of {game.name}, but the game has version "
            f"{game.rules_version}: {again}"
        )
    store.close()
    raise TableError(f"{store.path} {problem}")


def require_same_options(store: Store, game: Game) -> None:
    """Close a store and raise TableError if it contains another game or other options."""
    info = store.info
    if info.game != game.name:
        problem = f"holds a table of {info.game}, not of {game.name}"
    elif info.options != game.options:
        problem = f"holds a table with other options: {info.options}, not {game.options}"
    else:
        return
    store.close()
    raise TableError(f"{store.path} {problem}")


def require_same_values(store: Store, game: Game, values: str) -> None:
    """Close a store and raise TableError if it contains values of the other kind, because a table never mixes them."""
    info = store.info
    if info.values == values:
        return
    kind = "outcomes only" if info.outcomes else "full values"
    use = "use it" if info.status == "complete" else f"resume it with `{_resume_command(store, game)}`"
    store.close()
    raise TableError(
        f"{store.path} holds a table of {game.identity} with {kind}: {use}, replace it with --force, or keep both with "
        "--dir"
    )


def read_store(path: Path) -> Store | None:
    """Open the table in a directory for reading, whatever its backend; None if there is none."""
    return TableReader(path) if _has_data_file(path) else _plugin_store(path)


def has_table(path: Path) -> bool:
    """Return whether a directory contains a table, damaged or not."""
    return _has_data_file(path) or _plugin_store(path) is not None


def _has_data_file(path: Path) -> bool:
    try:
        return (path / DATA_FILE).exists()
    except OSError as error:  # a private directory of another user
        raise TableError(f"cannot read {path}: {reason(error)}") from None


def _plugin_store(path: Path) -> Store | None:
    """Open the table of another backend. Loading plugins takes time, so this is the last resort."""
    registered = backends().entries.values() if path.is_dir() else []
    return next((store for backend in registered if (store := backend.read(path)) is not None), None)


# ---- listing ----


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A table on disk: its metadata, or the reason why it cannot be read."""

    path: Path
    info: TableInfo | None = None
    size_on_disk: int = 0
    changed: float = 0.0
    """The time when its newest file was written."""
    problem: str | None = None

    @property
    def replaces(self) -> bool:
        """Whether an interrupted forced solve wrote it; the table that it would replace is listed too."""
        return self.path.name.endswith(REPLACEMENT)


def find_tables(directory: Path | None = None) -> list[FoundTable]:
    """Return all tables in a directory, of any game and backend, sorted by name."""
    directory = directory or table_directory()
    try:
        paths = sorted(directory.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise TableError(f"cannot read {directory}: {reason(error)}") from None
    return [table for path in paths if (table := _describe(path)) is not None]


def _describe(path: Path) -> FoundTable | None:
    """Describe the table in a directory; None if there is none, perhaps because it has just been removed."""
    changed = 0.0
    try:
        changed = modification_time(path)
        store = read_store(path)
        if store is None:
            return None
        with store:
            return FoundTable(path, store.info, store.size_on_disk, changed)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except TableError as error:
        removed = not path.is_dir() or (os.access(path, os.X_OK) and not has_table(path))
        return None if removed else FoundTable(path, changed=changed, problem=str(error))
    except OSError as error:
        return FoundTable(path, problem=f"cannot read {path}: {reason(error)}")


def modification_time(path: Path) -> float:
    """Return the time when the newest file in a directory was written. Files may be removed meanwhile."""
    newest = 0.0
    for file in path.iterdir():
        with suppress(FileNotFoundError):
            newest = max(newest, file.stat().st_mtime)
    return newest or path.stat().st_mtime
