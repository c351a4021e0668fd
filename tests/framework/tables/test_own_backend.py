"""A third party's durable backend gets what LMDB gets: resume, bounded memory, and every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from perfectplay import open_table, solve_game, verify_table
from perfectplay.cli._app import root
from perfectplay.errors import Interrupted, TableError, UsageError
from perfectplay.game import plugins
from perfectplay.table.locations import find_tables, table_path

from ..damage import stop_after_tiers
from . import ladder, plain_files

CODE = Path(plain_files.__file__).read_text()


@pytest.fixture
def files(install):
    """The backend `files`, installed as pip would."""
    install("plain-files", CODE, group="host")


@pytest.mark.parametrize("values", ["full", "outcome"])
def test_it_is_interrupted_resumed_and_ends_with_the_same_table(files, game, tmp_path, monkeypatch, values):
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
        assert (tmp_path / "ladder" / f"values-{tier}").stat().st_mtime_ns == written, "solved tiers stay as they are"


def test_its_scratch_directory_bounds_memory(files, game, tmp_path):
    """Without one, a budget would have to hold the whole table."""
    solve_game(game, backend="files", directory=tmp_path, memory=64 << 20).table.close()
    assert not list((tmp_path / "ladder").glob("scratch*"))


def test_commands_find_its_tables(files, install, tmp_path):
    install("ladder", Path(ladder.__file__).read_text())
    run = CliRunner()
    assert run.invoke(root, ["ladder", "--backend", "files", "--dir", str(tmp_path)]).exit_code == 0
    shown = run.invoke(root, ["show", "ladder", "--dir", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    games = json.loads(run.invoke(root, ["games", "--json", "--dir", str(tmp_path)]).stdout)
    assert [each["tables"][0]["status"] for each in games if each["name"] == "ladder"] == ["complete"]
    (found,) = find_tables(tmp_path)
    assert (found.path.name, found.problem) == ("ladder", None)
    assert found.size_on_disk > 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("def read(", "def reed("), "backend 'files' lacks read"),
        (("def write_keys", "def seal_keys"), "has the store PlainFiles, which lacks write_keys"),
        (("store = PlainFiles", "store = dict"), "a subclass of perfectplay.table.store.Store is needed"),
        (('backend = "files"', 'backend = ""'), "must give the backend's name as `backend`"),
        (('register("files"', 'register("lmdb"'), "'lmdb' is registered already"),
    ],
)
def test_a_backend_that_lacks_something_is_refused_when_it_registers(install, game, change, reason):
    install("plain-files", CODE.replace(*change), group="host")
    assert reason in plugins.host_registry().broken["plain-files"]
    with pytest.raises(UsageError, match=r"unknown backend 'files'.*plain-files is broken"):
        solve_game(game, backend="files")


def test_an_exporter_that_cannot_be_called_is_refused_when_it_registers(install):
    code = "from perfectplay import hookimpl\n@hookimpl\ndef register_exporters(register): register('x', len)"
    install("bad-exporter", code, group="host")
    assert "a function write(path, source)" in plugins.host_registry().broken["bad-exporter"]
