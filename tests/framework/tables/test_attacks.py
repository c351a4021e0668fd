"""What once made a table lie, crash or get lost: each attack is answered in one clear line, and loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from perfectplay import Game, make_game, open_table, solve_game, verify_table
from perfectplay.errors import DamagedTable, Interrupted, TableError
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.locations import table_path
from perfectplay.table.lock import DATA_FILE, NEW_FILE, WriterLock
from perfectplay.table.records import META, TableInfo, enveloped, number_key, opened
from perfectplay.table.store import MemoryStore
from perfectplay.tiers import enumeration

from ..damage import edit, flip, forge_info, stop_after_tiers
from . import ladder

HOOKS = ("start", "tier", "moves", "apply", "undo", "canonicalize", "status")


def quiet(done: int) -> None: ...


@pytest.fixture(params=["plain", "compact"])
def path(request, game, solved, tmp_path) -> Path:
    """A copy of the solved table, to be attacked."""
    copy = shutil.copytree(solved, tmp_path / "ladder")
    if request.param == "compact":
        with open_table(game, copy) as table:
            compact_table(table, None, progress=quiet)
    return copy


@pytest.fixture
def plain(solved, tmp_path) -> Path:
    return shutil.copytree(solved, tmp_path / "ladder")


def codes(game: Game, path: Path) -> list[int]:
    with open_table(game, path) as table:
        return table.probe_many(range(ladder.RING * ladder.RUNGS)).tolist()


def forge(path: Path, key: bytes, **changes: object) -> None:
    """Change a record and give it a right checksum, as somebody would who knows the format."""

    def change(stored: bytes) -> bytes:
        return enveloped(key, json.dumps({**json.loads(opened(key, memoryview(stored))), **changes}).encode())

    edit(path, key, change)


# ---- a table that cannot lie ----


@pytest.mark.parametrize(
    "changes",
    [
        {"width": 0},
        {"width": 2},
        {"size": 10 * ladder.RING},
        {"size": 0, "checksums": [], "counts": {}},
        {"checksums": []},
        {"checksums": [1]},
        {"tier": 4},
        {"counts": {"0": ladder.RING}},
        {"counts": {"0": -1, "1": ladder.RING + 1}},
        {"width": "1"},
    ],
)
def test_a_forged_record_is_refused_when_the_table_is_opened(game, path, changes):
    forge(path, number_key(b"T", 3), **changes)
    with pytest.raises(DamagedTable, match=r"the table .* is damaged: .*record"):
        open_table(game, path)


@pytest.mark.parametrize("changes", [{"size": 1}, {"children": []}, {"cyclic": False}, {"checksums": ["x"]}])
def test_a_forged_record_of_keys_is_refused_when_the_table_is_opened(game, path, changes):
    forge(path, number_key(b"K", 3), **changes)
    with pytest.raises(DamagedTable, match=r"the table .* is damaged: .*record"):
        open_table(game, path)


@pytest.mark.parametrize("kind", [b"T", b"K", b"C", b"D"])
def test_a_flipped_bit_in_a_record_is_found_when_the_table_is_opened(game, path, kind):
    if kind in (b"C", b"D") and not TableReader(path).info.compact:
        kind = b"T"
    for at in range(0, 120, 7):
        flip(path, number_key(kind, at % ladder.RUNGS), at)
        with pytest.raises(DamagedTable):
            open_table(game, path)
        flip(path, number_key(kind, at % ladder.RUNGS), at)
    assert codes(game, path)


def test_a_deleted_or_swapped_record_is_found(game, plain):
    records = {}
    edit(plain, number_key(b"T", 2), lambda stored: records.setdefault(2, stored))
    edit(plain, number_key(b"T", 5), lambda stored: records[2])
    with pytest.raises(DamagedTable, match="the record of tier 5 cannot be read"):
        open_table(game, plain)
    edit(plain, number_key(b"T", 5), lambda stored: None)
    with pytest.raises(DamagedTable, match="do not add up to its hash"):
        open_table(game, plain)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xff", b'{"format": 2}', b"null"])
def test_metadata_that_is_not_metadata_is_damage(game, plain, text):
    edit(plain, b"meta", lambda stored: enveloped(b"meta", text))
    with pytest.raises(TableError, match="is damaged: its metadata cannot be read"):
        open_table(game, plain)


@pytest.mark.parametrize(
    "changes",
    [
        {"game": None},
        {"options": [1]},
        {"rules_version": "1"},
        {"host_version": None},
        {"indexing": "x"},
        {"status": "x"},
        {"values": "x"},
        {"values": []},
        {"hash": 1},
        {"storage": None},
        {"format": "2"},
    ],
)
def test_forged_metadata_of_another_kind_is_damage_or_another_format(game, path, changes):
    forge(path, META, **changes)
    with pytest.raises(TableError, match=r"is damaged: its metadata cannot be read|has table format 2, this"):
        open_table(game, path)


def test_a_table_called_finished_that_is_not_is_found(game, tmp_path):
    stop = threading.Event()
    with pytest.raises(Interrupted):
        solve_game(stopping(stop, after=2700), backend="lmdb", directory=tmp_path, stop=stop)
    path = table_path(game, tmp_path)
    forge_info(path, status="complete", hash="0" * 16)
    with pytest.raises(DamagedTable, match="do not add up to its hash"):
        open_table(game, path)


@pytest.mark.parametrize("kind", [b"T", b"K"])
def test_a_flipped_bit_in_a_record_of_an_unfinished_table_is_found(game, tmp_path, kind, monkeypatch):
    """It has no hash yet: the record's own checksum is all there is."""
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    path = table_path(game, tmp_path)
    tier = max(TableReader(path).tier_records())
    for at in range(0, 120, 7):
        flip(path, number_key(kind, tier), at)
        with pytest.raises(DamagedTable, match=f"the record of tier {tier} cannot be read"):
            open_table(game, path)
        flip(path, number_key(kind, tier), at)


