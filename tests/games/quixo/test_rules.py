"""The kernel compared with the reference: moves, children, results, symmetries, and the perfect index."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Game, Status, load_game

from ..indexes import IndexContract
from ..playouts import playouts
from . import reference
from .reference import Position

SIZES = [(3, 3), (4, 4), (5, 5), (5, 4), (4, 5), (3, 5), (5, 2), (2, 2)]
"""Columns and rows."""


@cache
def quixo(width: int, height: int) -> Game:
    return load_game("quixo", width=width, height=height)


def game_of(position: Position) -> Game:
    return quixo(position.width, position.height)


def code_of(position: Position) -> int:
    return game_of(position).encode(reference.text(position))


def boards(width: int, height: int) -> st.SearchStrategy[Position]:
    """Return a strategy for boards with marks anywhere, often with lines of both players."""
    row = st.text(alphabet=".XO", min_size=width, max_size=width)
    rows = st.lists(row, min_size=height, max_size=height).map(tuple)
    return st.builds(Position, rows, st.sampled_from("XO"))


any_board = st.sampled_from(SIZES).flatmap(lambda size: boards(*size))


def check_against_reference(position: Position) -> None:
    game, code = game_of(position), code_of(position)
    assert game.valid(code)
    assert game.decode(code) == reference.text(position)
    assert game.status(code).name == reference.status(position)
    expected = Counter(reference.text(reference.apply(position, move)) for move in reference.moves(position))
    children = [game.apply(code, move) for move in game.moves(code)]
    assert Counter(map(game.decode, children)) == expected
    assert game.undo_moves(code) == [(move, code) for move in game.moves(code)]


@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_the_reference_on_random_games(size: tuple[int, int]) -> None:
    for position in playouts(reference, reference.start(*size), 1_000):
        check_against_reference(position)


@settings(max_examples=400, deadline=None)
@given(any_board)
def test_agrees_with_the_reference_on_any_board(position: Position) -> None:
    check_against_reference(position)


@settings(max_examples=200, deadline=None)
@given(any_board)
def test_texts_of_moves_name_the_cells(position: Position) -> None:
    game, code = game_of(position), code_of(position)

    def name(cell: tuple[int, int]) -> str:
        return "abcde"[cell[1]] + str(position.height - cell[0])

    expected = {f"{name(move.source)}→{name(move.target)}" for move in reference.moves(position)}
    assert {game.format_move(code, move) for move in game.moves(code)} == expected


@settings(max_examples=300, deadline=None)
@given(any_board)
def test_symmetric_images_and_exchanged_colours_share_a_slot(position: Position) -> None:
    game, kernel = game_of(position), game_of(position).kernel
    codes = [code_of(image) for image in reference.images(position)]
    assert {game.canonicalize(code) for code in codes} == {min(codes)}
    swapped = code_of(reference.swap_colours(position))
    assert len({kernel.rank(code) for code in (*codes, swapped)}) == 1


@pytest.mark.parametrize("size", [(3, 3), (4, 2), (2, 4), (3, 4)])
def test_every_slot_holds_exactly_one_position(size: tuple[int, int]) -> None:
    """There are no gaps, and as many slots as boards up to symmetry."""
    kernel = quixo(*size).kernel
    slots = [(tier, index) for tier in range(kernel.tier_count) for index in range(kernel.tier_size(tier))]
    codes = [kernel.unrank(*slot) for slot in slots]
    assert [kernel.rank(code) for code in codes] == slots
    fixed = [len(cycles(symmetry)) for symmetry in symmetries(*size)]
    assert len(slots) == sum(3**count for count in fixed) // len(fixed)  # Burnside


def symmetries(width: int, height: int) -> list[list[int]]:
    """Return all symmetries as permutations of the cells, from the reference's images of distinct letters."""
    alphabet = "".join(chr(65 + cell) for cell in range(width * height))
    rows = tuple(alphabet[first : first + width] for first in range(0, len(alphabet), width))
    images = reference.images(Position(rows, "X"))
    return [[alphabet.index(letter) for row in image.rows for letter in row] for image in images]


def cycles(permutation: list[int]) -> set[frozenset[int]]:
    result = set()
    for cell in range(len(permutation)):
        orbit = [cell]
        while (following := permutation[orbit[-1]]) != cell:
            orbit.append(following)
        result.add(frozenset(orbit))
    return result


def test_the_example_in_board_h_has_the_slot_worked_out_there() -> None:
    game = quixo(3, 3)
    assert game.kernel.rank(game.encode("..X/.../.O.:X")) == (4, 4)
    assert game.kernel.tier_size(4) == 12


@pytest.mark.parametrize(("size", "slots"), [((4, 4), 5_398_083), ((5, 4), 871_858_485), ((5, 5), 105_918_450_471)])
def test_the_index_has_as_many_slots_as_boards_up_to_symmetry(size: tuple[int, int], slots: int) -> None:
    kernel = quixo(*size).kernel
    assert sum(map(kernel.tier_size, range(kernel.tier_count))) == slots


@pytest.mark.parametrize("size", SIZES)
def test_rank_inverts_unrank_on_random_slots(size: tuple[int, int]) -> None:
    kernel = quixo(*size).kernel
    generator = random.Random(2)
    for _ in range(200):
        tier = generator.randrange(kernel.tier_count)
        assert IndexContract(kernel).check_slots(tier, generator.randrange(kernel.tier_size(tier)), 1) == 1


@settings(max_examples=300, deadline=None)
@given(any_board)
def test_expand_lists_the_children_and_retract_inverts_it(position: Position) -> None:
    index, code = IndexContract(game_of(position).kernel), code_of(position)
    index.check_expand(code)
    if index.kernel.status(code) == Status.ONGOING:
        index.check_children(code)
        index.check_parents(code)


@settings(max_examples=300, deadline=None)
@given(any_board)
def test_wins_now_detects_every_winning_move(position: Position) -> None:
    kernel, code = game_of(position).kernel, code_of(position)
    if kernel.status(code) == Status.ONGOING:
        wins = any(reference.status(reference.apply(position, move)) == "LOST" for move in reference.moves(position))
        assert kernel.wins_now(code) == wins


@pytest.mark.parametrize("code", [1 << 16, 1 << 31, 1 << 48, 1 << 62, 1 | 1 << 32, 2**64 - 1])
def test_impossible_bits_are_not_valid(code: int) -> None:
    assert not quixo(4, 4).valid(code)


def test_making_a_line_of_the_opponent_loses_even_with_an_own_line() -> None:
    game = quixo(3, 3)
    both = "XXX/.O./OOO"
    assert game.status(game.encode(f"{both}:X")) is Status.WON  # O has just moved, and X has a line
    assert game.status(game.encode(f"{both}:O")) is Status.WON
    assert game.status(game.encode("XXX/.O./OO.:O")) is Status.LOST
