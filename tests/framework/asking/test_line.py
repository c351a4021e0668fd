"""Best lines, random positions, and the commands that show them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from perfectplay import Outcome, best_line, rate_moves
from perfectplay.analysis.selection import random_positions
from perfectplay.errors import UsageError

from ...cli import assert_refused


def test_a_line_has_as_many_plies_as_its_remoteness(table, everything):
    game = table.game
    for position in everything(table):
        line = best_line(game, table, position)
        value = table.probe(position)
        if value.remoteness is not None:
            assert len(line.steps) == value.remoteness
            assert not game.moves(line.end)
            assert line.repeats is None
        for step in line.steps:
            assert step.position == position
            position = game.apply(position, step.move)
        assert line.end == position


def test_an_endless_line_stops_at_the_first_repetition(tables):
    table, game = tables.race, tables.race.game
    endless = [p for p in range(128) if game.valid(p) and table.probe(p).remoteness is None]
    assert endless
    for position in endless:
        line = best_line(game, table, position)
        assert line.repeats is not None
        assert game.canonicalize(line.end) == game.canonicalize(line.steps[line.repeats].position)


def test_each_step_lists_all_best_moves(table):
    game = table.game
    for step in best_line(game, table, game.start()).steps:
        rated = rate_moves(game, table, step.position)
        assert step.best == [each for each in rated if each.value == step.value]


def test_line_prints_every_ply_and_the_end(solve):
    result = solve("line", "tictactoe", "XX.OO....")
    assert result.exit_code == 0, result.output
    verdict, _, first, *_, last = result.stdout.splitlines()
    assert verdict.startswith("First player wins in 1 ply")
    assert first == "  1. First player   c3  win in 1"
    assert last == "Game over: First player has won"
    assert "  or " in solve("line", "tictactoe").stdout  # equally good moves
    endless = solve("line", "race").stdout
    assert endless.startswith("Draw: neither player can force a win")
    assert "before move 3 has occurred again" in endless
    finished = solve("line", "tictactoe", "XXXOO....").stdout.splitlines()
    assert finished[0] == finished[-1] == "Game over: First player has won"
    data = json.loads(solve("line", "tictactoe", "XX.OO....", "--json").stdout)
    assert data["verdict"].startswith("First player wins in 1 ply")
    assert [(ply["move"], ply["outcome"], ply["remoteness"]) for ply in data["line"]] == [("c3", "win", 1)]
    assert data["end"] == "XXXOO...."


# ---- random positions ----


def test_random_positions_depend_on_the_seed(table):
    first = random_positions(table, 50, seed=3)
    assert np.array_equal(first, random_positions(table, 50, seed=3))
    assert not np.array_equal(first, random_positions(table, 50, seed=4))


def test_too_many_random_positions_are_refused(table):
    for count in (-1, 55_834_575_072, 2**64):
        with pytest.raises(UsageError, match="at most 10,000,000"):
            random_positions(table, count)


def test_all_positions_are_about_equally_likely(tables, everything):
    table = tables.race
    positions = set(everything(table))
    drawn, counts = np.unique(random_positions(table, 100 * len(positions), seed=1), return_counts=True)
    assert set(map(int, drawn)) == positions
    assert counts.min() > 50
    assert counts.max() < 150


def test_random_prints_positions_and_values(solve, tables):
    result = solve("random", "tictactoe", 5, "--seed", 1)
    lines = [line.rsplit("  ", 1) for line in result.stdout.splitlines()]
    assert len(lines) == 5
    for value, text in lines:
        assert str(tables.tictactoe.probe(tables.tictactoe.game.encode(text))) == value.strip()
    data = json.loads(solve("random", "tictactoe", 5, "--seed", 1, "--json").stdout)
    assert [each["position"] for each in data] == [text for _, text in lines]
    assert {each["outcome"] for each in data} <= {each.name.lower() for each in Outcome}


@pytest.mark.parametrize("arguments", [["random", "tictactoe", "0"], ["random", "tictactoe", "many"]])
def test_a_wrong_number_is_a_one_line_error(solve, arguments):
    assert_refused(solve(*arguments), 2)
