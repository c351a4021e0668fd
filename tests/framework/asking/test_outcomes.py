"""Tables of outcomes as people use them: what every command says of them, and that none says what it cannot know."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

from perfectplay import Outcome, Value, load_game, open_table
from perfectplay.agents import TablePlayer, evaluate_policy
from perfectplay.analysis.moves import best_line
from perfectplay.analysis.selection import random_puzzle, value_columns
from perfectplay.cli import _app as root
from perfectplay.table.locations import table_path

NOTE = "This table stores who wins, not in how many moves (--values outcome).\n"

# From 0 the exit is open. The walk that the rules list first goes to and fro at the other end of the corridor.
CORRIDOR = """
from perfectplay import Status, hookimpl

@hookimpl
def players(): return ["You"]

@hookimpl
def start(): return 5

@hookimpl
def valid(position): return position <= 6

@hookimpl
def moves(position): return [] if position == 6 else [1, 0] if position < 5 else [0]

@hookimpl
def apply(position, move):
    if move: return position + 1
    return position - 1 if position else 6

@hookimpl
def status(position): return Status.WON if position == 6 else Status.ONGOING
"""


@pytest.fixture
def solve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    """Run `solve …`, on the real games, with tables in a directory of its own."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path / "tables"))

    def run(*arguments: object, input: str | None = None) -> Result:
        words = [word for argument in arguments for word in str(argument).split()]
        return CliRunner().invoke(root, words, prog_name="solve", input=input)

    return run


QUIXO = "quixo --width 3 --height 3"
TAPATAN = "morris --men three"
GAMES = (QUIXO, TAPATAN, "connect4 --width 4 --height 3 --connect 3", "kalah --pits 2 --seeds 2")


def solved(solve: Callable[..., Result], game: str, *more: str) -> dict[str, object]:
    result = solve(game, "--values outcome --json --quiet", *more)
    assert result.exit_code == 0, result.output
    data: dict[str, object] = json.loads(result.stdout)
    return data


@pytest.mark.parametrize("game", GAMES)
def test_every_outcome_is_that_of_the_full_table(solve, game: str, tmp_path: Path):
    outcomes = solved(solve, game)
    full = json.loads(solve(game, "--json --quiet --dir", tmp_path / "full").stdout)
    loaded = load_game(str(outcomes["game"]), **outcomes["options"])
    with open_table(loaded) as small, open_table(loaded, tmp_path / "full" / loaded.identity) as large:
        assert small.records.keys() == large.records.keys()
        for tier in large.records:
            for few, many in zip(small.values(tier), large.values(tier), strict=True):
                right = [4 if code == 4 else 0x3FFF << 2 | (code & 3 or 2) for code in many.tolist()]
                assert few.tolist() == right
    assert outcomes["outcome"] == full["outcome"]
    assert (outcomes["remoteness"], outcomes["longest_win"], outcomes["longest_loss"]) == (None, None, None)
    assert (outcomes["endless_draws"], outcomes["ties"]) == (None, None)
    assert outcomes["draws"] == full["endless_draws"] + full["ties"]
    assert "score" not in outcomes
    assert outcomes["hash"] != full["hash"]
    assert solved(solve, game, "--backend lmdb --memory 64M --dir", str(tmp_path / "lmdb"))["hash"] == outcomes["hash"]
    assert "outcomes alone" in solve("verify", game).stdout
    assert solve("verify", game, "--memory 64M").exit_code == 0


def test_a_summary_says_what_it_cannot_tell(solve):
    result = solve(QUIXO, "--values outcome --quiet")
    assert result.stdout.startswith("X wins\n\n  best first moves  ")
    assert f"  values            {NOTE}" in result.stdout
    assert "longest" not in result.stdout
    again = solve(QUIXO, "--values outcome --quiet")
    assert "Already solved" in again.stdout


def test_the_two_kinds_are_told_apart(solve, tmp_path: Path):
    solved(solve, QUIXO)
    refused = solve(QUIXO)
    assert refused.exit_code == 1
    assert (
        "holds a table of quixo-height=3-width=3 with outcomes only: use it, replace it with --force" in refused.stderr
    )
    assert refused.stderr.count("\n") == 1
    assert json.loads(solve(QUIXO, "--force --json --quiet").stdout)["values"] == "full"
    refused = solve(QUIXO, "--values outcome --backend lmdb")
    assert "with full values: use it" in refused.stderr
    assert solved(solve, QUIXO, "--force --backend lmdb")["values"] == "outcome"
    assert "solved, outcomes" in solve("tables").stdout
    assert json.loads(solve("tables --json").stdout)[0]["values"] == "outcome"
    solve("tables --remove quixo-height=3-width=3")
    assert (
        solve(QUIXO, "--backend ray --values outcome")
        .stderr.strip()
        .endswith("the ray backend stores full values only; leave out --values outcome, or use --backend lmdb")
    )
    solved(solve, QUIXO)
    assert solve("verify", QUIXO, "--workers 1 --quiet").stderr == (
        "error: a table of outcomes is verified by threads, not by workers; leave out --workers and --address\n"
    )
    assert "--memory is for this process's own threads" in solve("verify", QUIXO, "--workers 1 --memory 64M").stderr
    assert "--values does not work with --method alphabeta" in solve(QUIXO, "--values full --method alphabeta").stderr


