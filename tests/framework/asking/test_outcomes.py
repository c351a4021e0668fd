"""Tables of outcomes (`--values outcome`): every command works, and none reports plies that the table does not have."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from pyarrow import parquet

from perfectplay import Outcome, Value, load_game, open_table
from perfectplay.agents import TablePlayer, evaluate_policy
from perfectplay.analysis.moves import best_line
from perfectplay.analysis.selection import random_puzzle, value_columns
from perfectplay.game.wording import outcomes_only
from perfectplay.table.locations import table_path

from ... import zoo
from ...cli import solve

NOTE = f"{outcomes_only(puzzle=False)}\n"
QUIXO = "quixo --width 3 --height 3"
TAPATAN = "morris --men three"
KALAH = "kalah --pits 2 --seeds 2"


def run(*arguments: object, input: str | None = None) -> Result:
    """Run `solve …`. Arguments are split at spaces."""
    return solve(*(word for argument in arguments for word in str(argument).split()), input=input)


def run_json(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--json --quiet")
    assert result.exit_code == 0, result.output
    data: dict[str, object] = json.loads(result.stdout)
    return data


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty directory for tables."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path / "tables"))
    return tmp_path / "tables"


@pytest.fixture(scope="module")
def quixo_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("quixo")
    run_json(QUIXO, "--values outcome --dir", directory)
    return directory


@pytest.fixture
def quixo(quixo_tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solved table of outcomes of 3×3 Quixo, for tests that only read it."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(quixo_tables))


# ---- solving ----


@pytest.mark.parametrize("game", [QUIXO, TAPATAN, "connect4 --width 4 --height 3 --connect 3", KALAH])
def test_every_outcome_equals_that_of_the_full_table(tables, game: str, tmp_path: Path):
    outcomes = run_json(game, "--values outcome")
    full = run_json(game, "--dir", tmp_path / "full")
    loaded = load_game(str(outcomes["game"]), **outcomes["options"])
    with open_table(loaded) as small, open_table(loaded, tmp_path / "full" / loaded.identity) as large:
        assert small.records.keys() == large.records.keys()
        for tier in large.records:
            for few, many in zip(small.values(tier), large.values(tier), strict=True):
                expected = [4 if code == 4 else 0x3FFF << 2 | (code & 3 or 2) for code in many.tolist()]
                assert few.tolist() == expected
    assert outcomes["outcome"] == full["outcome"]
    assert outcomes["draws"] == full["endless_draws"] + full["ties"]
    for unknown in ("remoteness", "longest_win", "longest_loss", "endless_draws", "ties"):
        assert outcomes[unknown] is None
    assert "score" not in outcomes
    assert outcomes["hash"] != full["hash"]
    on_disk = run_json(game, "--values outcome --backend lmdb --memory 64M --dir", tmp_path / "lmdb")
    assert on_disk["hash"] == outcomes["hash"]
    assert "outcomes only" in run("verify", game).stdout
    assert run("verify", game, "--memory 64M").exit_code == 0


def test_the_summary_has_no_longest_win(quixo):
    result = run(QUIXO, "--values outcome --quiet")
    assert result.stdout.startswith("X wins\n\n  best first moves  ")
    assert f"  values            {NOTE}" in result.stdout
    assert "longest" not in result.stdout
    assert "Already solved" in result.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (f"{QUIXO} --backend ray --values outcome --dir empty", ["ray", "--values outcome", "--backend lmdb"]),
        (f"verify {QUIXO} --workers 1 --quiet", ["outcomes", "--workers"]),
        (f"verify {QUIXO} --workers 1 --memory 64M", ["--memory cannot be combined with --workers"]),
        (f"compact {QUIXO} --quiet", ["outcomes"]),
        (f"export {QUIXO} csv few.csv --max-remoteness 3 --quiet", ["remoteness", NOTE.strip()]),
        (f"stats {QUIXO} --quiet --plot plot.svg", ["nothing to plot", NOTE.strip()]),
    ],
)
def test_commands_that_need_full_values_are_refused_in_one_line(quixo, tmp_path, monkeypatch, command, words):
    monkeypatch.chdir(tmp_path)
    refused = run(command)
    assert refused.exit_code != 0
    error = refused.stderr.removeprefix(NOTE)
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    for word in words:
        assert word in error
    assert not list(tmp_path.iterdir())


KILLED = """
import os, signal, itertools
from perfectplay import load_game, solve_game
from perfectplay.table.lmdb_store import LmdbStore

