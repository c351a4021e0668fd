"""Exports: every format contains exactly the selected positions with the values of the table."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import threading
from contextlib import closing

import numpy as np
import pytest

from perfectplay import Outcome, PerfectPlayError, Selection, UsageError, Value, compare_gbl2, export_table
from perfectplay.analysis.export import sort_rows
from perfectplay.analysis.moves import rate_moves
from perfectplay.analysis.selection import ROW, count_selected, select
from perfectplay.errors import Interrupted
from perfectplay.table.gbl2 import entries, read_gbl2, write_gbl2

from ...cli import assert_refused

FORMATS = ["csv", "gbl2", "parquet", "sqlite"]


def select_values(table, **selection):
    rows = [row for part in select(table, Selection(**selection)) for row in part.tolist()]
    return {position: str(Value.from_code(code)) for position, code in rows}


def winner(game, position, value):
    """Return 1 if the first player wins, -1 if the second player wins, from the text of a value."""
    sign = {"win": 1, "loss": -1, "draw": 0}[value.split()[0]]
    return -sign if game.board(position).to_move else sign


# ---- selections ----


def test_every_canonical_position_is_listed_once(table, everything):
    expected = everything(table)
    assert select_values(table) == expected
    assert count_selected(table, Selection()) == len(expected)


@pytest.mark.parametrize(
    ("selection", "matches"),
    [
        ({"outcome": Outcome.WIN}, lambda value: value.outcome is Outcome.WIN),
        ({"outcome": Outcome.DRAW}, lambda value: value.outcome is Outcome.DRAW),
        ({"max_remoteness": 2}, lambda value: value.remoteness is not None and value.remoteness <= 2),
        ({"outcome": Outcome.LOSS, "remoteness": 2}, lambda value: value == Value(Outcome.LOSS, 2)),
    ],
)
def test_filters_select_matching_positions(table, everything, selection, matches):
    expected = {position: value for position, value in everything(table).items() if matches(table.probe(position))}
    assert select_values(table, **selection) == expected
    assert count_selected(table, Selection(**selection)) == len(expected)


def test_a_limit_selects_the_first_positions_of_the_table(table):
    whole = list(select_values(table))
    for limit in (1, 3, len(whole), len(whole) + 5):
        assert list(select_values(table, limit=limit)) == whole[:limit]
        assert count_selected(table, Selection(limit=limit)) == min(limit, len(whole))


def test_an_unknown_tier_is_named(table):
    assert select_values(table, tiers=frozenset([0])) == select_values(table)
    with pytest.raises(UsageError, match=r"has no tier 7 \(solved tiers: 0\)"):
        select_values(table, tiers=frozenset([7]))


@pytest.mark.parametrize("run_rows", [1, 10, 1000])
def test_rows_are_sorted_with_runs_of_any_size(tmp_path, run_rows):
    generator = np.random.default_rng(1)
    rows = np.empty(300, dtype=ROW)
    rows["position"] = generator.permutation(300).astype(np.uint64) << np.uint64(50)
    rows["code"] = rows["position"] >> np.uint64(50)
    parts = list(sort_rows(np.array_split(rows, 40), tmp_path, run_rows))
    assert np.concatenate(parts).tolist() == [(i << 50, i) for i in range(300)]
    assert list(tmp_path.iterdir()) == []


# ---- each format ----


@pytest.fixture(params=["race", "tictactoe"])
def game_table(request, tables):
    """The tables of the games that define the player to move."""
    return getattr(tables, request.param)


def test_gbl2_has_sorted_positions_and_winners(game_table, everything, tmp_path):
    path = tmp_path / "all.gbl2"
    report = export_table(game_table, "gbl2", path)
    expected = {p: winner(game_table.game, p, value) for p, value in everything(game_table).items()}
    assert [entry for part in read_gbl2(path) for entry in part.tolist()] == sorted(expected.items())
    assert path.stat().st_size == report.bytes == 32 + 9 * len(expected)
    assert report.positions == len(expected)
    found = compare_gbl2(game_table, path)
    assert found.same
    assert (found.entries, found.agree, found.differ, found.unknown) == (len(expected), len(expected), 0, 0)


def test_sqlite_agrees_with_the_table(game_table, everything, tmp_path):
    path, game = tmp_path / "all.db", game_table.game
    export_table(game_table, "sqlite", path)
    query = "SELECT canonical, outcome, depth, best_move FROM solutions"
    done = subprocess.run(["sqlite3", "-json", path, query], capture_output=True, text=True, check=True)
    rows = json.loads(done.stdout)
    assert len(rows) == len(everything(game_table))
    for row in rows:
        position = row["canonical"]
        value, rated = game_table.probe(position), rate_moves(game, game_table, position)
        assert row["outcome"] == winner(game, position, str(value))
        assert row["depth"] == value.remoteness
        assert row["best_move"] == (game.format_move(position, rated[0].moves[0]) if rated else None)
    with closing(sqlite3.connect(path)) as database:
        metadata = dict(database.execute("SELECT key, value FROM metadata"))
    assert metadata["game"] == game.name
    assert metadata["positions"] == str(len(rows))


def test_csv_has_one_line_per_position(table, everything, tmp_path):
    path = tmp_path / "all.csv"
    export_table(table, "csv", path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {int(row["position"]) for row in rows} == set(everything(table))
    for row in rows:
        value, board = table.probe(int(row["position"])), table.game.board(int(row["position"]))
        assert table.game.encode(row["text"]) == int(row["position"])
        assert row["to_move"] == ("" if board is None else str(board.to_move + 1))
        assert row["outcome"] == value.outcome.name.lower()
        assert row["remoteness"] == ("" if value.remoteness is None else str(value.remoteness))


def test_parquet_agrees_with_the_table(table, everything, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "all.parquet"
    export_table(table, "parquet", path)
    rows = parquet.read_table(path).to_pylist()
    assert len(rows) == len(everything(table))
    for row in rows:
        value, board = table.probe(row["position"]), table.game.board(row["position"])
        assert (row["outcome"], row["remoteness"]) == (value.outcome, value.remoteness)
        assert row["to_move"] == (None if board is None else board.to_move + 1)


@pytest.mark.parametrize("format", ["gbl2", "sqlite"])
def test_formats_with_winners_need_the_player_to_move(tables, tmp_path, format):
    with pytest.raises(PerfectPlayError, match="which player is to move"):
        export_table(tables.subtraction, format, tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_an_interrupted_export_leaves_no_file(tables, tmp_path, format):
    pytest.importorskip("pyarrow")
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        export_table(tables.tictactoe, format, tmp_path / "file", stop=stop)
    assert list(tmp_path.iterdir()) == []


def test_progress_reaches_the_number_of_positions(tables, tmp_path):
    seen = []
    report = export_table(tables.tictactoe, "gbl2", tmp_path / "file", progress=seen.append)
    assert [(now.phase, now.positions) for now in seen if now.positions == now.total] == [
        ("sorting", report.positions),
        ("writing", report.positions),
    ]


# ---- comparisons ----


def test_a_comparison_lists_differences_and_unknown_numbers(tables, tmp_path):
    path, game = tmp_path / "wrong.gbl2", tables.tictactoe.game
    lost = game.encode("....OOXXX")  # X has won; not the canonical image
    write_gbl2(path, [entries([0, lost, 3**9], [1, 1, 0])])
    found = compare_gbl2(tables.tictactoe, path)
    assert not found.same
    assert (found.entries, found.agree, found.differ, found.unknown, found.not_canonical) == (3, 1, 1, 1, 1)
    assert [(each.position, each.file, each.table) for each in found.differences] == [(0, 1, 0)]
    assert found.unknown_examples == [3**9]


# ---- on the command line ----


def test_export_and_compare_on_the_command_line(solve, tmp_path):
    path = tmp_path / "wins.gbl2"
    result = solve("export", "tictactoe", "gbl2", path, "--outcome", "win", "--max-remoteness", 3, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["bytes"] == 32 + 9 * report["positions"]
    result = solve("compare", "tictactoe", "gbl2", path)
    assert result.exit_code == 0
    assert f"{report['positions']} of {report['positions']} entries agree" in result.stdout
    path = tmp_path / "wrong.gbl2"
    write_gbl2(path, [entries([0], [-1])])
    result = solve("compare", "tictactoe", "gbl2", path)
    assert result.exit_code == 1
    assert ".........: file the second player wins, table a draw" in result.stdout
    data = json.loads(solve("compare", "tictactoe", "gbl2", path, "--json").stdout)
    assert data["differences"] == [{"position": ".........", "file": -1, "table": 0}]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["export", "tictactoe", "gbl", "x"], 2, "'gbl': did you mean 'gbl2'?"),
        (["export", "tictactoe", "csv", "none/x.csv"], 2, "no directory none"),
        (["export", "tictactoe", "csv", "x.csv", "--tier", "3"], 2, "has no tier 3"),
        (["export", "subtraction", "gbl2", "x"], 1, "which player is to move"),
        (["compare", "tictactoe", "gbl2", "absent"], 2, "'absent' does not exist"),
    ],
)
def test_bad_requests_are_one_line(solve, monkeypatch, tmp_path, arguments, code, words):
    monkeypatch.chdir(tmp_path)
    assert_refused(solve(*arguments), code, words)
    assert list(tmp_path.glob("x*")) == []


def test_a_plugin_can_register_a_format(solve, install, monkeypatch, tmp_path):
    install(
        "lines",
        "from perfectplay.game.spec import hookimpl\n"
        "def write(path, source):\n"
        "    path.write_text(''.join(f'{row[0]}\\n' for rows in source.rows() for row in rows.tolist()))\n"
        "@hookimpl\n"
        "def register_exporters(register): register('lines', write)\n",
        group="host",
    )
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "tictactoe,lines")
    assert solve("export", "tictactoe", "lines", tmp_path / "file", "--limit", 4).exit_code == 0
    assert len((tmp_path / "file").read_text().splitlines()) == 4
