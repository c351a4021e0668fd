"""The command line in a terminal: solved tables, the list of tables, colours, line widths, completion."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from perfectplay import open_table
from perfectplay.analysis.moves import RatedMoves
from perfectplay.cli import root
from perfectplay.cli._terminal import rated_lines
from perfectplay.table.lmdb_store import WriterLock
from perfectplay.values import Outcome, Value

from ..cli import assert_refused, solve


@pytest.fixture(autouse=True)
def three_games(install, codes, monkeypatch, tmp_path) -> None:
    """Only three games are installed, and the directory for tables is empty."""
    install("stones", codes.subtraction)
    install("tictactoe", codes.tic_tac_toe)
    install("nim", codes.variants)
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "stones,tictactoe,nim")
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path / "tables"))
    monkeypatch.delenv("NO_COLOR", raising=False)


# ---- solving again ----


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_solved_game_is_solved_again_only_with_force(backend):
    first = json.loads(solve("stones", "--backend", backend, "--json").stdout)
    assert first["already_solved"] is None
    again = solve("stones", "--backend", backend)
    assert again.stdout.startswith("First player wins in 5 plies")
    since = r"^Already solved \(since \d{4}-\d\d-\d\d \d\d:\d\d\); --force solves it again\.$"
    assert re.search(since, again.stdout, re.M)
    assert not re.search(r"^  time", again.stdout, re.M)  # nothing was measured
    found = json.loads(solve("stones", "--backend", backend, "--json").stdout)
    assert found["already_solved"]
    assert (found["hash"], found["seconds"]) == (first["hash"], None)
    forced = json.loads(solve("stones", "--backend", backend, "--force", "--json").stdout)
    assert forced["already_solved"] is None
    assert forced["hash"] == first["hash"]
    assert forced["seconds"] > 0
    assert not forced["resumed"]


def test_a_damaged_table_is_solved_again():
    first = json.loads(solve("stones", "--json").stdout)
    with open_table("stones") as table:
        values = b"".join(block.tobytes() for tier in sorted(table.records) for block in table.values(tier))
    file = Path(first["table"]) / "data.mdb"
    data = file.read_bytes()
    assert values in data
    file.write_bytes(data.replace(values, bytes(len(values))))
    again = json.loads(solve("stones", "--json").stdout)
    assert (again["already_solved"], again["hash"]) == (None, first["hash"])


# ---- the list of tables ----


def test_tables_lists_tables_with_size_and_status(tmp_path):
    assert solve("tables").stdout == f"There are no tables in {tmp_path / 'tables'}.\n"
    solve("stones")
    solve("nim", "--stones", "5", "--backend", "lmdb")
    rows = [line.split() for line in solve("tables").stdout.splitlines()]
    assert rows[0] == ["TABLE", "SIZE", "STATUS", "CHANGED"]
    names = [row[0] for row in rows[1:3]]
    assert names == ["nim-last=wins-quick-end=no-stones=5", "stones"]
    assert all(row[3] == "solved" and row[-1] == "ago" for row in rows[1:3])
    assert rows[4][:2] == ["2", "tables,"]
    listed = json.loads(solve("tables", "--json").stdout)
    assert [each["game"] for each in listed] == ["nim", "stones"]
    assert all(each["bytes"] > 0 and each["status"] == "complete" for each in listed)


def test_tables_removes_only_the_named_tables(tmp_path):
    solve("stones")
    solve("nim", "--stones", "5")
    other_file = tmp_path / "tables" / "stones" / "notes.txt"
    other_file.write_text("mine")
    assert_refused(solve("tables", "--remove", "stones", "--remove", "stone"), 2, "no table 'stone'", "'stones'?")
    assert len(json.loads(solve("tables", "--json").stdout)) == 2  # an unknown name removes nothing
    assert solve("tables", "--remove", "stones").stdout.startswith("removed stones (")
    assert [each["game"] for each in json.loads(solve("tables", "--json").stdout)] == ["nim"]
    assert other_file.read_text() == "mine"
    solve("tables", "--remove", "nim-last=wins-quick-end=no-stones=5")
    assert not (tmp_path / "tables" / "nim-last=wins-quick-end=no-stones=5").exists()


def test_a_table_that_is_being_written_is_not_removed(tmp_path):
    solve("stones")
    with WriterLock(tmp_path / "tables" / "stones"):
        assert_refused(solve("tables", "--remove", "stones"), 1, "another process is writing")
    assert json.loads(solve("tables", "--json").stdout)


# ---- colours and widths ----


def test_colours_are_printed_only_to_terminals_and_not_with_no_color(monkeypatch):
    solve("stones")
    assert "\x1b[32m" in solve("show", "stones", color=True).stdout  # a win is green
    assert "\x1b[" not in solve("show", "stones").stdout
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in solve("show", "stones", color=True).stdout


@pytest.mark.parametrize("width", [20, 40, 80])
def test_moves_of_equal_value_are_listed_on_lines_that_fit(tic_tac_toe, width):
    start = tic_tac_toe.start()
    win, loss = Value(Outcome.WIN, 5), Value(Outcome.LOSS, 12)
    rated = [RatedMoves([0, 2, 6, 8], win), RatedMoves([4], win), RatedMoves([1, 3, 5, 7], loss)]
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in rated_lines(tic_tac_toe, start, rated, width=width)]
    assert all(len(line) <= width for line in lines)
    assert " ".join(" ".join(lines).split()) == "win in 5 a3 c3 a1 c1, b2 loss in 12 b3 a2 c2 b1"
    assert sum(line.startswith("win in 5") for line in lines) == 1


@pytest.mark.parametrize("command", ["games", "tables", "rules nim", "line tictactoe", "check nim", "stats tictactoe"])
def test_lines_fit_the_terminal(monkeypatch, tmp_path, command):
    solve("tictactoe")
    solve("nim")
    monkeypatch.setenv("COLUMNS", "80")
    long = [line for line in solve(*command.split()).stdout.splitlines() if len(line) > 80]
    assert [line for line in long if str(tmp_path) not in line] == []  # the path of the tables cannot be wrapped


@pytest.mark.parametrize("command", ["games", "rules nim", "line tictactoe"])
def test_lines_break_between_words_and_lose_none(monkeypatch, command):
    solve("tictactoe")
    outputs = []
    for columns in (40, 1000):
        monkeypatch.setenv("COLUMNS", str(columns))
        outputs.append(solve(*command.split()).stdout)
    narrow, wide = outputs
    assert len(narrow.splitlines()) > len(wide.splitlines())
    assert narrow.split() == wide.split()


def test_the_list_of_legal_moves_fits_the_terminal(monkeypatch):
    solve("tictactoe")
    monkeypatch.setenv("COLUMNS", "20")
    typed = solve("play", "tictactoe", input="moves\n").stdout
    assert re.search(r"> a3  b3  c3  a2  b2\nc2  a1  b1  c1$", typed, re.M)


def test_players_and_values_have_colours(tic_tac_toe):
    solve("tictactoe")
    position = tic_tac_toe.position().apply("a3").apply("b2")
    shown = solve("show", "tictactoe", str(position), color=True).stdout
    assert "\x1b[38;5;208m X \x1b[0m" in shown  # the first player is orange, as on the web page
    assert "\x1b[38;5;33m O \x1b[0m" in shown
    assert "\x1b[38;5;208mFirst\x1b[0m to move" in shown
    line = solve("line", "tictactoe", color=True).stdout
    assert "  1. \x1b[38;5;208mFirst player\x1b[0m" in line
    assert "\x1b[33mdraw in 9\x1b[0m" in line
    solve("stones")
    assert "\x1b[32mwin in " in solve("random", "stones", "20", color=True).stdout
    played = solve("play", "stones", input="hint\n", color=True).stdout
    assert "\x1b[32m\x1b[1mFirst player wins" in played


# ---- other commands ----


def test_quiet_shows_no_progress(monkeypatch):
    monkeypatch.setattr("perfectplay.cli._terminal.PLAIN_INTERVAL", 0.0)
    assert solve("tictactoe", "--force").stderr != ""
    for command in (["tictactoe", "--force", "--quiet"], ["verify", "tictactoe", "-q"], ["stats", "tictactoe", "-q"]):
        result = solve(*command)
        assert (result.exit_code, result.stderr) == (0, ""), command
        assert result.stdout


def test_bench_announces_its_measurements():
    assert "measuring: writing and reading blocks …" in solve("bench", "stones").stderr
    assert solve("bench", "stones", "--quiet").stderr == ""


def test_random_positions_differ_unless_a_seed_is_given():
    solve("tictactoe")
    assert solve("random", "tictactoe", "20").stdout != solve("random", "tictactoe", "20").stdout
    seeded = [solve("random", "tictactoe", "20", "--seed", "3").stdout for _ in range(2)]
    assert seeded[0] == seeded[1]


def test_games_lists_options_as_the_command_line_accepts_them():
    (line,) = [line for line in solve("games").stdout.splitlines() if "options: " in line]
    options = line[line.index("--") :].split()
    assert solve("nim", *options, "--no-save").exit_code == 0


def test_games_lists_only_non_default_options_of_a_table():
    solve("nim")
    (line,) = [line for line in solve("games").stdout.splitlines() if line.startswith("nim ")]
    assert line.endswith(" solved")
    solve("tables", "--remove", "nim-last=wins-quick-end=no-stones=7")
    solve("nim", "--stones", "5")
    (line,) = [line for line in solve("games").stdout.splitlines() if line.startswith("nim ")]
    assert line.endswith(" solved (--stones 5)")


def test_suggested_commands_repeat_only_non_default_options():
    output = solve("nim").stdout
    assert "`solve show nim`" in output
    assert "`solve verify nim`" in output
    assert "`solve show nim --stones 5`" in solve("nim", "--stones", "5").stdout
    assert "`solve nim --stones 5`." in solve("plan", "nim", "--stones", "5", "--seconds", "0.1").stdout


@pytest.mark.parametrize("backend", ["memry", "lmbd"])
def test_an_unknown_backend_is_refused_even_if_the_game_is_solved(backend):
    solve("stones")
    assert_refused(solve("stones", "--backend", backend), 2, f"unknown backend '{backend}': did you mean")


@pytest.mark.parametrize(
    ("words", "incomplete", "expected"),
    [
        ([], "to", []),
        ([], "st", ["stats", "stones"]),
        (["show"], "ti", ["tictactoe"]),
        (["export", "stones"], "p", ["parquet"]),
        (["stones", "--backend"], "l", ["lmdb"]),
        (["nim"], "--quick", ["--quick-end"]),
        (["show", "nim"], "--sto", ["--stones"]),
    ],
)
def test_a_shell_completes_games_options_formats_and_backends(words, incomplete, expected):
    completions = ShellComplete(root, {}, "solve", "_SOLVE_COMPLETE").get_completions(words, incomplete)
    assert [each.value for each in completions] == expected
