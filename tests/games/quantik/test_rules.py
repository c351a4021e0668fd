"""The rules in C and in `State` compared with the plain-Python reference, perft counts and numbers of classes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perfectplay_quantik._kernel import ffi, lib

from perfectplay.values import Status
from perfectplay_native.kernel import Kernel
from perfectplay_quantik import State
from perfectplay_quantik.notation import position_of, state_of

from ..playouts import perft_lines
from . import reference
from .positions import place_pieces, positions, qfen
from .reference import Move, Pair, Permutation, Position

KERNEL = Kernel(ffi, lib.quantik_kernel)
SLOW = 10_000
"""The largest perft count that the Python reference checks."""


PERFT = [
    (text, [(int(leaves), int(ended)) for leaves, ended in (count.split(":") for count in counts)])
    for text, *counts in map(str.split, perft_lines("quantik"))
]


def encode_position(position: Position) -> int:
    return position_of(State.from_qfen(qfen(position)))


def as_move(move: Move) -> int:
    return reference.SHAPES.index(move.shape) << 4 | move.cell


def children(position: int) -> list[int]:
    buffer = ffi.new("pp_position[]", lib.quantik_kernel.max_moves)
    count = lib.quantik_kernel.children(ffi.addressof(lib.quantik_kernel), position, buffer)
    return list(buffer[0:count])


@pytest.mark.parametrize(("text", "counts"), PERFT)
def test_perft_of_the_kernel_agrees_with_the_file(text: str, counts: list[tuple[int, int]]) -> None:
    ended = ffi.new("uint64_t *")
    for depth, expected in enumerate(counts, start=1):
        assert (lib.quantik_perft(position_of(State.from_qfen(text)), depth, ended), ended[0]) == expected


@pytest.mark.parametrize(("text", "counts"), PERFT)
def test_perft_of_the_reference_agrees_with_the_file(text: str, counts: list[tuple[int, int]]) -> None:
    for depth, expected in enumerate(counts, start=1):
        if expected[0] < SLOW:
            assert reference.perft(text.replace("/", ""), depth) == expected


@given(positions())
def test_the_encoding_is_that_of_the_reference(position: Position) -> None:
    number = encode_position(position)
    assert number == reference.encode(position)
    assert state_of(number).to_qfen() == qfen(position)


@given(positions())
def test_legal_moves_agree_with_the_reference(position: Position) -> None:
    expected = reference.moves(position)
    state = State.from_qfen(qfen(position))
    assert KERNEL.moves(encode_position(position)) == [as_move(move) for move in expected]
    assert state.moves() == [(reference.SHAPES.index(move.shape), move.cell) for move in expected]
    assert bool(state.finished_lines()) == reference.finished(position)


@given(positions())
def test_exactly_the_illegal_moves_have_a_reason(position: Position) -> None:
    state = State.from_qfen(qfen(position))
    legal = [(shape, cell) for shape in range(4) for cell in range(16) if state.why_not(shape, cell) is None]
    assert legal == state.moves()


@given(positions())
def test_apply_and_undo_agree_with_the_reference(position: Position) -> None:
    number = encode_position(position)
    state = State.from_qfen(qfen(position))
    for move in reference.moves(position):
        after = KERNEL.apply(number, as_move(move))
        assert after == encode_position(reference.apply(position, move))
        assert KERNEL.undo(after, as_move(move)) == number
        assert KERNEL.valid(after)
        assert state.play(reference.SHAPES.index(move.shape), move.cell) == state_of(after)


@given(positions())
def test_status_is_lost_when_a_line_is_finished_or_the_mover_is_stuck(position: Position) -> None:
    expected = Status.LOST if reference.over(position) else Status.ONGOING
    assert KERNEL.status(encode_position(position)) == expected


@pytest.mark.parametrize("text", ["dA../...b/.bd./.CCA", "C.../.a.D/.DCA/bab."])
def test_a_stuck_player_has_lost_although_no_line_is_finished(text: str) -> None:
    position = text.replace("/", "")
    assert not reference.finished(position)
    assert reference.moves(position) == KERNEL.moves(encode_position(position)) == []
    assert KERNEL.status(encode_position(position)) == Status.LOST


@given(positions())
def test_tier_is_the_number_of_pieces(position: Position) -> None:
    number = encode_position(position)
    assert KERNEL.tier(number) == 16 - position.count(".") == state_of(number).piece_count


@given(positions())
def test_wins_now_detects_every_winning_move(position: Position) -> None:
    wins = any(reference.finished(reference.apply(position, move)) for move in reference.moves(position))
    kernel = ffi.addressof(lib.quantik_kernel)
    assert bool(lib.quantik_kernel.wins_now(kernel, encode_position(position))) == wins


@given(positions())
def test_children_are_the_distinct_canonical_positions_after_each_move(position: Position) -> None:
    number = encode_position(position)
    listed = children(number)
    assert len(listed) == len(set(listed))
    assert set(listed) == {KERNEL.canonicalize(KERNEL.apply(number, move)) for move in KERNEL.moves(number)}


@given(positions(), st.integers(0, 3), st.integers(0, 2047))
def test_valid_accepts_exactly_the_reachable_positions(position: Position, shape: int, pair: int) -> None:
    number = encode_position(position)
    assert KERNEL.valid(number)
    changed = number & ~(2047 << 11 * shape) | pair << 11 * shape
    pairs = {pair_number: sets for sets, pair_number in reference.pair_numbers().items()}
    fields = [changed >> shift & 2047 for shift in (33, 22, 11, 0)]
    if any(field not in pairs for field in fields):
        assert not KERNEL.valid(changed)
        return
    boards = [board_of([pairs[field] for field in fields], mover) for mover in (0, 1)]
    assert KERNEL.valid(changed) == any(board and reference.reachable(board) for board in boards)


def board_of(pairs: list[Pair], mover: int) -> Position | None:
    """Return the board with these cells of each shape, or None if pieces share a cell or `mover` is not to move."""
    letters = ["."] * 16
    for shape, pair in zip(reference.SHAPES, pairs, strict=True):
        for colour, cells in zip((mover, 1 - mover), pair, strict=True):
            for cell in cells:
                if letters[cell] != ".":
                    return None
                letters[cell] = reference.letter_of(shape, colour)
    board = "".join(letters)
    return board if reference.mover(board) == mover else None


@given(st.integers(1 << 44, 2**64 - 1))
def test_valid_rejects_bits_above_the_fields(number: int) -> None:
    assert not KERNEL.valid(number)


@given(st.permutations(range(16)), st.integers(0, 16))
def test_only_reachable_states_have_a_position(cells: list[int], count: int) -> None:
    position = place_pieces(cells, count)
    state = State.from_qfen(qfen(position))
    assert (lib.quantik_position(list(state.bb)) != 2**64 - 1) == reference.reachable(position)
    if not reference.reachable(position):
        with pytest.raises(ValueError, match=r"share|all four shapes"):
            position_of(state)


def test_classes_under_the_full_group_number_1_1_7_70_901() -> None:
    tier = {0}
    counts = []
    for _ in range(5):
        ongoing = [position for position in tier if KERNEL.status(position) == Status.ONGOING]
        counts.append(len(ongoing))
        tier = {child for position in ongoing for child in children(position)}
    assert counts == [1, 1, 7, 70, 901]


def test_classes_under_rotations_reflections_and_relabelings_number_3_51_726_10946() -> None:
    counts = []
    tier = {reference.START}
    for _ in range(4):
        seen = {}
        for position in tier:
            for move in reference.moves(position):
                after = reference.apply(position, move)
                seen[repr(coloured_form(after))] = after
        tier = {position for position in seen.values() if not reference.finished(position)}
        counts.append(len(tier))
    assert counts == [3, 51, 726, 10_946]


def coloured_form(position: Position) -> list[tuple[list[int], list[int]]]:
    """Return a fast invariant under 8 × 24 images, equivalent to `reference.canonical_192`."""
    cells = [[cell for cell in range(16) if position[cell] == letter] for letter in reference.PIECES]

    def image(piece: int, turn: Permutation) -> list[int]:
        return sorted(turn[cell] for cell in cells[piece])

    return min(
        sorted((image(shape, turn), image(shape + 4, turn)) for shape in range(4))
        for turn in reference.ROTATIONS_AND_REFLECTIONS
    )


@given(positions(), positions())
def test_the_fast_invariant_agrees_with_brute_force(one: Position, other: Position) -> None:
    same = reference.canonical_192(one) == reference.canonical_192(other)
    assert (coloured_form(one) == coloured_form(other)) == same
