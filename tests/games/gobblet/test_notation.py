"""Texts of positions and moves, reasons against illegal moves, and the board with its clicks."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import UsageError, load_game
from perfectplay_gobblet import plugin
from perfectplay_gobblet.notation import decode, encode, format_move, notations, parse_move
from perfectplay_gobblet.rules import why_not_place, why_not_slide
from perfectplay_gobblet.view import board

from ..playouts import playouts
from . import reference
from .positions import positions, random_placements
from .reference import CELLS, SIZES, START, Move, Position
from .test_reference import REVEALS, describe

STUCK = REVEALS[-1]["board"]
WON_BY_ORANGE = "S,M,L/s,m,./.,.,.:blue"


def text_of(move: Move) -> str:
    source, target = describe(move)
    return source + target if move.source is None else f"{source}→{target}"


def error_of(read: Callable[[str], int], text: str) -> str:
    """Return the message of the ValueError that `read` raises, or an empty string."""
    try:
        read(text)
    except ValueError as error:
        return str(error)
    return ""


# ---- positions ----


def test_the_empty_board_in_every_notation() -> None:
    assert notations(0) == {"board": ".,.,./.,.,./.,.,.:orange", "decimal": "0", "base64": "AAAAAAAAAAA"}


@pytest.mark.parametrize("case", REVEALS, ids=lambda case: case["board"])
def test_the_reveal_cases_are_written_as_in_the_golden_file(case: dict[str, Any]) -> None:
    assert decode(case["encoding"]) == case["board"]
    assert encode(case["board"]) == case["encoding"]


@settings(max_examples=300, deadline=None)
@given(positions())
def test_every_notation_of_a_position_is_read_back(position: Position) -> None:
    code = reference.encode(position)
    texts = notations(code)
    assert len(texts["base64"]) == 11
    assert texts["board"] == decode(code)
    assert {name: encode(text) for name, text in texts.items()} == dict.fromkeys(texts, code)
    assert all(shlex.quote(text) == text for text in texts.values()), "no notation needs quotes in a shell"


@pytest.mark.parametrize(
    "text",
    [
        "s,m,sL/.,.,./.,.,.:o",
        "s,m,sL/.,.,./.,.,.:Orange",
        "  s, m, sL / ., ., . / ., ., . : ORANGE \n",
        "0074242",
        "AAAAAAABIgI=",
    ],
)
def test_spelling_variants_are_accepted(text: str) -> None:
    assert encode(text) == 74242


def test_eleven_digits_are_a_decimal() -> None:
    """As base64 they would set bit 63, so they cannot be a position."""
    code = reference.encode(reference.decode(0b10 | 1 << 34))
    assert len(str(code)) == 11
    assert encode(str(code)) == code


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "'' is not a position: write a number, 11 characters of base64, or a board such as s,m,"),
        ("hello", "'hello' is not a position"),
        ("-5", "'-5' is not a position"),
        ("١٢", "is not a position"),
        ("x" * 5000, "…' is not a position"),
        ("3", "'3' is not a position: the small piece at cell (0,0) has owner 3"),
        (str(48 << 30), "the large piece at cell (1,2) has owner 3"),
        (str(16 | 16 << 6 | 16 << 18), "Orange has 3 large pieces, at (0,0) (0,1) (1,0)"),
        (str(1 << 55), "bits 55 and above"),
        (str(2**64), "bits 55 and above"),
        ("9" * 5000, "5000 digits"),
        ("gAAAAAAAAAA", "bits 55 and above"),
        ("AAAAAAAAAAB", "the last two bits of its base64"),
        ("AAAAAAAAAA", "'AAAAAAAAAA' is not a position"),
        ("S,M,L/s,m,./.,.,.:orange", "Orange is to move but already has the line (0,0) (0,1) (0,2)"),
        (".,.,l/.,l,./l,.,.:blue", "Blue has 3 large pieces, at (0,2) (1,1) (2,0)"),
        ("s,m,sL/.,.,./.,.,.", ":orange or :blue, but this has no colon"),
        ("s,m,sL/.,.,./.,.,.:red", ":orange or :blue, but this has 'red'"),
        ("s,m,sL/.,.,.:blue", "3 rows separated by /, but this has 2"),
        ("s,m,sL/.,./.,.,.:blue", "row 1 must have 3 cells"),
        ("s,m,sL/.,.,./.,,.:blue", "cell (2,1) is blank"),
        ("s,m,sX/.,.,./.,.,.:blue", "'X' at cell (0,2) is not a piece"),
        ("ſ,m,sL/.,.,./.,.,.:blue", "'ſ' at cell (0,0) is not a piece"),
        ("s,m,Ls/.,.,./.,.,.:blue", "the stack 'Ls' at cell (0,2) has small on large"),
        ("s,m,sS/.,.,./.,.,.:blue", "the stack 'sS' at cell (0,2) has small on small"),
    ],
)
def test_an_invalid_position_is_rejected_with_fault_and_place(text: str, fault: str) -> None:
    message = error_of(encode, text)
    assert fault in message
    assert len(message) < 220


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="SMLsml.,/:orangeblue 0123456789ABC+=→->()", max_size=30)))
def test_any_text_is_a_position_or_a_value_error(text: str) -> None:
    assert "\n" not in error_of(encode, text)
    assert "\n" not in error_of(partial(parse_move, 0), text)


@settings(max_examples=500, deadline=None)
@given(st.integers(0, 2**56))
def test_a_number_is_rejected_exactly_if_it_is_not_a_position(code: int) -> None:
    check_rejection(code)


def test_a_number_near_a_position_is_rejected_exactly_if_it_is_not_one() -> None:
    generator = random.Random(1)
    for position in random_placements(2000, seed=2):
        check_rejection(reference.encode(position) ^ 1 << generator.randrange(55))


def check_rejection(code: int) -> None:
    assert (error_of(encode, str(code)) == "") == reference.is_valid(code), code


# ---- moves ----


@pytest.mark.parametrize(
    ("board_text", "text", "written"),
    [
        (".,.,./.,.,./.,.,.:orange", "L(1,1)", "L(1,1)"),
        (".,.,./.,.,./.,.,.:orange", " l ( 1 , 1 ) ", "L(1,1)"),
        (".,.,./.,.,./.,.,.:orange", "m0,2", "M(0,2)"),
        ("s,m,sL/.,.,./.,.,.:orange", "(0,2)→(0,0)", "(0,2)→(0,0)"),
        ("s,m,sL/.,.,./.,.,.:orange", "(0,2) -> (0,0)", "(0,2)→(0,0)"),
        ("s,m,sL/.,.,./.,.,.:orange", "0,2-0,0", "(0,2)→(0,0)"),
    ],
)
def test_moves_are_read_in_several_spellings(board_text: str, text: str, written: str) -> None:
    position = encode(board_text)
    assert format_move(position, parse_move(position, text)) == written


@pytest.mark.parametrize(
    ("board_text", "text", "reason"),
    [
        ("l,l,sM/.,.,./.,.,.:orange", "(0,2)->(1,1)", "(0,2)→(1,1) is not legal: lifting it reveals Blue's line"),
        ("l,l,sM/.,.,./.,.,.:orange", "(0,2)->(0,1)", "medium piece does not cover the large piece at (0,1)"),
        ("mL,s,s/m,.,./l,.,.:orange", "(0,0)->(0,1)", "2 lines of Blue, (0,0) (0,1) (0,2) and (0,0) (1,0) (2,0)"),
        ("s,m,sL/.,.,./.,.,.:orange", "(0,0)->(1,1)", "the piece at (0,0) is Blue's, and Orange is to move"),
        ("Sm,.,./.,.,./.,.,.:orange", "(0,0)->(1,1)", "Orange's piece at (0,0) is covered by Blue's"),
        ("s,m,sL/.,.,./.,.,.:orange", "(2,2)->(1,1)", "no piece at (2,2)"),
        ("s,m,sL/.,.,./.,.,.:orange", "(0,2)->(0,2)", "may not go back to its own cell"),
        ("L,L,./.,.,./.,.,.:orange", "L(2,2)", "L(2,2) is not legal: Orange has no large piece"),
        ("s,m,sL/.,.,./.,.,.:orange", "S(0,0)", "a small piece does not cover the small piece at (0,0)"),
        (WON_BY_ORANGE, "L(2,2)", "the game is over: Orange has the line (0,0) (0,1) (0,2)"),
        (WON_BY_ORANGE, "(1,0)->(2,2)", "the game is over: Orange has the line (0,0) (0,1) (0,2)"),
        (STUCK, "(0,0)->(2,2)", "2 lines of Blue"),
        (".,.,./.,.,./.,.,.:orange", "L(3,0)", "(3,0) is off the board"),
        (".,.,./.,.,./.,.,.:orange", "X(0,0)", "'X(0,0)' is not a move: write L(1,1)"),
        (".,.,./.,.,./.,.,.:orange", "", "'' is not a move"),
    ],
)
def test_an_illegal_move_is_rejected_with_the_reason(board_text: str, text: str, reason: str) -> None:
    assert reason in error_of(partial(parse_move, encode(board_text)), text)


@settings(max_examples=200, deadline=None)
@given(positions())
def test_every_legal_move_is_read_back(position: Position) -> None:
    code = reference.encode(position)
    moves = plugin.kernel().moves(code)
    texts = [format_move(code, move) for move in moves]
    assert sorted(texts) == sorted(map(text_of, reference.moves(position)))
    assert [parse_move(code, text) for text in texts] == moves


def test_exactly_the_illegal_moves_have_a_reason() -> None:
    for position in (*playouts(reference, START, 300, seed=3), *random_placements(300, seed=4)):
        code = reference.encode(position)
        legal = {
            Move(size, None, cell)
            for size in SIZES
            for target, cell in enumerate(CELLS)
            if why_not_place(code, size, target) is None
        }
        for source, source_cell in enumerate(CELLS):
            for target, cell in enumerate(CELLS):
                if why_not_slide(code, source, target) is None:
                    piece = position.visible(source_cell)
                    assert piece is not None
                    legal.add(Move(piece.size, source_cell, cell))
        assert legal == set(reference.moves(position)), code


# ---- the board ----


@settings(max_examples=200, deadline=None)
@given(positions())
def test_the_board_has_a_click_or_a_reason_for_each_liftable_piece_and_cell(position: Position) -> None:
    code = reference.encode(position)
    drawn = board(code)
    clicks = [(click.source, click.target) for click in drawn.clicks]
    assert sorted(click.move for click in drawn.clicks) == sorted(plugin.kernel().moves(code))
    assert len(set(clicks)) == len(clicks)
    blocked = {(source, target) for source, targets in drawn.blocked.items() for target in targets}
    assert not blocked & set(clicks)
    if position.has_line(position.opponent):
        assert not blocked
    else:
        liftable = sum(1 for cell in drawn.cells if cell.stack and cell.stack[-1].owner == drawn.to_move)
        in_hand = sum(1 for tray in drawn.trays if tray.piece.owner == drawn.to_move and tray.count)
        assert len(blocked) + len(clicks) == 9 * (liftable + in_hand)


def test_the_board_shows_stacks_reserves_and_players() -> None:
    drawn = board(encode("s,m,sL/.,.,./.,.,.:orange"))
    assert drawn.players == ("Orange", "Blue")
    assert drawn.to_move == 0
    assert [(cell.id, cell.row, cell.column) for cell in drawn.cells[:4]] == [
        ("(0,0)", 0, 0),
        ("(0,1)", 0, 1),
        ("(0,2)", 0, 2),
        ("(1,0)", 1, 0),
    ]
    assert [(piece.owner, piece.label) for piece in drawn.cells[2].stack] == [(1, "s"), (0, "L")]
    assert {tray.id: tray.count for tray in drawn.trays} == {
        "orange-S": 2,
        "orange-M": 2,
        "orange-L": 1,
        "blue-S": 0,
        "blue-M": 1,
        "blue-L": 2,
    }


def test_the_board_warns_before_a_lift_that_reveals_a_line() -> None:
    drawn = board(encode("s,m,sL/.,.,./.,.,.:orange"))
    assert "Blue's line (0,0) (0,1) (0,2)" in drawn.warnings["(0,2)"]
    reasons = drawn.blocked["(0,2)"]
    assert "Blue's line (0,0) (0,1) (0,2), and (1,1) is not on it" in reasons["(1,1)"]
    assert "(0,0)" not in reasons


# ---- the plugin ----


def test_the_plugin_has_all_hooks() -> None:
    code = plugin.encode("AAAAAAABIgI")
    assert code == 74242
    assert plugin.decode(code) == "s,m,sL/.,.,./.,.,.:orange"
    assert plugin.notations(code)["decimal"] == "74242"
    assert plugin.format_move(code, plugin.parse_move(code, "l(1,1)")) == "L(1,1)"
    assert plugin.board(code) == board(code)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda game: game.encode("foo"), "cannot read 'foo' as a position of gobblet: write a number, "),
        (lambda game: game.parse_move(0, "foo"), "cannot read 'foo' as a move here: write L(1,1) to place or "),
    ],
)
def test_an_error_names_the_text_once(read, message):
    with pytest.raises(UsageError) as error:
        read(load_game("gobblet"))
    assert str(error.value).startswith(message)