count, write = itertools.count(1), LmdbStore.write_values
def write_and_die(store, record, values):
    write(store, record, values)
    if next(count) == {tiers}:
        os.kill(os.getpid(), signal.SIGKILL)
LmdbStore.write_values = write_and_die
solve_game(load_game("{name}", **{options}), backend="lmdb", values="outcome")
"""


@pytest.mark.parametrize(
    ("name", "options"), [("quixo", {"width": 3, "height": 3}), ("connect4", {"width": 4, "height": 4})]
)
def test_a_killed_solve_is_resumed_by_the_printed_command(tables, name: str, options: dict[str, int]):
    game = f"{name} " + " ".join(f"--{option} {value}" for option, value in options.items())
    ran = subprocess.run([sys.executable, "-c", KILLED.format(tiers=5, name=name, options=options)], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert "unfinished, outcomes" in run("tables").stdout
    assert json.loads(run("tables --json").stdout)[0]["values"] == "outcome"
    refused = run(game, "--backend lmdb")
    command = refused.stderr.split("`")[1]
    assert "--values outcome" in command
    assert refused.exit_code == 1
    resumed = run_json(command.removeprefix("solve "))
    assert resumed["resumed"]
    assert resumed["hash"] == run_json(game, "--values outcome --no-save")["hash"]
    assert run("verify", game).exit_code == 0


# ---- reading ----


def test_show_random_and_talk_print_no_plies(quixo):
    shown = run("show", QUIXO)
    assert shown.stderr == NOTE
    assert "\nX wins\n\nwin  a3→c3" in shown.stdout
    data = json.loads(run("show", QUIXO, "--json").stdout)
    assert (data["outcome"], data["remoteness"], data["verdict"]) == ("win", None, "X wins")
    assert {move["remoteness"] for move in data["moves"]} == {None}
    drawn = run("random", QUIXO, "20 --seed 1")
    assert {line.split("  ")[0].strip() for line in drawn.stdout.splitlines()} == {"win", "loss"}
    answer = json.loads(run("talk", QUIXO, input='".../.../...:X"\n').stdout)
    assert (answer["outcome"], answer["remoteness"]) == ("win", None)


def test_a_line_that_cycles_is_not_presented_as_a_win(tables, tmp_path: Path):
    file = tmp_path / "corridor.py"
    file.write_text(zoo.read("corridor"))
    assert run_json(file, "--values outcome")["verdict"] == "Can be solved"
    line = run("line", file)
    assert line.stderr == f"{outcomes_only(puzzle=True)}\n"
    assert line.stdout.startswith("Can be solved\n")
    assert "Cycle: the position before move 1 " in line.stdout.splitlines()[-1]
    data = json.loads(run("line", file, "--json").stdout)
    assert (data["repeats"], data["ended"]) == (0, False)
    assert {step["remoteness"] for step in data["line"]} == {None}
    assert json.loads(run("line", file, "0 --json").stdout)["ended"]  # a move that ends the game is preferred


def test_a_long_line_is_truncated(quixo, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("perfectplay.cli.line.MAX_OUTCOME_PLIES", 2)
    assert "Stopped after 2 moves." in run("line", QUIXO).stdout


def test_play_prefers_a_move_that_wins_at_once(quixo):
    played = run("play", QUIXO, "--seed 1", input="hint\nvalues\nquit\n").stdout
    assert NOTE in played
    assert "preserves the outcome" in played
    assert "announces" not in played
    assert "None" not in played
    game = load_game("quixo", width=3, height=3)
    with open_table(game) as table:
        ends = 0
        for position in map(int, table.positions(12, 0, table.records[12].size)):
            if game.valid(position) and table.probe(position).outcome is Outcome.WIN and game.moves(position):
                ends += not game.moves(best_line(game, table, position, limit=1).end)
        assert ends > 10
        assert random_puzzle(table, 1) is None or table.probe(random_puzzle(table, 1)).outcome is Outcome.WIN


def test_stats_count_all_draws_together(tables):
    run_json(TAPATAN, "--values outcome")
    stats = run("stats", TAPATAN).stdout
    assert NOTE in stats
    assert "Plies to the end" not in stats
    assert "endless" not in stats
    data = run_json("stats", TAPATAN, "--reachable")
    assert (data["values"], data["longest_win"], data["by_remoteness"], data["ties"]) == ("outcome", None, [], None)
    assert data["positions"] == data["wins"] + data["losses"] + data["draws"]


def test_exports_have_no_remoteness(quixo, tmp_path: Path):
    files = {kind: tmp_path / f"table.{kind}" for kind in ("csv", "parquet", "sqlite", "gbl2")}
    for kind, path in files.items():
        result = run("export", QUIXO, kind, path, "--quiet")
        assert (result.exit_code, result.stderr) == (0, NOTE), result.output
    with files["csv"].open() as file:
        assert {row["remoteness"] for row in csv.DictReader(file)} == {""}
    assert parquet.read_table(files["parquet"])["remoteness"].null_count == 2 * 2862
    with sqlite3.connect(files["sqlite"]) as database:
        assert database.execute("SELECT DISTINCT depth FROM solutions").fetchall() == [(None,)]
    assert run("compare", QUIXO, "gbl2", files["gbl2"]).exit_code == 0


def test_a_data_set_has_no_remoteness(tables, tmp_path: Path):
    run_json(KALAH, "--values outcome")
    path = tmp_path / "set.parquet"
    export = f"export {KALAH} parquet {path} --features --quiet"
    assert run(export, "--limit 20").exit_code == 0
    data = parquet.read_table(path)
    assert data["remoteness"].null_count == len(data)
    assert "score" not in data.column_names
    assert "numbers of plies are not known" in (tmp_path / "set.md").read_text()
    assert "cannot sample by remoteness" in run(export, "--sample remoteness --limit 9").stderr


def test_agents_columns_searches_and_benchmarks_work(quixo):
    game = load_game("quixo", width=3, height=3)
    with open_table(game, table_path(game)) as table:
        codes = table.probe_many([game.start(), game.start()])
        assert codes.dtype.itemsize == 2
        columns = value_columns(codes)
        assert (columns["outcome"].tolist(), columns["remoteness"].tolist()) == ([1, 1], [None, None])
        rated = evaluate_policy(table, TablePlayer(table, seed=1), [game.start()])
        assert (rated.optimal, rated.kept, list(rated.by_remoteness)) == (1.0, 1.0, [None])
        assert str(rated).endswith("regret 0.000 points")
        assert table.probe(game.start()) == Value(Outcome.WIN, None, outcome_only=True)
    assert run_json("prove", QUIXO, "--table --no-save")["outcome"] == "win"
    assert run("bench", QUIXO).exit_code == 0


# ---- planning ----


def test_a_plan_shows_the_cost_of_outcomes_and_recommends_them_if_full_values_do_not_fit(tables, monkeypatch):
    data = run_json("plan gobblet --seconds 0.3")
    assert data["outcome"]["table"] * 3.5 < data["disk"]["table"]
    assert data["outcome"]["memory"] < data["memory"]["memory"]
    assert (data["values"], data["method"]) == ("full", "memory")
    monkeypatch.setattr("perfectplay.plan.plan.free_disk", lambda path: 100 << 20)
    plan = run("plan gobblet --seconds 0.3 --quiet").stdout
    assert "with --values outcome\n" in plan
    assert plan.rstrip().endswith("outcomes fit in memory: `solve gobblet --values outcome`.")
