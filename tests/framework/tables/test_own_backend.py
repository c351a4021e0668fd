"""A durable backend from a plugin has the features of LMDB: resuming, bounded memory, repair, and all commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tools.campaigns import ladder

from perfectplay import open_table, solve_game, verify_table
from perfectplay.analysis.export import check_exporter
from perfectplay.errors import Interrupted, TableError, UsageError
from perfectplay.game import plugins
from perfectplay.table.locations import find_tables, table_path
from perfectplay.table.records import TableInfo
from perfectplay.table.store import backends

from ...cli import solve
from ..damage import stop_after_tiers
from . import plain_files

CODE = Path(plain_files.__file__).read_text()


@pytest.fixture
def files(install):
    """Install the backend `files`."""
    install("plain-files", CODE, group="host")


@pytest.mark.parametrize("values", ["full", "outcome"])
def test_interrupted_solve_is_resumed_with_the_same_result(files, game, tmp_path, monkeypatch, values):
    golden = solve_game(game, save=False, values=values)
    golden.table.close()
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="files", directory=tmp_path, stop=stop, values=values)
    with open_table(game, table_path(game, tmp_path)) as table:
        solved = set(table.records)
        assert 0 < len(solved) < ladder.RUNGS
        kind = "" if values == "full" else "--values outcome "
        with pytest.raises(TableError, match=f"resume it with `solve ladder --backend files {kind}--dir {tmp_path}`"):
            table.require_complete()
    before = {tier: (tmp_path / "ladder" / f"values-{tier}").stat().st_mtime_ns for tier in solved}
    resumed = solve_game(game, backend="files", directory=tmp_path, values=values)
    with resumed.table as table:
        assert verify_table(table).bad == 0
        assert table.size_on_disk > ladder.RING * ladder.RUNGS // (1 if values == "full" else 4)
    assert resumed.hash == golden.hash
    for tier, written in before.items():
        assert (tmp_path / "ladder" / f"values-{tier}").stat().st_mtime_ns == written, (
            "solved tiers are not written again"
        )


@pytest.mark.parametrize("name", ["values-4", "keys-4"])
def test_damaged_tier_is_solved_again(files, game, tmp_path, name):
    solution = solve_game(game, backend="files", directory=tmp_path)
    solution.table.close()
    file = tmp_path / "ladder" / name
    whole = file.read_bytes()
    file.write_bytes(b"x" + whole[1:])
    info = TableInfo.from_json((tmp_path / "ladder" / "info.json").read_bytes())
    status = "solving" if name.startswith("values") else "enumerating"
    plain_files.write_info(tmp_path / "ladder", replace(info, status=status, hash=None))
    again = solve_game(game, backend="files", directory=tmp_path)
    again.table.close()
    assert again.hash == solution.hash
    assert file.read_bytes() == whole


def test_table_of_another_game_or_other_values_is_refused(files, game, tmp_path):
    solve_game(game, backend="files", directory=tmp_path).table.close()
    with pytest.raises(TableError, match="full values"):
        solve_game(game, backend="files", directory=tmp_path, values="outcome")
    info = TableInfo.from_json((tmp_path / "ladder" / "info.json").read_bytes())
    plain_files.write_info(tmp_path / "ladder", replace(info, game="chess"))
    with pytest.raises(TableError, match="chess, not of ladder"):
        solve_game(game, backend="files", directory=tmp_path)


def test_scratch_directory_bounds_memory(files, game, tmp_path):
    """Without a scratch directory, the budget would have to hold the whole table."""
    solve_game(game, backend="files", directory=tmp_path, memory=64 << 20).table.close()
    assert not list((tmp_path / "ladder").glob("scratch*"))


def test_commands_find_the_tables(files, install, tmp_path):
    install("ladder", Path(ladder.__file__).read_text())
    assert solve("ladder", "--backend", "files", "--dir", tmp_path).exit_code == 0
    shown = solve("show", "ladder", "--dir", tmp_path)
    assert shown.exit_code == 0, shown.output
    games = json.loads(solve("games", "--json", "--dir", tmp_path).stdout)
    assert [each["tables"][0]["status"] for each in games if each["name"] == "ladder"] == ["complete"]
    (found,) = find_tables(tmp_path)
    assert (found.path.name, found.problem) == ("ladder", None)
    assert found.size_on_disk > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("def read(", "def reed("), "backend 'files' lacks read"),
        (("def write_keys", "def seal_keys"), "has the store PlainFiles, which lacks write_keys"),
        (("store = PlainFiles", "store = dict"), "not a subclass of perfectplay.table.store.Store"),
        (('backend = "files"', 'backend = ""'), "must set `backend`"),
        (('register("files"', 'register("lmdb"'), "'lmdb' is already registered"),
    ],
)
def test_incomplete_backend_is_refused_at_registration(install, game, change, reason):
    install("plain-files", CODE.replace(*change), group="host")
    assert reason in backends().broken["plain-files"]
    with pytest.raises(UsageError, match=r"unknown backend 'files'.*plain-files is broken"):
        solve_game(game, backend="files")


def test_exporter_that_is_not_callable_is_refused_at_registration(install):
    code = "from perfectplay import hookimpl\n@hookimpl\ndef register_exporters(register): register('x', len)"
    install("bad-exporter", code, group="host")
    registry = plugins.call_host_plugins("register_exporters", check_exporter)
    assert "a function write(path, source)" in registry.broken["bad-exporter"]
