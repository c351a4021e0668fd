"""Tests of the reference itself, against published counts and move lists worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from ..playouts import perft_lines
from . import reference
from .positions import positions
from .reference import LARGE, SMALL, START, Move, Piece, Position

TESTS = Path(__file__).parents[2]
REVEALS = json.loads((TESTS / "golden" / "gobblet_reveals.json").read_text(encoding="utf-8"))["cases"]
PERFT = [(int(code), [*map(int, counts)]) for code, *counts in map(str.split, perft_lines("gobblet"))]
KERNEL_ONLY_NODES = 100_000
"""The reference needs seconds for counts above this; the kernel's test checks them all."""


def describe(move: Move) -> tuple[str, str]:
    """Return a move as in the golden file: the piece or its cell, and the target."""
    source = "SML"[move.size] if move.source is None else "({},{})".format(*move.source)
    return source, "({},{})".format(*move.target)


@pytest.mark.parametrize(("encoding", "counts"), PERFT)
def test_perft_gives_the_listed_counts(encoding: int, counts: list[int]) -> None:
    for plies, count in enumerate(counts, start=1):
        if count < KERNEL_ONLY_NODES:
            assert reference.perft(reference.decode(encoding), plies) == count


def test_the_start_leads_to_the_published_numbers_of_classes() -> None:
    assert reference.new_classes(3) == [1, 9, 117, 1380]


@pytest.mark.parametrize("case", REVEALS, ids=lambda case: case["board"])
def test_reveal_cases_have_the_moves_worked_out_by_hand(case: dict[str, Any]) -> None:
    position = reference.decode(case["encoding"])
    by_hand = {(source, target) for source, targets in case["moves"].items() for target in targets}
    moves = reference.moves(position)
    assert {describe(move) for move in moves} == by_hand
    assert len(moves) == case["count"]
    assert reference.is_valid(case["encoding"])


def test_a_player_without_a_move_has_lost() -> None:
    stuck = reference.decode(REVEALS[-1]["encoding"])
    assert not stuck.has_line(1)
    assert not stuck.has_line(2)
    assert reference.status(stuck) == "LOST"


def test_a_line_ends_the_game() -> None:
    row = {(0, column): (Piece(1, SMALL + column % 2),) for column in range(3)}
    position = Position({**START.stacks, **row}, mover=2)
    assert reference.status(position) == "LOST"
    assert reference.moves(position) == []


def test_a_line_of_the_side_to_move_is_not_a_position() -> None:
    row = {(0, column): (Piece(1, SMALL + column % 2),) for column in range(3)}
    assert not reference.is_valid(reference.encode(Position({**START.stacks, **row}, mover=1)))


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (3, "owner 3 of the small at (0,0)"),
        (1 << 55, "bit 55"),
        (1 << 63, "bit 63"),
        (16 | 16 << 6 | 16 << 18, "three larges of player 1"),
        (2 | 2 << 12 | 2 << 24, "three smalls of player 2"),
    ],
)
def test_impossible_bits_are_not_a_position(code: int, fault: str) -> None:
    assert not reference.is_valid(code), fault


def test_the_winning_move_may_not_leave_a_revealed_line() -> None:
    """The large piece could complete Orange's middle row at (1,1), but lifting it reveals Blue's top row."""
    stacks = {
        **START.stacks,
        (0, 0): (Piece(2, 1),),
        (0, 1): (Piece(2, 1),),
        (0, 2): (Piece(2, 0), Piece(1, 2)),
        (1, 0): (Piece(1, 1),),
        (1, 2): (Piece(1, 1),),
    }
    moves = reference.moves(Position(stacks, mover=1))
    assert Move(LARGE, None, (1, 1)) in moves
    assert [move.target for move in moves if move.source == (0, 2)] == [(0, 0), (0, 1)]


@settings(max_examples=200, deadline=None)
@given(positions())
def test_the_reference_is_consistent(position: Position) -> None:
    code = reference.encode(position)
    assert reference.is_valid(code)
    assert reference.decode(code) == position
    assert len(reference.images(position)) == 8
    assert {reference.canonical(image) for image in reference.images(position)} == {reference.canonical(position)}
    for move in reference.moves(position):
        after = reference.apply(position, move)
        assert reference.is_valid(reference.encode(after))
        assert reference.undo(after, move) == position
