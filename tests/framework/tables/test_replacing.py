"""Forced solves keep the old table until the new one is complete, and damaged tables are repaired or replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tools.campaigns import four, ladder

from perfectplay import load_game, open_table, solve_game, verify_table
from perfectplay.errors import Interrupted, TableError
from perfectplay.solve import solve as solve_module
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import DATA_FILE, TableReader
from perfectplay.table.locations import find_tables, replacement_path, table_path
from perfectplay.table.records import number_key
from perfectplay.table.store import MemoryStore

from ...cli import assert_refused, solve
from ..damage import edit, flip, forge_info, stop_after_tiers
from . import plain_files

ROOT = Path(__file__).parents[3]


@pytest.fixture(params=["lmdb", "files"])
def backend(request, install):
    install("plain-files", Path(plain_files.__file__).read_text(), group="host")
    return request.param


@pytest.fixture
def installed(install, tmp_path, monkeypatch) -> None:
    """The ladder game is installed, and the directory for tables is empty."""
    install("ladder", Path(ladder.__file__).read_text() + "\nRULES_VERSION = 1\n")
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))


# ---- --force ----


@pytest.mark.parametrize(
    "arguments",
    [
        ["--backend", "lmdb", "--memory", "1M"],
        ["--backend", "lmdb", "--no-save"],
        ["--backend", "lmdb", "--workers", "2"],
        ["--backend", "ray", "--values", "outcome"],
        ["--backend", "ray", "--threads", "2"],
        ["--backend", "ray", "--address", "127.0.0.1:1"],
    ],
)
def test_forced_solve_that_cannot_start_keeps_the_table(installed, solved, tmp_path, arguments):
    if "ray" in arguments:
        pytest.importorskip("ray")
    assert solve("ladder").exit_code == 0
    before = (tmp_path / "ladder" / DATA_FILE).read_bytes()
    assert solve("ladder", *arguments, "--force").exit_code in (1, 2)
    assert (tmp_path / "ladder" / DATA_FILE).read_bytes() == before
    assert [table.path.name for table in find_tables(tmp_path)] == ["ladder"]


def test_interrupted_forced_solve_keeps_the_table_and_resumes(game, backend, tmp_path, monkeypatch):
    path = table_path(game, tmp_path)
    golden = solve_game(game, backend=backend, directory=tmp_path)
    golden.table.close()
    name = {"lmdb": DATA_FILE, "files": "info.json"}[backend]
    before = (path / name).stat().st_ino
    with monkeypatch.context() as patch:
        stop = stop_after_tiers(patch, ladder.RUNGS // 2)
        with pytest.raises(Interrupted):
            solve_game(game, backend=backend, directory=tmp_path, replace_other=True, stop=stop)
    assert (path / name).stat().st_ino == before
    with open_table(game, path) as table:
        assert verify_table(table).bad == 0
    again = solve_game(game, backend=backend, directory=tmp_path, replace_other=True)
    with again.table as table:
        assert table.store.path == path
        assert verify_table(table).bad == 0
    assert again.resumed
    assert again.hash == golden.hash
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("ladder")] == ["ladder"]
    assert (path / name).stat().st_ino != before


def test_forced_solve_stopped_before_the_end_is_installed_by_the_next(game, plain, solved, codes, monkeypatch):
    def crash(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(solve_module, "_take_table", crash)
        with pytest.raises(KeyboardInterrupt):
            solve_game(game, backend="lmdb", directory=plain.parent, replace_other=True)
    assert codes(plain) == codes(solved)
    assert TableReader(replacement_path(plain)).info.status == "complete"
    before = (plain / DATA_FILE).stat().st_ino
    solve_game(game, backend="lmdb", directory=plain.parent, replace_other=True).table.close()
    assert (plain / DATA_FILE).stat().st_ino != before
    assert not replacement_path(plain).exists()


@pytest.mark.parametrize("change", [{"rules_version": 7}, {"values": "outcome"}, {"game": "chess"}])
def test_replacement_that_cannot_be_resumed_is_solved_from_the_start(game, plain, solved, codes, change):
    leftover = replacement_path(plain)
    shutil.copytree(plain, leftover)
    forge_info(leftover, **change)
    solution = solve_game(game, backend="lmdb", directory=plain.parent, replace_other=True)
    solution.table.close()
    assert not solution.resumed
    assert not leftover.exists()
    assert codes(plain) == codes(solved)


def test_replacement_is_listed_as_a_table_but_not_as_a_variant(installed, plain, tmp_path):
    shutil.copytree(plain, replacement_path(plain))
    assert "ladder.replacement" in solve("tables").stdout
    (row,) = [line for line in solve("games").stdout.splitlines() if line.startswith("ladder ")]
    assert row.endswith(" solved")
    assert solve("tables", "--remove", "ladder.replacement").exit_code == 0
    assert sorted(each.path.name for each in find_tables(tmp_path)) == ["ladder"]


def test_outdated_table_of_a_file_is_kept_until_the_new_one_is_complete(tmp_path, monkeypatch):
    file = tmp_path / "own.py"
    file.write_text(Path(ladder.__file__).read_text())
    solve_game(load_game(str(file)), backend="lmdb").table.close()
    path = table_path(load_game(str(file)))
    before = (path / DATA_FILE).read_bytes()
    file.write_text(file.read_text() + "\n# changed\n")
    changed = load_game(str(file))
    with monkeypatch.context() as patch, pytest.raises(Interrupted):
        solve_game(changed, backend="lmdb", stop=stop_after_tiers(patch, 3))
    assert (path / DATA_FILE).read_bytes() == before
    again = solve_game(changed, backend="lmdb")
    again.table.close()
    assert again.resumed
    with open_table(changed) as table:
        assert table.complete


# ---- damage ----


def damage_pages(path: Path) -> None:
    """Damage the page of LMDB's root, which every reader needs."""
    file = path / DATA_FILE
    data = bytearray(file.read_bytes())
    snapshot = TableReader(path).source.snapshot
    data[snapshot.meta.main.root * snapshot.meta.page_size + 10] ^= 0xFF
    file.write_bytes(data)


