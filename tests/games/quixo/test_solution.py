"""Solutions of small boards: published results, checks for every game, and verification of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from perfectplay import Game, Outcome, Table, Value, load_game, solve_game, verify_table

from ...propagation import solve_by
from . import reference
from .reference import Position


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
    """The analysis scans all reachable positions repeatedly and uses only the reference's rules."""
    game = load_game("quixo", width=3, height=3)
    start = reference.start(3, 3)
    children = {position: plain_children(position) for position in reachable_from(start)}
    plies = {position: 0 for position in children if reference.status(position) != "ONGOING"}
    won = {position for position in plies if reference.status(position) == "WON"}
    level = 0
    while True:
        level += 1
        decided = {}
        for position, after in children.items():
            if position in plies:
                continue
            if any(child in plies and child not in won for child in after):
                decided[position] = True
            elif all(child in won for child in after):
                decided[position] = False
        if not decided:
            break
        plies |= dict.fromkeys(decided, level)
        won |= {position for position, wins in decided.items() if wins}
    assert (start in won, plies[start]) == (True, 7)
    with solve_game(game, save=False).table as table:
        for position in children:
            value = table.probe(game.encode(reference.text(position)))
            if position not in plies:
                assert value.outcome is Outcome.DRAW
            else:
                outcome = Outcome.WIN if position in won else Outcome.LOSS
                assert value == Value(outcome, plies[position])


@cache
def plain_children(position: Position) -> frozenset[Position]:
    return frozenset(reference.apply(position, move) for move in reference.moves(position))


def reachable_from(start: Position) -> set[Position]:
    seen = frontier = {start}
    while frontier:
        frontier = {child for position in frontier for child in plain_children(position)} - seen
        seen = seen | frontier
    return seen
