"""The plugin compared with the reference, published results, texts and the drawn board.

tests/framework/test_kinds_of_games.py compares solves with a plain search.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perfectplay import Game, Outcome, load_game, solve_game

from ...cli import solve
from ..playouts import playouts
from . import reference
from .reference import Position

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "hashes.json").read_text())
VARIANTS = [
    (3, 3, False, False),
    (3, 3, True, False),
    (3, 3, False, True),
    (6, 4, False, False),
    (6, 4, True, True),
    (4, 6, True, False),
    (1, 29, False, False),
    (1, 1, True, True),
    (2, 14, True, False),
    (15, 1, False, True),
]
"""Pits, seeds, empty capture, and whether either empty row ends the game."""


@cache
def kalah(pits: int, seeds: int, empty_capture: bool, either_row: bool) -> Game:
    rules = {"empty-capture": empty_capture, "either-row": either_row}
    return load_game("kalah", **{"pits": pits, "seeds": seeds, **rules})


def game_of(position: Position) -> Game:
    seeds = sum(position.south + position.north) + position.south_store + position.north_store
    pits = len(position.south)
    return kalah(pits, seeds // (2 * pits), position.empty_capture, position.either_row)


def code_of(position: Position) -> int:
    return game_of(position).encode(reference.text(position))


def check_against_reference(position: Position) -> None:
    game, code = game_of(position), code_of(position)
    assert game.valid(code)
    assert game.decode(code) == reference.text(position)
    assert game.mover(code) == ("South", "North").index(position.mover)
    moves = reference.moves(position)
    first = len(position.south) * game.mover(code)
    assert game.moves(code) == [first + move for move in moves]
    for move in moves:
        child = reference.apply(position, move)
        assert game.decode(game.apply(code, first + move)) == reference.text(child)
        assert game.tier(code_of(child)) > game.tier(code)
    if not moves:
        score = reference.score(position)
        assert game.score(code) == score
        assert game.status(code).name == ("WON" if score > 0 else "LOST" if score < 0 else "DRAWN")
    else:
        assert game.status(code).name == "ONGOING"


@pytest.mark.parametrize("variant", VARIANTS)
def test_agrees_with_the_reference_on_random_games(variant: tuple[int, int, bool, bool]) -> None:
    for position in playouts(reference, reference.start(*variant), 300):
        check_against_reference(position)


@st.composite
def boards(draw: st.DrawFn) -> Position:
    """Draw a board with seeds anywhere, so that long sowings and rare captures occur."""
    pits, seeds, *rules = draw(st.sampled_from(VARIANTS))
    total = 2 * pits * seeds
    walls = sorted(draw(st.lists(st.integers(0, total), min_size=2 * pits + 1, max_size=2 * pits + 1)))
    counts = [end - first for first, end in zip([0, *walls], [*walls, total], strict=True)]
    south, north = tuple(counts[:pits]), tuple(counts[pits : 2 * pits])
    mover = "South" if any(south) else "North"
    if any(south) == any(north):
        mover = draw(st.sampled_from(["South", "North"]))
    elif rules[1]:  # a row is empty, so the game is over
        return Position((0,) * pits, (0,) * pits, counts[-2] + sum(south), counts[-1] + sum(north), mover, *rules)
    return Position(south, north, *counts[-2:], mover, *rules)


@settings(max_examples=200, deadline=None)
@given(boards())
def test_agrees_with_the_reference_on_any_board(position: Position) -> None:
    check_against_reference(position)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**64 - 2) | st.integers(0, 2**11 - 1))
def test_valid_accepts_exactly_the_positions_of_a_small_board(code: int) -> None:
    """Kalah(2, 1) has 4 seeds and 5 separators in nine bits, and the turn above them."""
    row, turn = code % 2**9, code >> 9
    pits = [len(place) for place in f"{row:09b}"[::-1].split("0")][:4]
    stuck = not any(pits[2 * turn : 2 * turn + 2]) if turn < 2 else True
    assert kalah(2, 1, False, False).valid(code) == (turn < 2 and row.bit_count() == 4 and (not stuck or not any(pits)))


# ---- whole solves ----


RULES = list(product([False, True], repeat=2))


@pytest.mark.parametrize("empty_capture", [False, True])
def test_three_pits_of_three_seeds_have_the_golden_hash(empty_capture: bool) -> None:
    game = kalah(3, 3, empty_capture, False)
    with solve_game(game, save=False).table as table:
        assert table.info.hash == GOLDEN[game.identity]
        assert table.probe(game.start()).outcome == Outcome.WIN
        assert table.probe(game.start()).score == (4 if empty_capture else 2)


PAGE = (Path(__file__).parents[3] / "docs" / "kalah.md").read_text()


def documented_results() -> Iterator[tuple[int, int, bool, bool, int, int]]:
    """Yield pits, seeds, rules, positions and score of each result in docs/kalah.md that takes only seconds."""
    for pits, seeds, *cells in re.findall(r"\| Kalah\((\d), (\d)\) \|" + r" ([^|]*) \|" * 8, PAGE):
        for rules, positions, result in zip(RULES, cells[::2], cells[1::2], strict=True):
            count = int(positions.replace(",", "") or 10**9)
            if count < 300_000:
                by = re.match(r"(South|North) by (\d+)|a tie", result)
                assert by, result
                score = int(by[2] or 0) * (-1 if by[1] == "North" else 1)
                yield int(pits), int(seeds), *rules, count, score


@pytest.mark.parametrize("result", list(documented_results()))
def test_the_results_in_the_docs_are_correct(result: tuple[int, int, bool, bool, int, int]) -> None:
    *variant, positions, score = result
    game = kalah(*variant)
    with solve_game(game, save=False).table as table:
        assert table.statistics.positions == positions
        assert table.probe(game.start()).score == score


def published() -> Iterator[tuple[int, int, str, int | None]]:
    """Yield pits, seeds, result and, if known, the score of each board with published values."""
    table = PAGE.partition("| pits \\ seeds |")[2]
    for pits, *cells in re.findall(r"^\| (\d) \|" + r" ([^|]*)\|" * 6, table, re.MULTILINE):
        for seeds, cell in enumerate(cells, start=1):
            result, _, by = cell.replace("*", "").strip().partition(" by ")
            if result:
                yield int(pits), seeds, result, int(by) if by else 0 if result == "tie" else None


def test_all_published_boards_are_in_the_docs() -> None:
    assert len(list(published())) == 35


MAX_SEEDS = {1: 6, 2: 6, 3: 5, 4: 2, 5: 1, 6: 1}
"""The number of seeds, by number of pits, that is solved in a second or two."""


@pytest.mark.parametrize("board", [board for board in published() if board[1] <= MAX_SEEDS[board[0]]])
def test_values_are_as_published(board: tuple[int, int, str, int | None]) -> None:
    """Irving, Donkers & Uiterwijk 2000, tables 9 and 10, with empty capture and either row ending the game."""
    pits, seeds, result, by = board
    game = kalah(pits, seeds, True, True)
    with solve_game(game, save=False).table as table:
        value = table.probe(game.start())
        assert {Outcome.WIN: "win", Outcome.LOSS: "loss"}.get(value.outcome, "tie") == result
        assert by in (None, value.score)


def test_solve_reports_the_score() -> None:
    summary = json.loads(solve("kalah", "--pits", 2, "--seeds", 4, "--no-save", "--json").stdout)
    assert (summary["outcome"], summary["score"]) == ("loss", -12)


# ---- the board ----


def test_the_board_shows_both_sides() -> None:
    game = kalah(3, 3, False, False)
    board = game.board(game.encode("1,2,3/0,4,5/2-1:S"))
    places = {cell.id: (cell.row, cell.column, "".join(piece.label for piece in cell.stack)) for cell in board.cells}
    assert places["C"] == (0, 1, "1")
    assert places["A"] == (0, 3, "3")
    assert places["a"] == (1, 1, "")
    assert places["c"] == (1, 3, "5")
    assert places["south"] == (0.5, 4, "2")
    assert places["north"] == (0.5, 0, "1")
    assert [click.target for click in board.clicks] == ["b", "c"]
