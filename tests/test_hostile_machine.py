"""Commands with closed streams, missing homes and odd file names work or end with one clear line."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from perfectplay import ProofOptions, export_table, load_game, open_table, prove_position, solve_game
from perfectplay.errors import PerfectPlayError, UsageError

from .test_bad_input import assert_refused
from .zoo import read

SMALL = ("connect4", "--width", "3", "--height", "3")
NOT_TEXT = os.fsdecode(b"caf\xe9")
"""A file name in Latin-1, which is not valid UTF-8."""


@pytest.fixture(scope="module")
def tables(run_solve, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    assert run_solve(*SMALL, tables=place).returncode == 0
    return place


@pytest.mark.parametrize("command", ["play", "talk"])
def test_interactive_commands_report_a_closed_input(run_solve, tables, command):
    closed = run_solve(command, *SMALL, tables=tables, preexec_fn=partial(os.close, 0))
    assert_refused(closed, 1, "standard input is closed")


def test_other_commands_work_without_an_input(run_solve, tables):
    assert run_solve("verify", *SMALL, tables=tables, preexec_fn=partial(os.close, 0)).returncode == 0


@pytest.mark.parametrize("command", ["show", "stats", "verify"])
def test_a_closed_output_is_reported(run_solve, tables, command):
    closed = run_solve(command, *SMALL, tables=tables, preexec_fn=partial(os.close, 1))
    assert_refused(closed, 1, "standard output is closed")


def test_an_export_to_a_closed_output_is_refused(run_solve, tables):
    closed = run_solve("export", *SMALL, "csv", "-", tables=tables, preexec_fn=partial(os.close, 1))
    assert_refused(closed, 1, "standard output is closed")


def test_messages_for_a_closed_stream_are_not_written_to_the_table(run_solve, tmp_path):
    """A file that is opened first gets the number of a closed stream."""
    game = tmp_path / "loud.py"
    game.write_text(read("subtraction", {"def status(position): ": "def status(position): os.write(2, b'x'); "}))
    with game.open("a") as file:
        file.write("\nimport os\n")
    where = (str(game), "--dir", str(tmp_path))
    done = run_solve(*where, "--backend", "lmdb", "--no-compile", preexec_fn=partial(os.closerange, 1, 3))
    assert done.returncode == 1
    assert run_solve("verify", *where).returncode == 0


def test_the_exit_code_is_right_with_all_streams_closed(run_solve, tables):
    done = run_solve("show", *SMALL, tables=tables, preexec_fn=partial(os.closerange, 0, 3))
    assert done.returncode == 1


def test_a_full_output_is_reported(run_solve, tables):
    def into_a_full_disk() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    assert_refused(run_solve("show", *SMALL, tables=tables, preexec_fn=into_a_full_disk), 1, "No space left")


def test_without_a_home_directory_dir_is_required(run_solve, tmp_path, monkeypatch):
    """The system has no entry for the user, as in many containers."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    with pytest.raises(UsageError, match="no home directory"):
        solve_game(load_game("connect4", width=3, height=3))
    solve_game(load_game("connect4", width=3, height=3), directory=tmp_path).table.close()


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_directory_name_need_not_be_utf_8(run_solve, tmp_path, backend):
    place = tmp_path / NOT_TEXT
    where = ("--dir", str(place))
    assert run_solve(*SMALL, *where, "--backend", backend, "--memory", "64M").returncode == 0
    for command in (["show", *SMALL], ["verify", *SMALL], ["compact", *SMALL], ["stats", *SMALL], ["tables"]):
        done = run_solve(*command, *where)
        assert (done.returncode, done.stderr) == (0, ""), command
    game = load_game("connect4", width=3, height=3)
    prove_position(game, options=ProofOptions(directory=place))
    with open_table(game, place / game.identity) as table:
        export_table(table, "csv", place / f"{NOT_TEXT}.csv")
    assert (place / f"{NOT_TEXT}.csv").stat().st_size > 0


def test_a_name_with_a_nul_character_is_refused(tables):
    game, bad = load_game("connect4", width=3, height=3), Path("a\0b")
    for backend in ("memory", "lmdb"):
        with pytest.raises(UsageError, match="NUL"):
            solve_game(game, directory=bad, backend=backend)
    with pytest.raises(UsageError, match="NUL"):
        prove_position(game, options=ProofOptions(directory=bad))
    with pytest.raises(PerfectPlayError):
        open_table(game, bad)
    with open_table(game, tables / game.identity) as table, pytest.raises(UsageError, match="NUL"):
        export_table(table, "csv", bad)


@pytest.mark.parametrize("command", [["show"], ["verify"], ["stats"], ["compact"], ["export", "-"], []])
def test_a_fifo_as_data_file_is_refused_at_once(run_solve, tables, tmp_path, command):
    place = tmp_path / load_game("connect4", width=3, height=3).identity
    place.mkdir()
    os.mkfifo(place / "data.mdb")
    given = [*command[:1], *SMALL, *(["csv", str(tmp_path / "out.csv")] if command[1:] else [])]
    done = run_solve(*given, "--dir", str(tmp_path), timeout=20)
    assert_refused(done, 1, "not a regular file")
