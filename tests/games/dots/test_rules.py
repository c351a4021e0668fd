"""The plugin compared with the reference, solves compared with a plain search, texts and the drawn board."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Game, Outcome, load_game, solve_game, verify_table

from ..playouts import play_choices, playouts
from . import reference
from .reference import Position

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "hashes.json").read_text())
SIZES = [(2, 2), (2, 3), (3, 2), (1, 1), (1, 18), (18, 1), (3, 3), (4, 5), (5, 4)]
"""Rows and columns of boxes."""


@cache
def dots(rows: int, columns: int) -> Game:
    return load_game("dots", rows=rows, columns=columns)


def code_of(position: Position) -> int:
    return dots(position.rows, position.columns).encode(reference.text(position))


def check_against_reference(position: Position) -> None:
    game, code = dots(position.rows, position.columns), code_of(position)
    assert game.valid(code)
    assert game.decode(code) == reference.text(position)
    assert game.mover(code) == ("Red", "Blue").index(position.mover)
    assert game.tier(code) == len(position.edges)
    lines = reference.moves(position)
    moves = [game.parse_move(code, reference.move_text(position, line)) for line in lines]
    assert sorted(moves) == sorted(game.moves(code))
    for line, move in zip(lines, moves, strict=True):
        child = code_of(reference.apply(position, line))
        assert game.apply(code, move) == child
    assert game.undo_moves(code) == [(move, code) for move in game.moves(code)]
    images = [code_of(image) for image in reference.images(position)]
    assert {game.canonicalize(image) for image in images} == {min(images)}
    score = reference.score(position)
    result = "WON" if score > 0 else "LOST" if score < 0 else "DRAWN"
    assert game.status(code).name == ("ONGOING" if lines else result)
    if not lines:
        assert game.score(code) == score


@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_the_reference_on_random_games(size: tuple[int, int]) -> None:
    for position in playouts(reference, Position(*size), 30):
        check_against_reference(position)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(SIZES[:5]), st.lists(st.integers(0, 60), max_size=60))
def test_agrees_with_the_reference_on_any_game(size: tuple[int, int], choices: list[int]) -> None:
    check_against_reference(play_choices(reference, Position(*size), choices))


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**64 - 2) | st.integers(0, 2**11 - 1))
def test_valid_accepts_exactly_the_positions_of_one_box(code: int) -> None:
    """One box has four edges, six bits for the lead plus 1, and the turn."""
    lead, turn = (code >> 4 & 63) - 1, code >> 10
    leads = (-1, 1) if code & 15 == 15 else (0,)
    assert dots(1, 1).valid(code) == (turn < 2 and lead in leads)


# ---- whole solves ----


@pytest.mark.parametrize("size", [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)])
def test_every_score_agrees_with_a_plain_search(size: tuple[int, int]) -> None:
    scores: dict[str, int] = {}
    positions: dict[str, Position] = {}

    def search(position: Position) -> int:
        name = reference.text(position)
        if name not in scores:
            positions[name] = position
            values = []
            for child in (reference.apply(position, line) for line in reference.moves(position)):
                values.append(search(child) if child.mover == position.mover else -search(child))
            scores[name] = max(values, default=reference.score(position))
        return scores[name]

    search(Position(*size))
    game = dots(*size)
    canonical = {min(map(code_of, reference.images(position))) for position in positions.values()}
    with solve_game(game, save=False).table as table:
        assert table.statistics.positions == len(canonical)
        assert {name: table.probe(game.encode(name)).score for name in scores} == scores
        assert verify_table(table).bad == 0


def test_four_boxes_are_won_by_outer_first_edges_as_published() -> None:
    """Puzzling Stack Exchange, "Optimal play for 2 by 2 dots and boxes": outer edges win, inner edges tie."""
    game = dots(2, 2)
    with solve_game(game, save=False).table as table:
        assert table.info.hash == GOLDEN[game.identity]
        assert table.probe(game.start()).outcome == Outcome.WIN
        assert table.probe(game.start()).score == 2
        inner = {"a2-b2", "b2-c2", "b1-b2", "b2-b3"}
        for move in game.moves(game.start()):
            outcome = table.probe(game.apply(game.start(), move)).outcome
            assert outcome == (Outcome.DRAW if game.format_move(game.start(), move) in inner else Outcome.LOSS)


# ---- the board ----


def test_the_board_shows_edges_closed_boxes_and_counts() -> None:
    game = dots(2, 2)
    board = game.board(game.encode("_./||./_./.../../0-1:B"))
    marks = {cell.id: (cell.row, cell.column, "".join(piece.label for piece in cell.stack)) for cell in board.cells}
    assert marks["a3-b3"] == (0, 1, "—")
    assert marks["a2-a3"] == (1, 0, "|")
    assert marks["b3-c3"] == (0, 3, "")
    assert marks["box-1-1"] == (1, 1, "■")
    assert "box-1-3" not in marks
    assert marks["blue"] == (0, 5, "1")
    assert marks["red"] == (4, 5, "0")
    assert {click.target for click in board.clicks} == {name for name in marks if marks[name][2] == ""}


def test_dots_are_small_edges_long_and_boxes_large() -> None:
    game = dots(2, 2)
    cells = game.board(game.encode("_./||./_./.../../0-1:B")).cells
    size = {cell.id: (cell.width, cell.height) for cell in cells}
    thin, long = size["a3-b3"][1], size["a3-b3"][0]
    assert thin + long == 2, "from dot to dot there are two columns"
    assert size["a1"] == (thin, thin)
    assert size["a2-a3"] == (thin, long)
    assert size["box-1-1"] == (long, long)
