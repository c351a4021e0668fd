"""The command line: output, standard error and exit codes."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from perfectplay.game.loading import load_game
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.store import MemoryStore
from perfectplay.values import Outcome, Value

from ..cli import assert_refused, solve
from .damage import change_value


@pytest.fixture(autouse=True)
def four_games(install, codes, monkeypatch, tmp_path) -> None:
    """Only four games are installed, and the directory for tables is empty."""
    install("stones", codes.subtraction)
    install("tictactoe", codes.tic_tac_toe)
    install("nim", codes.variants)
    install("broken", "1 / 0")
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "stones,tictactoe,nim,broken")
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path / "tables"))
    monkeypatch.delenv("PERFECTPLAY_DEBUG", raising=False)


# ---- help and games ----


def test_help_lists_games_and_commands_and_imports_no_game():
    result = solve()
    assert result.exit_code == 0
    assert result.stdout == solve("--help").stdout
    lines = ("Games:", "tictactoe  from try-tictactoe 1.0", "Commands:", "  verify ")
    places = [result.stdout.index(line) for line in lines]
    assert places == sorted(places)
    assert not [name for name in sys.modules if name.startswith("installed_try")]


def test_games_lists_games_and_errors():
    result = solve("games")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["GAME", "TITLE", "VERSION", "RULES", "TABLE"]
    assert ["stones", "1.0", "Python,", "compiled", "not", "solved"] in rows
    nim = rows.index(["nim", "1.0", "Python,", "compiled", "not", "solved"])
    assert rows[nim + 1] == ["options:", "--stones", "7", "--last", "wins", "--no-quick-end"]
    assert "broken is broken: cannot import installed_try_broken: ZeroDivisionError" in result.stdout
    games = {game["name"]: game for game in json.loads(solve("games", "--json").stdout)}
    assert games["stones"] == {
        "name": "stones",
        "title": "stones",
        "version": "1.0",
        "kind": "Python, compiled",
        "options": [],
        "tables": [],
        "broken": None,
        "needs": None,
    }
    assert games["nim"]["options"][0]["allowed"] == "a whole number from 1 to 30"
    assert "ZeroDivisionError" in games["broken"]["broken"]
    solve("stones")
    rows = [line.split() for line in solve("games").stdout.splitlines()]
    assert ["stones", "1.0", "Python,", "compiled", "solved"] in rows
    (stones,) = [game for game in json.loads(solve("games", "--json").stdout) if game["name"] == "stones"]
    assert stones["tables"] == [{"options": {}, "status": "complete", "compact": False}]


# ---- solving ----


def test_solving_prints_a_summary():
    result = solve("tictactoe", "--threads", "2", "--memory", "256M")
    assert result.exit_code == 0, result.stderr
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines() if line]
    assert result.stdout.startswith("Draw in 9 plies\n")
    assert ["positions", "765"] in lines
    assert ["ties", "151  19.7 %"] in lines
    assert "best first moves  a3, b3, b2\n" in result.stdout
    assert re.search(r"time              [0-9.]+ s \(CPU [0-9.]+ s\), .*/s\n", result.stdout)
    assert re.search(r"peak memory       [0-9.]+ [MG]iB, and [0-9.]+ [MG]iB of mapped files\n", result.stdout)
    assert re.search(r"hash              [0-9a-f]{16}\n", result.stdout)
    assert "solve show tictactoe" in result.stdout


def test_solving_as_json():
    summary = json.loads(solve("stones", "--json").stdout)
    assert (summary["outcome"], summary["remoteness"]) == ("win", 5)
    assert summary["verdict"] == "First player wins in 5 plies (3 of its moves)"
    assert summary["best_moves"] == ["1"]
    assert summary["positions"] == 8
    assert summary["wins"] + summary["losses"] == 8


def test_no_save_writes_no_table():
    result = solve("stones", "--no-save")
    assert "not saved" in result.stdout
    assert_refused(solve("show", "stones"), 1, "no table of stones", "`solve stones`")


def test_a_games_own_options_are_options_of_every_command(tmp_path):
    directory = str(tmp_path / "kept here")
    result = solve("nim", "--stones", "5", "--quick-end", "--dir", directory)
    assert result.exit_code == 0, result.stderr
    assert "nim-last=wins-quick-end=yes-stones=5" in result.stdout
    again = "nim --quick-end --stones 5 --dir"
    assert f"solve show {again}" in result.stdout
    shown = solve("show", "--stones", "5", "nim", "--quick-end", "--dir", directory, "--json")
    assert json.loads(shown.stdout)["options"] == {"last": "wins", "quick-end": True, "stones": 5}
    assert_refused(solve("show", "nim"), 1, "no table of nim", "nim-last=wins-quick-end=no-stones=7")
    assert "stones at the start (a whole number from 1 to 30; default: 7)" in " ".join(
        solve("nim", "--help").stdout.split()
    )


@pytest.mark.parametrize(
    ("backend", "words"), [("memory", "stopped, nothing saved; start again with"), ("lmdb", "stopped; resume with")]
)
def test_ctrl_c_stops_cleanly_and_prints_the_command_to_continue(monkeypatch, backend, words):
    write = {"memory": MemoryStore, "lmdb": LmdbStore}[backend].write_key_blocks

    def interrupt(*arguments):
        signal.raise_signal(signal.SIGINT)
        write(*arguments)

    for store in (MemoryStore, LmdbStore):
        monkeypatch.setattr(store, "write_key_blocks", interrupt)
    result = solve("nim", "--stones", "5", "--backend", backend)
    assert result.exit_code == 130
    assert result.stderr == f"{words}: solve nim --stones 5 --backend {backend}\n"


# ---- showing ----


def test_show_draws_the_board_and_groups_moves_best_first():
    solve("tictactoe")
    result = solve("show", "tictactoe", "X...O....")
    assert result.exit_code == 0, result.stderr
    assert "3 │ X │   │   │" in result.stdout
    assert "text  X...O....\n" in result.stdout
    assert "\nDraw in 7 plies\n" in result.stdout
    moves = result.stdout[result.stdout.index("Draw in 7 plies") :].splitlines()[2:]
    assert moves[0].startswith("draw in 7  ")
    assert moves == ["draw in 7  b3 a2, c3 a1, c2 b1, c1"]  # mirror images are grouped


def test_show_without_a_position_shows_the_start():
    solve("stones")
    result = solve("show", "stones")
    assert result.stdout.splitlines() == [
        "text  7",
        "",
        "First player wins in 5 plies (3 of its moves)",
        "",
        "win in 5   1",
        "loss in 4  2",
    ]
    assert "Game over: the opponent has won" in solve("show", "stones", "0").stdout
    data = json.loads(solve("show", "stones", "0", "--json").stdout)
    assert (data["status"], data["outcome"], data["remoteness"], data["moves"]) == ("lost", "loss", 0, [])


def test_a_finished_board_shows_no_player_to_move():
    solve("tictactoe")
    assert "First to move\n" in solve("show", "tictactoe", "XO.......").stdout
    for finished in (solve("show", "tictactoe", "XXXOO....").stdout, solve("line", "tictactoe", "XX.OO....").stdout):
        assert "3 │ X │ X │ X │" in finished
        assert "Game over: " in finished
        assert " to move\n" not in finished
    played = solve("play", "tictactoe", "--from", "XX.OO....", input="c3\n").stdout
    before, last = played.split("┌───┬───┬───┐")[-2:]
    assert "First to move\n" in before
    assert "First player wins." in last
    assert " to move\n" not in last


# ---- verifying ----


def test_verify_proves_a_table_or_finds_wrong_values():
    solve("stones")
    result = solve("verify", "stones")
    assert result.exit_code == 0
    assert re.fullmatch(r"stones: proven, all 8 positions correct \(.* s, CPU .* s\)\n", result.stdout)
    change_value(load_game("stones"), index=5, code=Value(Outcome.LOSS, 2).code)
    result = solve("verify", "stones")
    assert result.exit_code == 1
    assert "stones: 3 of 8 positions wrong" in result.stdout
    assert "  5: stored loss in 2, should be win in 3\n" in result.stdout
    data = json.loads(solve("verify", "stones", "--json").stdout)
    assert data["bad"] == 3
    assert {"position": "5", "stored": "loss in 2", "expected": "win in 3"} in data["examples"]


# ---- mistakes ----


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["stone"], 2, ["unknown game 'stone': did you mean 'stones'?"]),
        (["shwo", "stones"], 2, ["unknown command 'shwo': did you mean 'show'?"]),
        (["show", "stone"], 2, ["did you mean 'stones'?"]),
        (["show"], 2, ["Missing argument 'GAME'", "solve show --help"]),
        (["stones", "--thread", "2"], 2, ["--threads", "solve stones --help"]),
        (["stones", "--threads", "0"], 2, ["--threads"]),
        (["stones", "--memory", "lots"], 2, ["'lots' is not a size", "256M"]),
        (["stones", "--backend", "memry"], 2, ["unknown backend 'memry': did you mean 'memory'?"]),
        (["stones", "extra"], 2, ["extra"]),
        (["nim", "--stones", "99"], 2, ["--stones", "1 to 30", "'99'"]),
        (["broken"], 1, ["broken: cannot import installed_try_broken: ZeroDivisionError"]),
        (["show", "broken"], 1, ["ZeroDivisionError"]),
        (["show", "stones", "8"], 2, ["'8' is not a position of stones"]),
        (["show", "tictactoe", "XX"], 2, ["nine of . X O"]),
        (["--threads", "2", "stones"], 2, ["--threads"]),
        (["stones", "--threads", "1" + "0" * 20], 2, ["--threads", "4096"]),
        (["stones", "--memory", "99999999999T"], 2, ["--memory", "'99999999999T' is not a size"]),
        (["stones", "--memory", "9" * 400], 2, ["--memory"]),
        (["plan", "stones", "--seconds", "nan"], 2, ["--seconds", "nan is not a finite number"]),
        (["plan", "stones", "--seconds", "inf"], 2, ["--seconds", "inf"]),
        (["prove", "stones", "--checkpoint", "inf"], 2, ["--checkpoint", "inf"]),
    ],
)
def test_bad_input_is_one_line_on_stderr(arguments, code, words):
    assert_refused(solve(*arguments), code, *words)


def test_an_internal_error_is_one_line(monkeypatch):
    monkeypatch.setattr("perfectplay.cli.show.rate_moves", lambda *arguments, **options: {}[0])
    solve("stones")
    result = solve("show", "stones")
    assert result.exit_code == 1
    assert result.stderr == "internal error: KeyError: 0 (set PERFECTPLAY_DEBUG=1 for the traceback)\n"
    monkeypatch.setenv("PERFECTPLAY_DEBUG", "1")
    assert "Traceback" in solve("show", "stones").stderr


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (RuntimeError("can't start new thread"), "ulimit -v"),
        (ImportError(f"fcntl.so: cannot open shared object file: {os.strerror(errno.EMFILE)}"), "ulimit -n"),
    ],
)
def test_a_small_limit_of_the_process_is_named(monkeypatch, error, word):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("perfectplay.cli.show.rate_moves", fail)
    solve("stones")
    assert_refused(solve("show", "stones"), 1, word)


# ---- in a separate process ----


def test_a_process_lists_installed_games_and_a_closed_pipe_is_not_an_error(install):
    command = [sys.executable, "-m", "perfectplay", "games"]
    environment = {**os.environ, "PYTHONPATH": str(install.path), "PERFECTPLAY_PLUGINS": "stones"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split()[:4] == ["stones", "1.0", "Python,", "compiled"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
