"""Texts of positions and moves, the drawn board, and error messages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perfectplay_dobutsu.notation import decode, encode, format_move, notations, parse_move
from perfectplay_dobutsu.rules import RANKED, game_over, swap_colours
from perfectplay_dobutsu.view import board

from . import reference
from .positions import positions

START = "gle/1c1/1C1/ELG b -"


@given(positions())
def test_every_text_of_a_position_is_read_back(position):
    code = reference.encode(position)
    assert {encode(text) for text in notations(code).values()} == {code}


@pytest.mark.parametrize(
    "text", [START, "3/1l1/3/1L1 w 2G2E2C", "3/1l1/3/1L1 b 2GC2ec", "lgc/e2/L2/1gc b E", "1h1/l2/L1G/3 w 2Egc"]
)
def test_a_position_is_written_as_it_was_read(text):
    assert decode(encode(text)) == text


@given(positions())
def test_every_move_is_read_back(position):
    code = reference.encode(position)
    for move in RANKED.moves(code):
        assert parse_move(code, format_move(code, move)) == move
        assert parse_move(code, format_move(code, move).lower()) == move


def test_moves_are_written_in_the_usual_notation():
    start = encode(START)
    assert {format_move(start, move) for move in RANKED.moves(start)} == {"B3xB2", "B4-A3", "B4-C3", "C4-C3"}
    assert parse_move(start, "b3b2") == parse_move(start, "B3xB2")
    promotion = encode("l2/1CG/3/1L1 b G2Ec")
    assert format_move(promotion, parse_move(promotion, "B2B1")) == "B2-B1+"
    assert format_move(promotion, parse_move(promotion, "g*a4")) == "G*A4"


@given(positions())
def test_the_board_shows_the_position_and_a_click_or_a_reason_for_each_target(position):
    code = reference.encode(position)
    drawn = board(code)
    assert drawn.to_move == position.mover
    pieces = {(cell.row, cell.column): cell.stack[0] for cell in drawn.cells if cell.stack}
    assert {cell: piece.owner for cell, piece in pieces.items()} == {c: p.player for c, p in position.board.items()}
    assert sum(tray.count for tray in drawn.trays) == sum(map(sum, (hand.values() for hand in position.hands)))
    clicked = {(click.source, click.target) for click in drawn.clicks}
    assert len(clicked) == len(RANKED.moves(code))
    assert bool(game_over(code)) == (not clicked)
    blocked = {(source, target) for source, targets in drawn.blocked.items() for target in targets}
    assert not clicked & blocked
    if clicked:
        own = [cell for cell, piece in position.board.items() if piece.player == position.mover]
        hand = [kind for kind, count in position.hands[position.mover].items() if count]
        assert len(clicked | blocked) == 11 * len(own) + 12 * len(hand)


@given(st.lists(positions().map(reference.encode), min_size=1, max_size=5))
def test_swapping_colours_of_an_array_agrees_with_the_reference(codes):
    numbers = np.array(codes, dtype=np.uint64)
    turned = [reference.decode(code) for code in codes]
    assert swap_colours(numbers).tolist() == [reference.encode(reference.turn(p)) for p in turned if p]
