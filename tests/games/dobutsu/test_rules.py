"""The rules in C compared with the plain-Python reference, perft counts, and the checks for every game."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Status
from perfectplay_dobutsu.notation import encode
from perfectplay_dobutsu.rules import ENUMERATED, FINISHED, LION_CAN_BE_TAKEN, RANKED, UNFINISHED, check

from ..playouts import perft_lines
from . import reference
from .positions import positions, random_placements, random_symmetric_placements
from .reference import CELLS, CODES, DROPPED, Move, Position

SLOW = 20_000
"""The largest perft count that the Python reference checks."""


def kernel_move(position: Position, move: Move) -> int:
    source = 12 + DROPPED.index(move.kind) if move.source is None else CELLS.index(move.source)
    captured = position.board.get(move.target)
    after = reference.apply(position, move).board[move.target].kind
    fields = [CELLS.index(move.target), source << 4, CODES[captured.kind] << 8 if captured else 0]
    return sum(fields) + (1 << 11 if after != move.kind else 0)


def test_the_start_is_that_of_the_rules():
    assert RANKED.start() == reference.encode(reference.start()) == encode("gle/1c1/1C1/ELG b -")


@given(positions())
def test_kernel_and_reference_agree_on_moves_and_children(position):
    code = reference.encode(position)
    legal = {kernel_move(position, move): move for move in reference.moves(position)}
    assert sorted(RANKED.moves(code)) == sorted(legal)
    for number, move in legal.items():
        child = RANKED.apply(code, number)
        assert child == reference.encode(reference.apply(position, move))
        assert RANKED.undo(child, number) == code


@given(positions())
def test_kernel_and_reference_agree_on_the_end(position):
    code = reference.encode(position)
    assert Status(RANKED.status(code)).name == reference.status(position)
    if reference.is_over(position):
        assert RANKED.tier(code) == FINISHED
    else:
        takes = bool(reference.lion_captures(position))
        assert RANKED.tier(code) == (LION_CAN_BE_TAKEN if takes else UNFINISHED)


@given(positions())
def test_wins_now_detects_every_move_that_wins_at_once(position):
    if legal := reference.moves(position):
        wins = any(reference.is_over(reference.apply(position, move)) for move in legal)
        assert RANKED.wins_now(reference.encode(position)) == wins


def is_position(code: int) -> bool:
    position = reference.decode(code)
    return position is not None and reference.is_valid(position)


@given(positions(), st.integers(0, 63), st.integers(0, 63))
def test_valid_accepts_exactly_the_positions(position, one, another):
    code = reference.encode(position)
    for bits in (code, code ^ 1 << one, code ^ 1 << one ^ 1 << another):
        assert RANKED.valid(bits) == is_position(bits)
        if RANKED.valid(bits):
            check(bits)
        else:
            with pytest.raises(ValueError, match=r"\w"):
                check(bits)


@given(st.integers(0, 2**64 - 1))
def test_valid_agrees_with_the_reference_on_any_bits(bits):
    assert RANKED.valid(bits) == is_position(bits)


@given(positions())
def test_the_mirror_image_is_the_same_position(position):
    code, image = reference.encode(position), reference.encode(reference.mirror(position))
    assert RANKED.canonicalize(code) == RANKED.canonicalize(image) == min(code, image)


def test_a_mover_without_a_move_loses():
    stuck = encode("lEG/EGL/1CC/3 b -")
    assert RANKED.status(stuck) == Status.LOST
    assert RANKED.moves(stuck) == []


# ---- the enumerated kernel ----


@given(positions())
def test_the_enumerated_kernel_merges_turned_and_reflected_positions(position):
    code, turned = reference.encode(position), reference.encode(reference.turn(position))
    first = code if position.mover == 0 else turned
    chosen = ENUMERATED.canonicalize(code)
    assert chosen == ENUMERATED.canonicalize(turned)
    if position.lion(position.mover) is not None:
        assert chosen == RANKED.canonicalize(first)
    else:
        assert chosen == ENUMERATED.canonicalize(encode("1l1/3/3/3 b 2G2E2C"))


def children(code: int) -> set[int]:
    return {ENUMERATED.canonicalize(ENUMERATED.apply(code, move)) for move in ENUMERATED.moves(code)}


@settings(max_examples=50)
@given(positions())
def test_parents_of_unfinished_positions_invert_moves(position):
    code = ENUMERATED.canonicalize(reference.encode(position))
    for child in children(code):
        if ENUMERATED.tier(child) == UNFINISHED:
            assert code in ENUMERATED.parents(child)
    if ENUMERATED.tier(code) == UNFINISHED:
        parents = ENUMERATED.parents(code)
        assert len(parents) == len(set(parents))
        for parent in parents:
            assert ENUMERATED.canonicalize(parent) == parent
            assert is_position(parent)
            assert code in children(parent)


# ---- counting ----


def perft(code: int, plies: int) -> int:
    if plies == 1:
        return len(RANKED.moves(code))
    return sum(perft(RANKED.apply(code, move), plies - 1) for move in RANKED.moves(code))


@pytest.mark.parametrize(("text", "counts"), [line.split(":") for line in perft_lines("dobutsu")])
def test_perft_agrees_with_the_file(text, counts):
    position = reference.decode(encode(text))
    assert position is not None
    for plies, expected in enumerate(map(int, counts.split()), start=1):
        if expected <= 10 * SLOW:
            assert perft(encode(text), plies) == expected
        if expected <= SLOW:
            assert reference.perft(position, plies) == expected


def test_the_test_positions_are_of_every_sort():
    tiers = [RANKED.tier(reference.encode(position)) for position in random_placements(500, seed=1)]
    assert {UNFINISHED, LION_CAN_BE_TAKEN, FINISHED} == set(tiers)
    symmetric = [reference.encode(p) for p in random_symmetric_placements(100, seed=2)]
    assert sum(RANKED.tier(code) == UNFINISHED for code in symmetric) > 20
