"""Opening a game's table, if it is really that game's."""

from __future__ import annotations

from pathlib import Path

from perfectplay.errors import TableError, UsageError
from perfectplay.game.engine import game_kernel
from perfectplay.game.game import Game
from perfectplay.game.hooks import brief
from perfectplay.game.loading import load_game
from perfectplay.table.compact import CompactStore
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.locations import read_store, solve_command, table_path
from perfectplay.table.store import Store
from perfectplay.table.table import CompactTable, Table


def open_table(game: Game | str, path: Path | str | None = None, *, memory: int | None = None) -> Table:
    """Open the solved table of a game (the name will do if it has no options), read-only.

    `path` is the table's own directory; by default it is looked for where tables are kept. The keys of a game without
    an index are looked up by way of half a byte a position, in memory; with `memory`, what goes beyond so many bytes is
    in files without names beside the table, if one may write there.

    A table may be read by any number of threads and processes at once. Raises TableError where there is none, where
    it is damaged, or where it belongs to another game or other rules.

    >>> with open_table("gobblet") as table:
    ...     print(table.probe(0), len(table), 74242 in table)
    win in 13 266238323 True
    """
    if isinstance(game, str):
        game = load_game(game)
    if not isinstance(game, Game):
        raise UsageError(f"open_table takes a game or its name, not {brief(game)}")
    where = Path(path) if path is not None else table_path(game)
    store = read_store(where)
    if store is None:
        raise TableError(f"there is no table of {game.name} in {where}: run `{solve_command(game, where)}` first")
    require_same_game(store, game)
    kernel = game_kernel(game)
    if not (isinstance(store, TableReader) and store.info.compact):
        return Table(game, store, kernel, memory=memory)
    # What was read once is read on: by now there may be another table in this place.
    return CompactTable(game, CompactStore(where, kernel=kernel, snapshot=store.snapshot), kernel)


def require_same_values(store: Store, game: Game, values: str) -> None:
    """TableError where a store holds values of the other kind: neither is ever mixed with the other, or lost to it."""
    found = store.info
    if found.values == values:
        return
    kind = "outcomes alone" if found.outcomes else "full values"
    use = "use it"
    if found.status != "complete":
        use = f"resume it with `{solve_command(game, store.path, backend=store.backend, values=found.values)}`"
    store.close()
    raise TableError(
        f"{store.path} holds a table of {game.identity} with {kind}: {use}, replace it with --force, or keep both with "
        "--dir"
    )


def require_same_game(store: Store, game: Game) -> None:
    """TableError where a store holds another game, or this one under other rules; the store is closed then."""
    found = store.info
    problem = None
    if found.game != game.name:
        problem = f"holds a table of {found.game}, not of {game.name}"
    elif found.options != game.options:
        problem = f"holds a table with other options: {found.options}, not {game.options}"
    elif found.rules_version != game.rules_version and game.file is not None:
        problem = f"was made before {game.file} changed: run `{game.command_line()}` again"
    elif found.rules_version != game.rules_version and game.dates_rules_by_code:
        problem = (
            f"was made before the code of {game.name} changed: delete it and solve again (a game with a RULES_VERSION "
            f"says itself when its rules change)"
        )
    elif found.rules_version != game.rules_version:
        problem = (
            f"was made under version {found.rules_version} of the rules of {game.name}, this is version "
            f"{game.rules_version}: delete it and solve again"
        )
    if problem:
        store.close()
        raise TableError(f"{store.path} {problem}")
