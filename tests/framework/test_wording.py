"""Sentences about values."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from perfectplay.game.wording import sides, verdict, worth
from perfectplay.values import Outcome, Value

WIN, DRAW, LOSS = Outcome.WIN, Outcome.DRAW, Outcome.LOSS


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (Value(WIN, 13), "Ann wins in 13 plies (7 of its moves)"),
        (Value(WIN, 1), "Ann wins in 1 ply (1 of its moves)"),
        (Value(WIN, 2), "Ann wins in 2 plies (1 of its moves)"),  # misère: the opponent makes the losing move
        (Value(LOSS, 12), "Bob wins in 12 plies (6 of its moves)"),
        (Value(LOSS, 0), "Game over: Bob has won"),
        (Value(WIN, 0), "Game over: Ann has won"),
        (Value(DRAW, 0), "Game over: a draw"),
        (Value(DRAW, 9), "Draw in 9 plies"),
        (Value(DRAW, None), "Draw: neither player can force a win, and play need never end"),
    ],
)
def test_verdicts_name_the_winner_and_count_their_moves(value, sentence):
    assert verdict(value, "Ann", "Bob") == sentence


@pytest.mark.parametrize(
    ("value", "alone", "scored"),
    [
        (Value(WIN, 4, score=7), "solved in 4", "score 7 in 4"),
        (Value(DRAW, 2), "never solved", "score 0 in 2"),
        (Value(LOSS, 2, score=-11), "dead end in 2", "score −11 in 2"),
        (Value(DRAW, None), "never solved", "never ends"),
        (Value(WIN, None, outcome_only=True), "can be solved", "can be solved"),
    ],
)
def test_a_puzzle_is_solved_or_scored(value, alone, scored):
    texts = [worth(SimpleNamespace(is_puzzle=True, has_score=each), value) for each in (False, True)]
    assert texts == [alone, scored]


def test_default_players_have_names_in_sentences(tic_tac_toe):
    assert sides(tic_tac_toe, 0) == ("First player", "Second player")
    assert sides(tic_tac_toe, 1) == ("Second player", "First player")
    assert sides(tic_tac_toe, None) == ("The player to move", "The opponent")
    assert verdict(Value(LOSS, 0), *sides(tic_tac_toe, None)) == "Game over: the opponent has won"