def test_an_old_table_says_what_to_do(game, plain):
    edit(plain, b"meta", lambda stored: json.dumps({"format": 1, "game": "ladder"}).encode())
    with pytest.raises(TableError, match="has table format 1, this perfectplay reads 2: delete it and solve again"):
        open_table(game, plain)
    for backend in ("memory", "lmdb"):
        with pytest.raises(TableError, match="delete it and solve again"):
            solve_game(game, backend=backend, directory=plain.parent)


def test_a_checksum_may_begin_like_json(game, plain):
    """One in 256 does, and was taken for metadata of format 1."""
    info = TableReader(plain).info
    number = next(n for n in range(10_000) if _stored_info(info, str(n))[:1] == b"{")
    edit(plain, b"meta", lambda stored: _stored_info(info, str(number)))
    assert codes(game, plain)


def _stored_info(info: TableInfo, host_version: str) -> bytes:
    return enveloped(b"meta", replace(info, host_version=host_version).to_json())


def test_keys_out_of_place_are_found_by_verify(game, solved):
    """A wrong enumerator would write such keys with right checksums."""
    with open_table(game, solved) as table:
        source = table.store
        keys = source.key_blocks(source.key_records()[3])[0]
        swapped = bytearray(keys)
        swapped[8:16], swapped[16:24] = keys[16:24], keys[8:16]
        table.store = SimpleNamespace(
            key_blocks=lambda record: [memoryview(swapped)] if record.tier == 3 else source.key_blocks(record),
            value_blocks=source.value_blocks,
            info=source.info,
            close=source.close,
        )
        with pytest.raises(DamagedTable, match=r"position \d+ of tier 3 cannot be found"):
            verify_table(table)


# ---- solving mends, and compacting loses nothing ----


@pytest.mark.parametrize("kind", ["values", "keys", "records"])
def test_solving_on_disk_mends_any_damage_in_plain_and_compact_tables(game, solved, path, kind):
    compact = TableReader(path).info.compact
    names = {"values": b"c" if compact else b"t", "keys": b"d" if compact else b"k", "records": b"K"}
    tier = number_key(names[kind], 4) if compact or kind == "records" else number_key(names[kind], 4, 0)
    flip(path, tier, at=20)
    with pytest.raises(TableError):
        codes(game, path)
    solution = solve_game(game, backend="lmdb", directory=path.parent)
    with solution.table as table:
        assert verify_table(table).bad == 0
    assert codes(game, path) == codes(game, solved)
    assert solution.hash == TableReader(solved).info.hash


