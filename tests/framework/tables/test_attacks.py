"""Writers, readers and links at the same time, and attacks that once corrupted or lost a table."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import lmdb
import pytest
from tools.campaigns import ladder
from tools.campaigns.campaign import RIGHT, WRONG, in_child

from perfectplay import Game, make_game, open_table, solve_game, verify_table
from perfectplay.errors import Interrupted, TableError
from perfectplay.files import lock_file
from perfectplay.table import lmdb_store, locations
from perfectplay.table.compact import ValueFrames
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader
from perfectplay.table.lmdb_store import NEW_FILE, LmdbStore, WriterLock, remove_table
from perfectplay.table.locations import table_path
from perfectplay.table.records import number_key
from perfectplay.table.store import MemoryStore
from perfectplay.tiers import enumeration

from ..damage import edit, flip, forge_info

ROOT = Path(__file__).parents[3]
HOOKS = ("start", "tier", "moves", "apply", "undo", "canonicalize", "status")


def stopping(stop: threading.Event, after: int) -> Game:
    """The ladder game, which sets `stop` after this many calls of `canonicalize`."""
    plugin = SimpleNamespace(**{name: getattr(ladder, name) for name in HOOKS})
    calls = 0

    @ladder.hookimpl
    def canonicalize(position: int) -> int:
        nonlocal calls
        calls += 1
        if calls > after:
            stop.set()
        return position

    plugin.canonicalize = canonicalize
    return make_game(plugin, name="ladder")


def compact(game: Game, path: Path) -> Path:
    with open_table(game, path) as table:
        return compact_table(table)


# ---- solving over an existing table ----


@pytest.mark.parametrize("kind", ["values", "keys", "records"])
def test_solving_repairs_damage(game, solved, path, codes, kind):
    compact = TableReader(path).info.compact
    names = {"values": b"c" if compact else b"t", "keys": b"d" if compact else b"k", "records": b"K"}
    key = number_key(names[kind], 4) if compact or kind == "records" else number_key(names[kind], 4, 0)
    flip(path, key, at=20)
    with pytest.raises(TableError):
        codes(path)
    solution = solve_game(game, backend="lmdb", directory=path.parent)
    with solution.table as table:
        assert verify_table(table).bad == 0
    assert codes(path) == codes(solved)
    assert solution.hash == TableReader(solved).info.hash


def test_unfinished_table_is_resumed_even_if_compact(game, solved, path, codes):
    forge_info(path, status="solving", hash=None)
    solution = solve_game(game, backend="lmdb", directory=path.parent)
    solution.table.close()
    assert solution.hash == TableReader(solved).info.hash
    assert codes(path) == codes(solved)


def test_restored_backup_of_unfinished_table_is_resumed(game, solved, tmp_path, codes, monkeypatch):
    old, write = tmp_path / "old.mdb", LmdbStore.write_values

    def write_and_copy(store, record, values):
        write(store, record, values)
        if record.tier == ladder.RUNGS // 2:
            shutil.copy(store.path / DATA_FILE, old)

    monkeypatch.setattr(LmdbStore, "write_values", write_and_copy)
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    path, expected = table_path(game, tmp_path), codes(solved)
    os.replace(old, path / DATA_FILE)
    assert TableReader(path).info.status == "solving"
    assert all(code in (4, right) for code, right in zip(codes(path), expected, strict=True))
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    assert codes(path) == expected


def test_enumeration_resumes_after_the_written_tiers(game, solved, tmp_path, monkeypatch):
    monkeypatch.setattr(enumeration, "SLOW_CHUNK", 16)  # so that it stops within a tier
    stop = threading.Event()
    with pytest.raises(Interrupted):
        solve_game(stopping(stop, after=3000), backend="lmdb", directory=tmp_path, stop=stop)
    reader = TableReader(table_path(game, tmp_path))
    assert reader.info.status == "enumerating"
    written = len(reader.key_records())
    assert 2 < written < ladder.RUNGS - 2
    expanded: set[int] = set()
    children_of_many = enumeration.children_of_many

    def record_tiers(kernel, positions, *, room):
        expanded.update(map(ladder.tier, map(int, positions)))
        return children_of_many(kernel, positions, room=room)

    monkeypatch.setattr(enumeration, "children_of_many", record_tiers)
    solution = solve_game(game, backend="lmdb", directory=tmp_path)
    solution.table.close()
    assert solution.hash == TableReader(solved).info.hash
    assert min(expanded) == written - 1, "of the written tiers, only the last one leads to a missing tier"


def test_table_of_other_rules_is_refused(plain):
    longer = SimpleNamespace(**{name: getattr(ladder, name) for name in HOOKS})
    longer.start = ladder.hookimpl(lambda: ladder.RING * 3 + 1)
    edit(plain, number_key(b"T", 9), lambda stored: None)
    forge_info(plain, status="enumerating", hash=None)
    for tier in range(ladder.RUNGS):
        edit(plain, number_key(b"K", tier), lambda stored: None)
    with pytest.raises(TableError, match=r"other rules: tier 0 .* --force"):
        solve_game(make_game(longer, name="ladder"), backend="lmdb", directory=plain.parent)


# ---- compaction ----


def test_compaction_in_place_replaces_the_table(game, plain, solved, codes):
    (plain / NEW_FILE).write_bytes(b"left by a killed process")
    assert compact(game, plain) == plain
    assert codes(plain) == codes(solved)
    assert sorted(each.name for each in plain.iterdir()) == [DATA_FILE, "writer.lock"]
    with pytest.raises(TableError, match="already compact"):
        compact(game, plain)
    solution = solve_game(game, backend="lmdb", directory=plain.parent)
    with solution.table as table:
        assert table.info.compact, "there was nothing to solve"
    assert solution.hash == TableReader(solved).info.hash == solve_game(game, save=False).hash


def test_wrong_compressor_replaces_nothing(game, plain, solved, codes, monkeypatch):
    pack = ValueFrames.pack
    monkeypatch.setattr(ValueFrames, "pack", lambda self, codes, kept: pack(self, codes[::-1].copy(), kept))
    with pytest.raises(TableError, match="nothing was replaced"):
        compact(game, plain)
    assert codes(plain) == codes(solved)
    assert not (plain / NEW_FILE).exists()


def test_reader_keeps_its_table_during_compaction_and_later_readers_get_the_new_one(game, plain, solved, codes):
    expected = codes(solved)
    with open_table(game, plain) as reader:
        compact(game, plain)
        assert codes(plain) == expected
        program = (
            "from perfectplay import make_game, open_table\nfrom tools.campaigns import ladder\n"
            f"print(open_table(make_game(ladder, name='ladder'), {str(plain)!r}).info.compact)"
        )
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
        assert done.stdout == "True\n", done.stderr
        assert reader.probe_many(range(ladder.RING * ladder.RUNGS)).tolist() == expected


# ---- several processes ----


def test_second_writer_is_refused_before_it_starts(game, plain, solved, codes, monkeypatch):
    monkeypatch.setattr(MemoryStore, "write_key_blocks", lambda *arguments: pytest.fail("the solve began"))
    with WriterLock(plain):
        with pytest.raises(TableError, match="another process is writing"):
            compact(game, plain)
        for backend in ("memory", "lmdb"):
            with pytest.raises(TableError, match="another process is writing"):
                solve_game(game, backend=backend, directory=plain.parent)
    assert codes(plain) == codes(solved)


def test_compact_table_replaced_during_opening_is_read(game, solved, compacted, tmp_path, codes, monkeypatch):
    path = shutil.copytree(compacted, tmp_path / "ladder")
    require = locations.require_same_game

    def replace_table(store, game):
        shutil.copy(solved / DATA_FILE, tmp_path / "other")
        os.replace(tmp_path / "other", path / DATA_FILE)
        require(store, game)

    monkeypatch.setattr(locations, "require_same_game", replace_table)
    assert codes(path) == codes(solved)


def test_readers_get_right_answers_during_compaction_and_solving(game, plain, codes):
    expected, deadline = codes(plain), time.monotonic() + 3

    def write() -> int:
        while time.monotonic() < deadline:
            compact(game, plain)
            solve_game(game, directory=plain.parent).table.close()  # replaces it with a plain table
        return RIGHT

    def read() -> int:
        while time.monotonic() < deadline:
            if codes(plain) != expected:
                return WRONG
        return RIGHT

    outcomes: list[int] = []
    threads = [threading.Thread(target=lambda work=work: outcomes.append(in_child(work))) for work in (write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [RIGHT, RIGHT]


def test_reader_gets_right_answers_during_a_solve(game, solved, tmp_path, codes):
    expected, path, results = codes(solved), table_path(game, tmp_path), []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            if (path / DATA_FILE).exists():
                results.append(all(code in (4, right) for code, right in zip(codes(path), expected, strict=True)))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    finally:
        done.set()
        thread.join()
    assert results
    assert all(results)


def test_reading_needs_no_lock_and_no_write_permission(plain, solved, codes):
    files = sorted(plain.iterdir())
    for _ in range(1100):  # LMDB has slots for 126 readers, and killed readers keep theirs
        TableReader(plain)
    with WriterLock(plain):
        assert codes(plain) == codes(solved)
    assert sorted(plain.iterdir()) == files
    plain.chmod(0o555)
    (plain / DATA_FILE).chmod(0o444)
    try:
        assert codes(plain) == codes(solved)
    finally:
        plain.chmod(0o755)


def test_directory_removed_while_it_is_locked_is_created_again(tmp_path, monkeypatch):
    directory = tmp_path / "ladder"
    system_open, removed = os.open, []

    def remove_and_open(path, *arguments):
        if not removed:
            removed.append(path)
            directory.rmdir()
        return system_open(path, *arguments)

    monkeypatch.setattr(lmdb_store.os, "open", remove_and_open)
    WriterLock(directory).release()
    assert removed


def test_stopped_solve_in_memory_leaves_no_files(tmp_path):
    stop = threading.Event()
    with pytest.raises(Interrupted):
        solve_game(stopping(stop, after=100), directory=tmp_path / "new" / "tables", stop=stop)
    assert not list(tmp_path.iterdir())


# ---- links, other files and permissions ----


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_one_file_under_two_names_has_one_writer(solved, plain, tmp_path, codes, link):
    other = tmp_path / "other" / "ladder"
    other.mkdir(parents=True)
    link(plain / DATA_FILE, other / DATA_FILE)
    with (plain / DATA_FILE).open() as file:
        with LmdbStore(other / DATA_FILE), pytest.raises(BlockingIOError):
            lock_file(file.fileno())
        lock_file(file.fileno())
        with pytest.raises(TableError, match="another process is writing"):
            LmdbStore(other / DATA_FILE)
    assert codes(other) == codes(solved)


def test_link_is_replaced_and_its_target_kept(game, solved, tmp_path, codes):
    path = tmp_path / "ladder"
    path.mkdir()
    (path / DATA_FILE).symlink_to(solved / DATA_FILE)
    before = (solved / DATA_FILE).read_bytes()
    compact(game, path)
    assert not (path / DATA_FILE).is_symlink()
    assert (solved / DATA_FILE).read_bytes() == before
    assert codes(path) == codes(solved)


def test_lock_does_not_follow_a_link(game, tmp_path):
    path = table_path(game, tmp_path)
    path.mkdir()
    (path / "writer.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TableError, match="symbolic link"):
        solve_game(game, directory=tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_other_files_survive_solving_and_removing(game, tmp_path):
    others, path = tmp_path / "others", table_path(game, tmp_path)
    others.mkdir()
    path.mkdir()
    (others / "letter.txt").write_text("dear")
    (path / "scratch").symlink_to(others)
    solve_game(game, backend="lmdb", directory=tmp_path, memory=64 << 20).table.close()
    remove_table(path)
    assert (path / "scratch" / "letter.txt").read_text() == "dear"
    assert not (path / DATA_FILE).exists()


def test_removing_a_table_removes_the_lock_file_of_lmdb(game, tmp_path):
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    path = table_path(game, tmp_path)
    lmdb.open(str(path), readonly=True).close()
    assert (path / "lock.mdb").exists()
    remove_table(path)
    assert not path.exists()


def test_table_gets_the_permissions_of_the_umask(game, tmp_path):
    before = os.umask(0o002)
    try:
        solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    finally:
        os.umask(before)
    path = table_path(game, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o775
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o664}
