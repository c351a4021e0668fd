"""Solutions of small boards: published results, checks for every game, and verification of the tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from perfectplay import Game, Outcome, Table, Value, load_game, solve_game, verify_table

from ...propagation import solve_by
from ..playouts import solve_plainly
from . import reference


@pytest.fixture(scope="module")
def game() -> Game:
    return load_game("quixo")


@pytest.fixture(scope="module")
def table(game: Game) -> Iterator[Table]:
    with solve_game(game, save=False).table as table:
        yield table


def test_the_first_player_wins_on_four_by_four_in_21_plies(game: Game, table: Table) -> None:
    assert table.probe(game.start()) == Value(Outcome.WIN, 21)
    assert table.statistics.positions == 5_398_083


def test_the_four_by_four_table_is_verified(table: Table) -> None:
    assert verify_table(table).bad == 0


@pytest.mark.parametrize("propagation", ["graph", "forward"])
def test_every_propagation_method_gives_the_same_table(propagation: str) -> None:
    small = load_game("quixo", width=3, height=4)
    solutions = [solve_by(small, method, save=False) for method in ("retract", propagation)]
    for solution in solutions:
        solution.table.close()
    assert solutions[0].hash == solutions[1].hash


def test_three_by_three_agrees_with_a_plain_retrograde_analysis() -> None:
    game = load_game("quixo", width=3, height=3)
    values = solve_plainly(reference, reference.start(3, 3), reference.text)
    with solve_game(game, save=False).table as table:
        assert table.probe(game.start()) == Value(Outcome.WIN, 7)
        assert {name: table.probe(game.encode(name)) for name in values} == values