KILLED = """
import os, signal, itertools
from perfectplay import load_game, solve_game
from perfectplay.solve.steps import LocalSteps

kept, keep = itertools.count(1), LocalSteps.write_tier
def keep_and_die(solve, tier):
    keep(solve, tier)
    if next(kept) == {tiers}:
        os.kill(os.getpid(), signal.SIGKILL)
LocalSteps.write_tier = keep_and_die
solve_game(load_game("{name}", **{options}), backend="lmdb", values="outcome")
"""


@pytest.mark.parametrize(
    ("name", "options"), [("quixo", {"width": 3, "height": 3}), ("connect4", {"width": 4, "height": 4})]
)
def test_a_killed_solve_is_resumed_by_the_command_it_names(solve, name: str, options: dict[str, int], tmp_path: Path):
    game = f"{name} " + " ".join(f"--{option} {value}" for option, value in options.items())
    ran = subprocess.run([sys.executable, "-c", KILLED.format(tiers=5, name=name, options=options)], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert "unfinished, outcomes" in solve("tables").stdout
    refused = solve(game, "--backend lmdb")
    words = refused.stderr.split("`")[1]
    assert "--values outcome" in words
    assert refused.exit_code == 1
    result = solve(words.removeprefix("solve "), "--json --quiet")
    resumed = json.loads(result.stdout)
    assert resumed["resumed"]
    assert resumed["hash"] == solved(solve, game, "--no-save")["hash"]
    assert solve("verify", game).exit_code == 0


def test_show_and_random_have_words_without_numbers(solve):
    solved(solve, QUIXO)
    shown = solve("show", QUIXO)
    assert shown.stderr == NOTE
    assert "\nX wins\n\nwin  a3→c3" in shown.stdout
    data = json.loads(solve("show", QUIXO, "--json").stdout)
    assert (data["outcome"], data["remoteness"], data["verdict"]) == ("win", None, "X wins")
    assert {move["remoteness"] for move in data["moves"]} == {None}
    drawn = solve("random", QUIXO, "20 --seed 1")
    assert {line.split("  ")[0].strip() for line in drawn.stdout.splitlines()} == {"win", "loss"}
    talked = json.loads(solve("talk", QUIXO, input='".../.../...:X"\n').stdout)
    assert (talked["outcome"], talked["remoteness"]) == ("win", None)


def test_a_line_that_goes_round_is_never_presented_as_a_win(solve, tmp_path: Path):
    file = tmp_path / "corridor.py"
    file.write_text(CORRIDOR)
    assert solved(solve, str(file))["verdict"] == "Can be solved"
    line = solve("line", file)
    assert "This table stores what can be solved, not in how many moves" in line.stderr
    assert line.stdout.startswith("Can be solved\n")
    assert line.stdout.rstrip().endswith(
        "Round in a circle: this is the position of move 1 again, up to symmetry. Each move keeps the outcome, and "
        "none need come nearer to an end."
    )
    data = json.loads(solve("line", file, "--json").stdout)
    assert (data["repeats"], data["ended"]) == (0, False)
    assert {step["remoteness"] for step in data["line"]} == {None}
    assert solve("line", file, "0 --json").exit_code == 0
    assert json.loads(solve("line", file, "0 --json").stdout)["ended"]  # a move that ends the game is taken


def test_a_line_is_cut_short(solve, monkeypatch: pytest.MonkeyPatch):
    solved(solve, QUIXO)
    monkeypatch.setattr("perfectplay.cli.line.LONGEST_UNGUIDED", 2)
    assert "Cut short after 2 moves: each keeps the outcome" in solve("line", QUIXO).stdout


def test_play_says_it_and_takes_a_win_that_ends_the_game(solve):
    solved(solve, QUIXO)
    played = solve("play", QUIXO, "--seed 1", input="hint\nvalues\nquit\n")
    assert NOTE in played.stdout
    assert "whether or not it comes nearer to an end" in played.stdout
    assert "announces" not in played.stdout
    assert "None" not in played.stdout
    game = load_game("quixo", width=3, height=3)
    with open_table(game) as table:
        ends = 0
        for position in map(int, table.positions(12, 0, table.records[12].size)):
            if game.valid(position) and table.probe(position).outcome is Outcome.WIN and game.moves(position):
                step = best_line(game, table, position, limit=1)
                ends += not game.moves(step.end)
        assert ends > 10
        assert random_puzzle(table, 1) is None or table.probe(random_puzzle(table, 1)).outcome is Outcome.WIN


def test_stats_count_and_plot_nothing_that_is_not_known(solve, tmp_path: Path):
    solved(solve, TAPATAN)
    stats = solve("stats", TAPATAN)
    assert NOTE in stats.stdout
    assert "Plies to the end" not in stats.stdout
    assert "endless" not in stats.stdout
    data = json.loads(solve("stats", TAPATAN, "--reachable --json --quiet").stdout)
    assert (data["values"], data["longest_win"], data["by_remoteness"], data["ties"]) == ("outcome", None, [], None)
    assert data["positions"] == data["wins"] + data["losses"] + data["draws"]
    refused = solve("stats", TAPATAN, "--quiet --plot", tmp_path / "plot.svg")
    assert refused.stderr == f"error: there is nothing to plot: {NOTE}"


def test_compact_is_refused_in_one_line_and_bench_does_without(solve):
    solved(solve, QUIXO)
    refused = solve("compact", QUIXO, "--quiet")
    assert "has outcomes only" in refused.stderr
    assert solve("bench", QUIXO).exit_code == 0


def test_exports_leave_distances_empty(solve, tmp_path: Path):
    solved(solve, QUIXO)
    place = {kind: tmp_path / f"table.{kind}" for kind in ("csv", "parquet", "sqlite", "gbl2")}
    for kind, path in place.items():
        result = solve("export", QUIXO, kind, path, "--quiet")
        assert result.exit_code == 0, result.output
        assert result.stderr == NOTE
    with place["csv"].open() as file:
        assert {row["remoteness"] for row in csv.DictReader(file)} == {""}
    assert parquet.read_table(place["parquet"])["remoteness"].null_count == 2 * 2862
    with sqlite3.connect(place["sqlite"]) as database:
        assert database.execute("SELECT DISTINCT depth FROM solutions").fetchall() == [(None,)]
    assert solve("compare", QUIXO, "gbl2", place["gbl2"]).exit_code == 0
    refused = solve("export", QUIXO, "csv", tmp_path / "few.csv", "--max-remoteness 3 --quiet")
    assert "no position can be chosen by its plies: This table stores who wins" in refused.stderr


def test_a_data_set_has_no_remoteness(solve, tmp_path: Path):
    solved(solve, "kalah --pits 2 --seeds 2")
    path = tmp_path / "set.parquet"
    made = solve("export kalah --pits 2 --seeds 2 parquet", path, "--features --limit 20 --quiet")
    assert made.exit_code == 0, made.output
    table = parquet.read_table(path)
    assert table["remoteness"].null_count == len(table)
    assert "score" not in table.column_names
    assert "how many plies that takes is not known" in (tmp_path / "set.md").read_text()
    refused = solve("export kalah --pits 2 --seeds 2 parquet", path, "--features --sample remoteness --limit 9 --quiet")
    assert "a sample by remoteness cannot be drawn" in refused.stderr


def test_agents_and_columns(solve):
    solved(solve, QUIXO)
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


def test_a_search_rests_on_outcomes(solve):
    solved(solve, QUIXO)
    found = json.loads(solve(QUIXO, "--method alphabeta --use-table --json --quiet --no-save").stdout)
    assert found["outcome"] == "win"


def test_a_plan_shows_what_outcomes_would_need(solve):
    data = json.loads(solve("plan gobblet --seconds 0.3 --json --quiet").stdout)
    assert data["outcome"]["table"] * 3.5 < data["disk"]["table"]
    assert data["outcome"]["memory"] < data["memory"]["memory"]
    assert (data["values"], data["method"]) == ("full", "memory")
    assert "where --values outcome will do" in solve("plan", QUIXO, "--seconds 0.1 --quiet").stdout


def test_a_plan_falls_back_on_outcomes(solve, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("perfectplay.plan.plan.free_disk", lambda path: 100 << 20)
    plan = solve("plan gobblet --seconds 0.3 --quiet")
    assert plan.stdout.rstrip().endswith(
        "Distances do not fit, but who wins fits in memory: `solve gobblet --values outcome`."
    )
