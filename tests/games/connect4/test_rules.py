"""The plugin compared with the reference, texts and error messages, and published counts."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Game, Outcome, Value, load_game, solve_game, verify_table

from ..playouts import play_choices, playouts, solve_plainly
from . import reference
from .reference import Position

SIZES = [(4, 4, 4), (5, 5, 4), (5, 6, 4), (7, 6, 4), (3, 3, 3), (1, 8, 8), (9, 6, 5), (7, 8, 7), (5, 5, 2)]
SIZES += [(6, 2, 3), (2, 1, 2)]
"""Columns, rows and the length of a line."""


@cache
def connect4(width: int, height: int, connect: int) -> Game:
    return load_game("connect4", width=width, height=height, connect=connect)


def game_of(position: Position) -> Game:
    return connect4(len(position.columns), position.height, position.connect)


def code_of(position: Position) -> int:
    return game_of(position).encode(reference.text(position))


def check_against_reference(position: Position) -> None:
    game, code = game_of(position), code_of(position)
    assert game.valid(code)
    assert game.decode(code) == reference.text(position)
    moves = reference.moves(position)
    assert game.moves(code) == moves
    assert game.status(code).name == reference.status(position)
    assert game.mover(code) == "XO".index(position.mover)
    for move in moves:
        assert game.apply(code, move) == code_of(reference.apply(position, move))
    assert game.undo_moves(code) == [(move, code) for move in game.moves(code)]
    images = {code, code_of(reference.mirror(position))}
    assert {game.canonicalize(image) for image in images} == {min(images)}


@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_the_reference_on_random_games(size: tuple[int, int, int]) -> None:
    for position in playouts(reference, reference.start(*size), 300):
        check_against_reference(position)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SIZES), st.lists(st.integers(0, 8), max_size=60))
def test_agrees_with_the_reference_on_any_game(size: tuple[int, int, int], choices: list[int]) -> None:
    check_against_reference(play_choices(reference, reference.start(*size), choices))


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**64 - 1) | st.integers(0, 2**20 - 1))
def test_any_number_is_either_a_position_or_not(code: int) -> None:
    assert connect4(4, 4, 4).valid(code) == (code < 2**20 and is_position(code))


def is_position(code: int) -> bool:
    """Check a code column by column, directly from the drawing in rules.py."""
    columns = []
    for bits in (code >> 5 * column & 31 for column in range(4)):
        if not bits:
            return False
        columns.append(["mover" if bits >> row & 1 else "other" for row in range(bits.bit_length() - 1)])
    stones = [stone for column in columns for stone in column]
    to_move = "XO"[len(stones) % 2]
    letters = {"mover": to_move, "other": "OX"[len(stones) % 2]}
    board = Position(tuple("".join(letters[stone] for stone in column) for column in columns), 4, 4)
    return stones.count("mover") == len(stones) // 2 and not reference.has_line(board, to_move)


# ---- published results ----


def test_four_by_four_is_a_draw_with_as_many_positions_as_published() -> None:
    """The count includes finished games. Merging mirror images halves it, and changes no value."""
    plain, folded = load_game("connect4", mirror=False), load_game("connect4")
    with solve_game(plain, save=False).table as one, solve_game(folded, save=False).table as other:
        assert one.probe(plain.start()) == Value(Outcome.DRAW, 16)
        assert one.statistics.positions == 161_029
        assert verify_table(one).bad == 0
        assert other.statistics.positions == 80_541
        for position in playouts(reference, reference.start(4, 4, 4), 500):
            code = code_of(position)
            assert one.probe(code) == other.probe(code)


def test_three_in_a_row_agrees_with_a_plain_search() -> None:
    values = solve_plainly(reference, reference.start(4, 3, 3), reference.text)
    game = load_game("connect4", width=4, height=3, connect=3, mirror=False)
    with solve_game(game, save=False).table as table:
        assert table.statistics.positions == len(values)
        assert {name: table.probe(game.encode(name)) for name in values} == values
