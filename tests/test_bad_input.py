"""Bad input to the program `solve`: a one-line error, the right exit code, and no traceback."""

from __future__ import annotations

import os
import resource
from functools import partial
from pathlib import Path

import pytest


def assert_refused(done, code: int, *words: str) -> None:
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def cells(*owners: tuple[int, int, int]) -> str:
    """Return the number of a position, with player 1 to move, from (cell, size, owner) triples."""
    return str(sum(owner << (6 * cell + 2 * size) for cell, size, owner in owners))


SMALL, MEDIUM, LARGE = 0, 1, 2


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
def test_an_invalid_position_is_refused(run_solve, tmp_path: Path, position: str):
    assert_refused(run_solve("show", "--", "gobblet", position, tables=tmp_path), 2)


def test_an_unknown_game_gets_a_suggestion_or_the_list_of_games(run_solve):
    for name in ("gobblett", "goblet", "Gobblet"):
        assert_refused(run_solve(name), 2, f"'{name}'", "did you mean 'gobblet'?")
    assert_refused(run_solve("show", "goblet"), 2, "did you mean 'gobblet'?")
    assert_refused(run_solve("xyzzy"), 2, "'xyzzy'", "installed games: connect4")


def test_a_missing_table_names_the_command_that_solves_the_game(run_solve, tmp_path: Path):
    for command in ("show", "verify"):
        assert_refused(run_solve(command, "gobblet", tables=tmp_path), 1, "`solve gobblet`")


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
@pytest.mark.parametrize("place", ["below a file", "/proc/tables"])
def test_an_unwritable_directory_is_refused_before_the_solve(run_solve, tmp_path: Path, backend: str, place: str):
    (tmp_path / "file").touch()
    directory = tmp_path / "file" / "tables" if place == "below a file" else Path(place)
    done = run_solve("gobblet", "--backend", backend, tables=directory, timeout=20)
    assert_refused(done, 1, str(directory))


def test_a_file_instead_of_a_directory_is_refused(run_solve, tmp_path: Path):
    (tmp_path / "file").touch()
    assert_refused(run_solve("gobblet", "--dir", str(tmp_path / "file")), 2, "--dir")


def test_a_small_memory_limit_is_refused_at_once(run_solve, tmp_path: Path):
    assert_refused(run_solve("gobblet", "--memory", "1M", tables=tmp_path), 2, "--memory")
    done = run_solve("gobblet", "--memory", "100M", tables=tmp_path, timeout=20)
    assert_refused(done, 1, "needs about", "100M", "--backend lmdb")


@pytest.mark.parametrize("limit", [256 << 20, 512 << 20])
def test_a_machine_without_enough_memory_is_a_one_line_error(run_solve, tmp_path: Path, limit: int):
    bound = partial(resource.setrlimit, resource.RLIMIT_AS, (limit, limit))
    done = run_solve("gobblet", "--threads", "1", tables=tmp_path, preexec_fn=bound, timeout=20)
    assert_refused(done, 1, "memory")


def test_too_little_memory_for_a_library_is_a_one_line_error(run_solve, tmp_path: Path):
    bound = partial(resource.setrlimit, resource.RLIMIT_AS, (50 << 20, 50 << 20))
    assert_refused(run_solve("show", "gobblet", tables=tmp_path, preexec_fn=bound), 1, "ulimit -v")


def test_closed_output_and_wrong_arguments_are_one_line_errors(run_solve, tmp_path):
    def without_output() -> None:
        os.close(1)

    closed = run_solve("games", "--dir", str(tmp_path), preexec_fn=without_output)
    assert_refused(closed, 1, "standard output is closed")
    assert_refused(run_solve("random", "gobblet", str(2**64), "--dir", str(tmp_path)), 2, "is not in the range")
    for host in ("..", "256.1.1.1", "no such host"):
        assert_refused(run_solve("serve", "--host", host), 1, f"cannot listen on {host}: ")
