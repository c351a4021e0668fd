"""Queries on games with scores, with repeated turns and on puzzles."""

from __future__ import annotations

import csv
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from starlette.testclient import TestClient

from perfectplay import (
    Match,
    Outcome,
    Selection,
    Status,
    Value,
    export_table,
    hookimpl,
    load_game,
    make_game,
    solve_game,
    value_columns,
)
from perfectplay.analysis.export import sort_rows
from perfectplay.analysis.selection import select
from perfectplay.analysis.statistics import survey
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

from ...cli import solve

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


@pytest.fixture(scope="module")
def dots():
    with solve_game(load_game(str(EXAMPLES / "dots.py"), rows=1, columns=2), save=False).table as table:
        yield table


@pytest.fixture(scope="module")
def values(dots):
    """All positions of the table with their values, probed one by one."""
    positions = np.concatenate([dots.positions(tier, 0, record.size) for tier, record in dots.records.items()])
    return {position: dots.probe(position) for position in positions.tolist()}


def test_exports_have_scores(dots, values, tmp_path):
    export_table(dots, "csv", tmp_path / "dots.csv")
    with (tmp_path / "dots.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = {int(row["position"]): (row["outcome"], int(row["remoteness"]), int(row["score"])) for row in rows}
    assert found == {p: (v.outcome.name.lower(), v.remoteness, v.score) for p, v in values.items()}
    assert {value.score for value in values.values()} == {-2, 0, 2}
    export_table(dots, "parquet", tmp_path / "dots.parquet")
    rows = parquet.read_table(tmp_path / "dots.parquet").to_pylist()
    found = {row["position"]: (row["outcome"], row["remoteness"], row["score"]) for row in rows}
    assert found == {p: (v.outcome, v.remoteness, v.score) for p, v in values.items()}
    export_table(dots, "sqlite", tmp_path / "dots.db")
    with closing(sqlite3.connect(tmp_path / "dots.db")) as database:
        found = {row[0]: row[1:] for row in database.execute("SELECT canonical, outcome, depth, score FROM solutions")}
    # The database stores scores for the first player.
    sign = {position: 1 - 2 * dots.game.mover(position) for position in values}
    assert found == {p: (sign[p] * v.outcome, v.remoteness, sign[p] * v.score) for p, v in values.items()}
    rows = np.concatenate(list(sort_rows(select(dots, Selection()), tmp_path, run_rows=50)))
    assert {position: Value.from_code(code) for position, code in rows.tolist()} == values


def test_longest_wins_may_have_different_scores(dots, values):
    found = survey(dots)
    assert found.longest_wins
    for position in found.longest_wins:
        assert (values[position].outcome, values[position].remoteness) == (Outcome.WIN, found.total.longest_win)


def test_value_columns_of_a_scored_game_have_scores(dots, values):
    columns = value_columns(dots.probe_many(list(values)))
    assert columns["score"].tolist() == [value.score for value in values.values()]
    assert "score" not in value_columns([55])


def test_the_api_returns_scores_of_many_positions(values, tmp_path):
    game = load_game(str(EXAMPLES / "dots.py"), rows=1, columns=2)
    solve_game(game, directory=tmp_path).table.close()
    library = Library(tmp_path, [game])
    positions = [*map(str, list(values)[:200]), "0"]  # 0 is not reachable
    answer = TestClient(make_app(library)).post(f"/api/{game.identity}/probe", json={"positions": positions}).json()
    library.close()
    assert answer["scores"] == [*(value.score for value in list(values.values())[:200]), None]


def test_a_puzzle_is_shown_without_sides(monkeypatch, tmp_path):
    (tmp_path / "sliding.py").write_text((EXAMPLES / "sliding.py").read_text())
    monkeypatch.chdir(tmp_path)
    assert "Solved in 15 moves" in solve("sliding.py", "--quiet").stdout
    for command in ("show", "line"):
        shown = solve(command, "sliding.py").stdout
        assert "to move" not in shown
        assert "solved in 15" in shown
        assert "win in" not in shown
    counted = solve("stats", "sliding.py").stdout
    assert re.search(r"solvable +360", counted)
    assert re.search(r"hardest +21 moves", counted)
    assert "Moves to the end" in counted
    assert "plies" not in counted


def test_a_dead_end_has_no_winner():
    match = Match(make_game(DeadEnd(), name="deadend"))
    match.play(0)
    assert (match.result.outcome, match.result.winner) == (Outcome.LOSS, None)


class DeadEnd:
    """A puzzle whose only move leads to a dead end."""

    @hookimpl
    def start(self):
        return 0

    @hookimpl
    def players(self):
        return ["Solver"]

    @hookimpl
    def moves(self, position):
        return [] if position else [0]

    @hookimpl
    def apply(self, position, move):
        return 1

    @hookimpl
    def status(self, position):
        return Status.LOST if position else Status.ONGOING