@pytest.mark.parametrize(
    "damage",
    [
        damage_pages,
        lambda path: os.truncate(path / DATA_FILE, 5000),
        lambda path: (path / DATA_FILE).write_bytes(b""),
        lambda path: edit(path, b"meta", lambda stored: b"x" + stored[1:]),
        lambda path: forge_info(path, format=9),
        lambda path: forge_info(path, rules_version=7),
    ],
)
@pytest.mark.parametrize("chosen", ["memory", "lmdb"])
def test_unreadable_table_is_refused_at_once_and_replaced_by_the_command_in_the_error(
    installed, plain, solved, codes, damage, chosen, monkeypatch
):
    damage(plain)
    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "write_key_blocks", lambda *arguments: pytest.fail("the solve began"))
        assert_refused(solve("ladder", "--backend", chosen), 1, "--force")
    replaced = solve("ladder", "--backend", chosen, "--force")
    assert replaced.exit_code == 0, replaced.stderr
    assert codes(plain) == codes(solved)


def test_table_of_another_game_is_not_replaced_by_force(game, plain):
    forge_info(plain, game="chess")
    for backend in ("memory", "lmdb"):
        with pytest.raises(TableError, match="chess, not of ladder"):
            solve_game(game, backend=backend, directory=plain.parent, replace_other=True)


@pytest.mark.parametrize("chosen", ["memory", "lmdb"])
@pytest.mark.parametrize("kind", [b"c", b"d", b"C", b"D", b"K", b"T"])
def test_solve_repairs_a_damaged_compact_table(kind, chosen, tmp_path):
    """A game in C omits values that follow from the rules, so values cannot be unpacked without keys."""
    arguments = [four.__file__, "--dir", str(tmp_path), "--backend", chosen]
    game = load_game(four.__file__)
    golden = solve_game(game, backend="lmdb", directory=tmp_path)
    with golden.table as table:
        compact_table(table)
    path = table_path(game, tmp_path)
    flip(path, number_key(kind, 4), at=20)
    done = solve(*arguments)
    assert done.exit_code == 0, done.stderr
    assert "Already solved" not in done.stdout
    with open_table(game, path) as table:
        assert table.info.hash == golden.hash
        assert verify_table(table).bad == 0
    assert "Already solved" in solve(*arguments).stdout
