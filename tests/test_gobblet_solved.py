"""Gobblet Gobblers, solved completely from the command line and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from perfectplay import Table, load_game, open_table
from perfectplay.table.locations import table_path

GOLDEN_HASHES = Path(__file__).parent / "golden" / "hashes.json"
POSITIONS = 266_238_323


@pytest.fixture(scope="module")
def table(gobblet_tables: Path):
    game = load_game("gobblet")
    with open_table(game, table_path(game, gobblet_tables)) as table:
        yield table


def test_every_position_is_solved(table: Table):
    assert table.complete
    found = table.statistics
    assert found.positions == POSITIONS
    assert found.wins + found.losses + found.draws == POSITIONS
    assert found.ties == 0
    assert found.longest_win == 23


def test_the_first_player_wins_in_13_with_the_published_first_moves(run_solve, gobblet_tables: Path):
    done = run_solve("show", "gobblet", "--json", tables=gobblet_tables)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["outcome"], shown["remoteness"]) == ("win", 13)
    best = [each["moves"] for each in shown["moves"] if (each["outcome"], each["remoteness"]) == ("win", 13)]
    assert sorted(best) == [
        ["L(0,0)", "L(0,2)", "L(2,0)", "L(2,2)"],
        ["L(1,1)"],
        ["S(0,1)", "S(1,0)", "S(1,2)", "S(2,1)"],
    ]


def test_the_table_has_the_golden_hash(table: Table):
    """The hash depends neither on the machine nor on the number of threads."""
    assert table.info.hash == json.loads(GOLDEN_HASHES.read_text())["gobblet"]


def test_verify_confirms_every_value(run_solve, gobblet_tables: Path):
    done = run_solve("verify", "gobblet", "--json", tables=gobblet_tables)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["checked"], report["bad"]) == (POSITIONS, 0)
