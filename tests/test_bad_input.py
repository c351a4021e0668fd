"""Bad input, closed streams, missing homes and odd file names: commands work or end with one clear line."""

from __future__ import annotations

import os
import resource
from functools import partial
from pathlib import Path

import pytest

from perfectplay import ProofOptions, export_table, load_game, open_table, prove_position, solve_game
from perfectplay.errors import PerfectPlayError, UsageError

from .cli import assert_refused, solve
from .zoo import read


def cells(*owners: tuple[int, int, int]) -> str:
    """Return the number of a position, with player 1 to move, from (cell, size, owner) triples."""
    return str(sum(owner << (6 * cell + 2 * size) for cell, size, owner in owners))


SMALL, MEDIUM, LARGE = 0, 1, 2
CONNECT4 = ("connect4", "--width", "3", "--height", "3")
NOT_TEXT = os.fsdecode(b"caf\xe9")
"""A file name in Latin-1, which is not valid UTF-8."""


@pytest.mark.parametrize(
    "position",
    [
        pytest.param(cells((0, LARGE, 1), (1, LARGE, 1), (3, LARGE, 1)), id="three large pieces of one colour"),
        pytest.param(str(1 << 55), id="bit 55"),
        pytest.param(str(1 << 63), id="bit 63"),
        pytest.param(str(2**64 - 1), id="all ones"),
        pytest.param(str(2**64), id="65 bits"),
        pytest.param(cells((0, SMALL, 3)), id="owner 3"),
        pytest.param(
            cells((0, LARGE, 1), (1, LARGE, 1), (2, MEDIUM, 1), (4, LARGE, 2), (5, LARGE, 2)),
            id="a mover who already has a line",
        ),
        "-1",
        "hello",
        "",
        "L(9,9)",
        "é" * 200,
        "9" * 10_000,
    ],
)
def test_an_invalid_position_is_refused(position: str):
    assert_refused(solve("show", "--", "gobblet", position), 2)


def test_a_missing_table_names_the_command_that_solves_the_game(run_solve, tmp_path: Path):
    for command in ("show", "verify"):
        assert_refused(run_solve(command, "gobblet", tables=tmp_path), 1, "`solve gobblet`")


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
@pytest.mark.parametrize("place", ["below a file", "/proc/tables"])
def test_an_unwritable_directory_is_refused_before_the_solve(run_solve, tmp_path: Path, backend: str, place: str):
    (tmp_path / "file").touch()
    directory = tmp_path / "file" / "tables" if place == "below a file" else Path(place)
    done = run_solve("gobblet", "--backend", backend, tables=directory, timeout=120)
    assert_refused(done, 1, str(directory))


def test_a_file_instead_of_a_directory_is_refused(run_solve, tmp_path: Path):
    (tmp_path / "file").touch()
    assert_refused(run_solve("gobblet", "--dir", str(tmp_path / "file")), 2, "--dir")


def test_a_small_memory_limit_is_refused_at_once(run_solve, tmp_path: Path):
    assert_refused(run_solve("gobblet", "--memory", "1M", tables=tmp_path), 2, "--memory")
    done = run_solve("gobblet", "--memory", "100M", tables=tmp_path, timeout=120)
    assert_refused(done, 1, "needs about", "100M", "--backend lmdb")


@pytest.mark.parametrize("limit", [256 << 20, 512 << 20])
def test_a_machine_without_enough_memory_is_a_one_line_error(run_solve, tmp_path: Path, limit: int):
    bound = partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))
    done = run_solve("gobblet", "--threads", "1", tables=tmp_path, preexec_fn=bound, timeout=120)
    assert_refused(done, 1, "memory")


def test_too_little_memory_for_a_library_is_a_one_line_error(run_solve, tmp_path: Path):
    bound = partial(resource.setrlimit, resource.RLIMIT_AS, (50 << 20, 50 << 20))
    assert_refused(run_solve("show", "gobblet", tables=tmp_path, preexec_fn=bound), 1, "ulimit -v")


@pytest.mark.parametrize("limit", [142_000 << 10, 145_000 << 10, 148_000 << 10])
def test_too_little_memory_for_threads_of_a_library_is_no_interruption(run_solve, tmp_path: Path, limit: int):
    """OpenBLAS raises SIGINT if it cannot start a thread."""
    bound = partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))
    done = run_solve("tables", tables=tmp_path, preexec_fn=bound)
    assert done.returncode in (0, 1)
    assert done.stderr.count("\n") <= 1


def test_closed_output_and_wrong_arguments_are_one_line_errors(run_solve, tmp_path):
    def without_output() -> None:
        os.close(1)

    closed = run_solve("games", "--dir", str(tmp_path), preexec_fn=without_output)
    assert_refused(closed, 1, "standard output is closed")
    assert_refused(run_solve("random", "gobblet", str(2**64), "--dir", str(tmp_path)), 2, "is not in the range")
    for host in ("..", "256.1.1.1", "no such host"):
        assert_refused(run_solve("serve", "--host", host), 1, f"cannot listen on {host}: ")


# ---- hostile machines ----


@pytest.fixture(scope="module")
def tables(run_solve, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("tables")
    assert run_solve(*CONNECT4, tables=place).returncode == 0
    return place


@pytest.mark.parametrize("command", ["play", "talk"])
def test_interactive_commands_report_a_closed_input(run_solve, tables, command):
    closed = run_solve(command, *CONNECT4, tables=tables, preexec_fn=partial(os.close, 0))
    assert_refused(closed, 1, "standard input is closed")


def test_other_commands_work_without_an_input(run_solve, tables):
    assert run_solve("verify", *CONNECT4, tables=tables, preexec_fn=partial(os.close, 0)).returncode == 0


@pytest.mark.parametrize("command", [["show"], ["stats"], ["verify"], ["export", "csv", "-"]])
def test_a_closed_output_is_reported(run_solve, tables, command):
    closed = run_solve(command[0], *CONNECT4, *command[1:], tables=tables, preexec_fn=partial(os.close, 1))
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
    done = run_solve("show", *CONNECT4, tables=tables, preexec_fn=partial(os.closerange, 0, 3))
    assert done.returncode == 1


def test_a_full_output_is_reported(run_solve, tables):
    def into_a_full_disk() -> None:
        os.dup2(os.open("/dev/full", os.O_WRONLY), 1)

    assert_refused(run_solve("show", *CONNECT4, tables=tables, preexec_fn=into_a_full_disk), 1, "No space left")


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
    assert run_solve(*CONNECT4, *where, "--backend", backend, "--memory", "64M").returncode == 0
    for command in (
        ["show", *CONNECT4],
        ["verify", *CONNECT4],
        ["compact", *CONNECT4],
        ["stats", *CONNECT4],
        ["tables"],
    ):
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
    given = [*command[:1], *CONNECT4, *(["csv", str(tmp_path / "out.csv")] if command[1:] else [])]
    done = run_solve(*given, "--dir", str(tmp_path), timeout=120)
    assert_refused(done, 1, "not a regular file")