def test_an_unfinished_compact_table_is_not_called_solved(game, solved, path):
    forge_info(path, status="solving", hash=None)
    solution = solve_game(game, backend="lmdb", directory=path.parent)
    solution.table.close()
    assert solution.hash == TableReader(solved).info.hash
    assert codes(game, path) == codes(game, solved)


def test_two_compactions_at_once_lose_nothing(game, plain, solved):
    refused = pytest.raises(TableError, match="another process is writing")
    with WriterLock(plain), open_table(game, plain) as table, refused:
        compact_table(table, None, progress=quiet)
    assert codes(game, plain) == codes(game, solved)


def test_a_compact_table_that_differs_replaces_nothing(game, plain, solved, monkeypatch):
    """A wrong compressor: its table is read back before anything is replaced."""
    from perfectplay.table.compact import ValueFrames

    right = ValueFrames.pack
    monkeypatch.setattr(ValueFrames, "pack", lambda self, codes, kept: right(self, codes[::-1].copy(), kept))
    with open_table(game, plain) as table, pytest.raises(TableError, match="nothing was replaced"):
        compact_table(table, None, progress=quiet)
    assert codes(game, plain) == codes(game, solved)
    assert not (plain / NEW_FILE).exists()


def test_a_reader_keeps_its_table_while_it_is_compacted_and_others_see_the_new_one(game, plain, solved):
    expected = codes(game, solved)
    with open_table(game, plain) as reader:
        with open_table(game, plain) as table:
            compact_table(table, None, progress=quiet)
        assert codes(game, plain) == expected
        in_another_process = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import ladder\n" + (
            "from perfectplay import make_game, open_table\n"
            f"print(open_table(make_game(ladder, name='ladder'), {str(plain)!r}).complete)"
        )
        done = subprocess.run([sys.executable, "-c", in_another_process], capture_output=True, text=True)
        assert done.stdout == "True\n", done.stderr
        assert reader.probe_many(range(ladder.RING * ladder.RUNGS)).tolist() == expected


# ---- readers ----


def test_reading_writes_nothing_and_locks_nothing(game, plain):
    before = sorted(plain.iterdir())
    for _ in range(1100):  # LMDB has slots for 126 readers, of which a killed one keeps its own
        TableReader(plain)
    with WriterLock(plain):
        assert codes(game, plain)
    assert sorted(plain.iterdir()) == before


def test_a_table_is_read_from_a_read_only_directory(game, plain, solved):
    plain.chmod(0o555)
    (plain / DATA_FILE).chmod(0o444)
    try:
        assert codes(game, plain) == codes(game, solved)
    finally:
        plain.chmod(0o755)


def test_a_reader_beside_a_running_solve_gets_true_answers(game, solved, tmp_path):
    expected = codes(game, solved)
    path, seen = table_path(game, tmp_path), []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            if (path / DATA_FILE).exists():
                seen.append(all(code in (4, right) for code, right in zip(codes(game, path), expected, strict=True)))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    finally:
        done.set()
        thread.join()
    assert seen
    assert all(seen)


# ---- resume ----


def stopping(stop: threading.Event, after: int) -> Game:
    """The ladder, which asks to stop after so many questions."""
    plugin = SimpleNamespace(**{name: getattr(ladder, name) for name in HOOKS})
    asked = 0

    @ladder.hookimpl
    def canonicalize(position: int) -> int:
        nonlocal asked
        asked += 1
        if asked > after:
            stop.set()
        return position

    plugin.canonicalize = canonicalize
    return make_game(plugin, name="ladder")


def test_enumeration_resumes_after_the_tiers_that_are_written(game, solved, tmp_path, monkeypatch):
    monkeypatch.setattr(enumeration, "SLOW_CHUNK", 16)  # so that a stop is heard in the middle
    stop = threading.Event()
    with pytest.raises(Interrupted):
        solve_game(stopping(stop, after=3000), backend="lmdb", directory=tmp_path, stop=stop)
    reader = TableReader(table_path(game, tmp_path))
    assert reader.info.status == "enumerating"
    written = len(reader.key_records())
    assert 2 < written < ladder.RUNGS - 2
    looked_at: set[int] = set()
    right = enumeration.children_of_many

    def watched(kernel, positions, *, room):
        looked_at.update(map(ladder.tier, map(int, positions)))
        return right(kernel, positions, room=room)

    monkeypatch.setattr(enumeration, "children_of_many", watched)
    solution = solve_game(game, backend="lmdb", directory=tmp_path)
    solution.table.close()
    assert solution.hash == TableReader(solved).info.hash
    assert min(looked_at) == written - 1, "of the tiers that are written, only the last leads to a missing one"


