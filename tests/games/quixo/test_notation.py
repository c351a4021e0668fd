"""Texts of positions and moves, reasons against illegal moves, and the drawn board."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from perfectplay import Game, UsageError, load_game
from perfectplay.game.board import spell_board

from . import reference
from .reference import Position
from .test_rules import any_board, code_of, game_of


@pytest.fixture(scope="module")
def game() -> Game:
    return load_game("quixo")


def test_a_position_is_read_as_text_and_as_a_number(game: Game) -> None:
    text = "O.X./.O../.X../....:O"
    position = game.encode(text)
    assert position == sum(1 << cell for cell in (2, 9)) | sum(1 << cell + 32 for cell in (0, 5)) | 1 << 63
    assert game.encode(text.lower()) == game.encode(str(position)) == position
    assert game.decode(position) == text


@pytest.mark.parametrize("text", ["b4→b1", "b4->b1", "b4-b1", "B4 b1", " b4 - b1 "])
def test_a_move_may_be_typed_in_several_ways(game: Game, text: str) -> None:
    position = game.encode("O.X./.O../.X../....:X")
    after = game.apply(position, game.parse_move(position, text))
    assert game.decode(after) == "OOX./.X../..../.X..:O"


def test_a_finished_game_has_no_moves_and_no_clicks(game: Game) -> None:
    position = game.encode("XXXX/OOO./..../....:O")
    with pytest.raises(UsageError, match="the game is over"):
        game.parse_move(position, "d4-a4")
    drawn = game.board(position)
    assert drawn is not None
    assert not drawn.clicks
    assert not drawn.blocked


@settings(max_examples=100, deadline=None)
@given(any_board)
def test_the_board_shows_the_marks_and_has_two_clicks_for_every_move(position: Position) -> None:
    game, code = game_of(position), code_of(position)
    drawn = game.board(code)
    assert drawn is not None
    labels = [cell.stack[0].label if cell.stack else "." for cell in drawn.cells]
    assert "".join(labels) == "".join(position.rows)
    assert drawn.players[drawn.to_move] == position.mover
    assert {click.move: f"{click.source}→{click.target}" for click in drawn.clicks} == {
        move: game.format_move(code, move) for move in game.moves(code)
    }
    assert drawn.spelling is not None
    assert game.encode(spell_board(drawn)) == code


@settings(max_examples=50, deadline=None)
@given(any_board)
def test_arrays_of_movers_and_swapped_colours_agree_with_the_reference(position: Position) -> None:
    game, array = game_of(position), np.array([code_of(position)], dtype=np.uint64)
    assert game.movers(array) == ["XO".index(position.mover)]
    assert game.colour_swapped(array) == [code_of(reference.swap_colours(position))]
