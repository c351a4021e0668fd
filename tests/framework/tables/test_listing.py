"""Listing and reading tables while other processes remove, solve and replace them."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress

import platformdirs
import pytest
from platformdirs.macos import MacOS

from perfectplay import open_table, solve_game
from perfectplay.errors import TableError
from perfectplay.table import lmdb_reader, locations
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader
from perfectplay.table.lmdb_store import remove_table
from perfectplay.table.locations import find_tables

from ...cli import solve


def remove_during(monkeypatch, module, name, path, *, before: bool) -> None:
    """Remove a table just before or just after a function of a module is called for the first time."""
    function, calls = getattr(module, name), []

    def call(*arguments, **keywords):
        calls.append(1)
        if before and len(calls) == 1:
            shutil.rmtree(path)
        result = function(*arguments, **keywords)
        if not before and len(calls) == 1:
            shutil.rmtree(path)
        return result

    monkeypatch.setattr(module, name, call)


@pytest.mark.parametrize(
    ("module", "name", "before"),
    [
        (locations, "_describe", True),
        (locations, "read_store", True),
        (locations, "read_store", False),
        (locations, "TableReader", True),
        (lmdb_reader, "_map", True),
        (lmdb_reader, "_map", False),
        (lmdb_reader, "read_snapshot", False),
    ],
)
def test_table_removed_during_a_listing_is_no_error(game, plain, solved, monkeypatch, module, name, before):
    other = shutil.copytree(solved, plain.with_name("other"))
    remove_during(monkeypatch, module, name, plain, before=before)
    listed = solve("tables", "--dir", plain.parent)
    assert listed.exit_code == 0, listed.output
    assert other.name in listed.stdout
    assert not plain.exists()


def test_the_default_directory_is_that_of_the_system(monkeypatch):
    """On macOS it is not ~/.local/share."""
    monkeypatch.delenv("PERFECTPLAY_TABLES", raising=False)
    monkeypatch.setattr(
        platformdirs, "user_data_path", lambda *names, **options: MacOS(*names, **options).user_data_path
    )
    assert locations.table_directory().parts[-3:] == ("Library", "Application Support", "perfectplay")


def test_file_removed_during_a_listing_is_no_error(plain, monkeypatch):
    (plain / "data.mdb.new").write_bytes(b"")
    system_stat = os.stat

    def remove_and_stat(path, *arguments, **keywords):
        if str(path).endswith(".new"):
            os.unlink(path)
        return system_stat(path, *arguments, **keywords)

    monkeypatch.setattr(os, "stat", remove_and_stat)
    listed = solve("tables", "--dir", plain.parent)
    assert listed.exit_code == 0, listed.output
    assert "ladder" in listed.stdout


def test_open_table_keeps_its_size_after_it_was_removed(game, plain):
    size = (plain / DATA_FILE).stat().st_size
    with open_table(game, plain) as table:
        remove_table(plain)
        assert table.size_on_disk == size


def test_tables_are_listed_and_opened_while_they_are_solved_and_removed(game, solved, tmp_path):
    expected, done, errors = TableReader(solved).info.hash, threading.Event(), []

    listings = 0

    def write() -> None:
        rounds = 0
        try:
            while rounds < 5 or listings < 20:
                solve_game(game, backend="lmdb", directory=tmp_path).table.close()
                remove_table(tmp_path / "ladder")
                rounds += 1
        except Exception as error:
            errors.append(error)
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        for found in find_tables(tmp_path):
            assert found.info is None or found.info.hash in (None, expected)
        with suppress(TableError):  # there is none, or it has just been removed
            open_table(game, tmp_path / "ladder").close()
        listings += 1
    writer.join()
    assert not errors