def test_a_table_of_other_rules_is_recognised(game, plain):
    longer = SimpleNamespace(**{name: getattr(ladder, name) for name in HOOKS})
    longer.start = ladder.hookimpl(lambda: ladder.RING * 3 + 1)
    changed = make_game(longer, name="ladder")
    edit(plain, number_key(b"T", 9), lambda stored: None)
    forge_info(plain, status="enumerating", hash=None)
    for tier in range(ladder.RUNGS):
        edit(plain, number_key(b"K", tier), lambda stored: None)
    with pytest.raises(TableError, match=r"other rules: tier 0 .* delete it and solve again"):
        solve_game(changed, backend="lmdb", directory=plain.parent)


# ---- what cannot be written is known before the solve ----


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: forge_info(path, rules_version=7), "version 7 of the rules"),
        (lambda path: forge_info(path, format=9), "table format 9"),
        (lambda path: os.truncate(path / DATA_FILE, 5000), "delete it and solve again"),
        (lambda path: (path / DATA_FILE).write_bytes(b""), "delete it and solve again"),
        (lambda path: ((path / DATA_FILE).unlink(), os.mkfifo(path / DATA_FILE)), "not a regular file"),
    ],
)
@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_place_that_cannot_be_written_is_refused_before_the_solve(game, plain, spoil, words, backend, monkeypatch):
    spoil(plain)
    monkeypatch.setattr(MemoryStore, "write_key_blocks", lambda *arguments: pytest.fail("it began to solve"))
    with pytest.raises(TableError, match=words):
        solve_game(game, backend=backend, directory=plain.parent)


def test_a_place_that_another_writes_is_refused_before_the_solve(game, plain, monkeypatch):
    monkeypatch.setattr(MemoryStore, "write_key_blocks", lambda *arguments: pytest.fail("it began to solve"))
    with WriterLock(plain), pytest.raises(TableError, match="another process is writing"):
        solve_game(game, directory=plain.parent)


def test_a_stopped_solve_in_memory_leaves_nothing_behind(tmp_path):
    stop = threading.Event()
    with pytest.raises(Interrupted):
        solve_game(stopping(stop, after=100), directory=tmp_path, stop=stop)
    assert not list(tmp_path.iterdir())


def test_leftovers_of_a_killed_process_are_removed(game, plain, solved):
    (plain / NEW_FILE).write_bytes(b"half a table")
    with open_table(game, plain) as table:
        compact_table(table, None, progress=quiet)
    assert not (plain / NEW_FILE).exists()
    assert codes(game, plain) == codes(game, solved)


# ---- hands off ----


def test_a_link_called_scratch_costs_nobody_their_files(game, tmp_path):
    others = tmp_path / "others"
    others.mkdir()
    (others / "letter.txt").write_text("dear")
    path = table_path(game, tmp_path)
    path.mkdir()
    (path / "scratch").symlink_to(others)
    solve_game(game, backend="lmdb", directory=tmp_path, memory=64 << 20).table.close()
    assert (others / "letter.txt").read_text() == "dear"


def test_the_lock_is_not_taken_through_a_link(game, tmp_path):
    path = table_path(game, tmp_path)
    path.mkdir()
    (path / "writer.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(TableError, match="symbolic link"):
        solve_game(game, directory=tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def test_a_table_gets_the_permissions_of_the_umask(game, tmp_path):
    before = os.umask(0o002)
    try:
        solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    finally:
        os.umask(before)
    path = table_path(game, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o775
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o664}


def test_hash_is_unchanged_by_how_it_is_stored(game, path):
    """The golden hashes stand for values and keys, not for formats."""
    info = TableReader(path).info
    assert info.hash == solve_game(game, save=False).hash
    assert replace(info, hash=None).format == 2
