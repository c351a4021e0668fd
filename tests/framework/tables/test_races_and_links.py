"""Several processes, several names for one file, files put back: a table stays right, or says what is wrong."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from perfectplay import Game, open_table, solve_game
from perfectplay.errors import DamagedTable, TableError
from perfectplay.files import lock_file
from perfectplay.table import lock as locking
from perfectplay.table import opening
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_pages import read_snapshot
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.locations import remove_table, table_path
from perfectplay.table.lock import DATA_FILE, WriterLock
from perfectplay.table.records import number_key

from ..damage import edit
from . import ladder
from .campaign import REPORTED, RIGHT, WRONG, in_child

POSITIONS = range(ladder.RING * ladder.RUNGS)


def quiet(done: int) -> None: ...


def codes(game: Game, path: Path) -> list[int]:
    with open_table(game, path) as table:
        return table.probe_many(POSITIONS).tolist()


# ---- races ----


def test_a_compact_table_that_is_replaced_while_it_is_opened_is_not_called_damaged(
    game, solved, compacted, tmp_path, monkeypatch
):
    path = shutil.copytree(compacted, tmp_path / "ladder")
    require = opening.require_same_game

    def replaced_meanwhile(store, game):
        shutil.copy(solved / DATA_FILE, tmp_path / "other")
        os.replace(tmp_path / "other", path / DATA_FILE)
        require(store, game)

    monkeypatch.setattr(opening, "require_same_game", replaced_meanwhile)
    assert codes(game, path) == codes(game, solved)


def test_readers_beside_compaction_and_solving_again_are_told_nothing_wrong(game, solved, tmp_path):
    path = shutil.copytree(solved, tmp_path / "ladder")
    expected, deadline = codes(game, solved), time.monotonic() + 3

    def write() -> int:
        while time.monotonic() < deadline:
            with open_table(game, path) as table:
                compact_table(table, None, progress=quiet)
            solve_game(game, directory=tmp_path).table.close()  # puts a plain one in its place
        return RIGHT

    def read() -> int:
        while time.monotonic() < deadline:
            with open_table(game, path) as table:
                if not table.complete or table.probe_many(POSITIONS).tolist() != expected:
                    return WRONG
        return RIGHT

    outcomes: list[int] = []
    threads = [threading.Thread(target=lambda work=work: outcomes.append(in_child(work))) for work in (write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [RIGHT, RIGHT]


def test_a_directory_that_its_last_writer_removes_is_made_again(tmp_path, monkeypatch):
    directory = tmp_path / "ladder"
    right, removed = os.open, []

    def removed_meanwhile(path, *arguments):
        if not removed:
            removed.append(path)
            directory.rmdir()
        return right(path, *arguments)

    monkeypatch.setattr(locking.os, "open", removed_meanwhile)
    WriterLock(directory).release()
    assert removed


# ---- one file under several names ----


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_one_file_under_two_names_has_one_writer(game, solved, tmp_path, link):
    one, two = tmp_path / "one" / "ladder", tmp_path / "two" / "ladder"
    shutil.copytree(solved, one)
    two.mkdir(parents=True)
    link(one / DATA_FILE, two / DATA_FILE)
    with (one / DATA_FILE).open() as by_another:
        writer = LmdbStore(two / DATA_FILE)
        with pytest.raises(BlockingIOError):
            lock_file(by_another.fileno())
        writer.close()
        lock_file(by_another.fileno())
        with pytest.raises(TableError, match="another process is writing"):
            LmdbStore(two / DATA_FILE)
    assert codes(game, two) == codes(game, solved)


def test_a_link_is_replaced_and_what_it_leads_to_stays(game, solved, tmp_path):
    path = tmp_path / "ladder"
    path.mkdir()
    (path / DATA_FILE).symlink_to(solved / DATA_FILE)
    before = (solved / DATA_FILE).read_bytes()
    with open_table(game, path) as table:
        compact_table(table, None, progress=quiet)
    assert not (path / DATA_FILE).is_symlink()
    assert (solved / DATA_FILE).read_bytes() == before
    assert codes(game, path) == codes(game, solved)


def test_removing_a_table_removes_nothing_else(solved, tmp_path):
    path = shutil.copytree(solved, tmp_path / "ladder")
    (path / "scratch").mkdir()
    (path / "scratch" / "letter.txt").write_text("dear")
    remove_table(path)
    assert (path / "scratch" / "letter.txt").read_text() == "dear"
    assert not (path / DATA_FILE).exists()


# ---- files put back, cut and mixed ----


def test_an_older_file_put_back_is_unfinished_and_resumed(game, solved, tmp_path, monkeypatch):
    """As a backup that was made in the middle of the solve."""
    old, write = tmp_path / "old.mdb", LmdbStore.write_values

    def copied_half_way(store, record, values):
        write(store, record, values)
        if record.tier == ladder.RUNGS // 2:
            shutil.copy(store.path / DATA_FILE, old)

    monkeypatch.setattr(LmdbStore, "write_values", copied_half_way)
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    path = table_path(game, tmp_path)
    os.replace(old, path / DATA_FILE)
    expected = codes(game, solved)
    with open_table(game, path) as table:
        assert not table.complete
        found = table.probe_many(POSITIONS).tolist()
    assert all(code in (4, right) for code, right in zip(found, expected, strict=True))
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    assert codes(game, path) == expected


@pytest.mark.parametrize("kind", ["plain", "compact"])
def test_a_hole_in_the_file_is_found(game, solved, compacted, tmp_path, kind):
    """As a file system leaves it that lost what it had said was written: the length is right, the rest is zeros."""
    path = shutil.copytree(solved if kind == "plain" else compacted, tmp_path / "ladder")
    file, size, expected = path / DATA_FILE, (path / DATA_FILE).stat().st_size, codes(game, solved)
    for start in range(0, size, 4096):
        whole = file.read_bytes()
        os.truncate(file, start)
        os.truncate(file, size)
        with file.open("r+b") as opened:
            opened.seek(start + 4096)
            opened.write(whole[start + 4096 :])
        assert in_child(lambda: RIGHT if codes(game, path) == expected else WRONG) in (RIGHT, REPORTED), start
        file.write_bytes(whole)


def test_blocks_exchanged_between_tiers_are_found(game, solved, tmp_path):
    path = shutil.copytree(solved, tmp_path / "ladder")
    entries = read_snapshot(path / DATA_FILE).entries
    first, second = (number_key(b"t", tier, 0) for tier in (3, 4))
    values = bytes(entries[first]), bytes(entries[second])
    assert values[0] != values[1]
    edit(path, first, lambda stored: values[1])
    edit(path, second, lambda stored: values[0])
    with open_table(game, path) as table, pytest.raises(DamagedTable, match="tier 3, block 0 has a wrong checksum"):
        table.probe_many(POSITIONS)
