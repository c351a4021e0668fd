"""A table that was solved in memory goes to disk as a whole. Whether it can is found out before the solve."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from perfectplay.errors import DamagedTable, TableError
from perfectplay.game import Game
from perfectplay.tables.locking import DATA_FILE, WriterLock
from perfectplay.tables.opening import require_same_game, require_same_values
from perfectplay.tables.reader import TableReader
from perfectplay.tables.records import KeyRecord, TierRecord
from perfectplay.tables.replacing import copy_tiers, new_table
from perfectplay.tables.store import Store


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
