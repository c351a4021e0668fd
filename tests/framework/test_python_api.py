"""The Python API: public names, numpy integers, Position objects, tables as containers, columns."""

from __future__ import annotations

import itertools
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import perfectplay
from perfectplay import (
    Board,
    Cell,
    Match,
    Outcome,
    Piece,
    Position,
    Status,
    UsageError,
    Value,
    best_line,
    open_table,
    rate_moves,
    solve_game,
    value_columns,
)
from perfectplay.game.board import svg

DOCS = Path(__file__).parents[2] / "docs"
X_WINS = "XX.OO...."


@pytest.fixture(scope="module")
def table(tic_tac_toe):
    with solve_game(tic_tac_toe, save=False).table as table:
        yield table


@pytest.fixture
def game(tic_tac_toe):
    return tic_tac_toe


# ---- names ----


def test_dir_lists_the_public_names_and_all_can_be_imported():
    assert set(dir(perfectplay)) == set(perfectplay.__all__)
    assert "open_table" in dir(perfectplay)
    for name in dir(perfectplay):
        assert getattr(perfectplay, name) is not None


def test_the_version_is_the_packages():
    assert perfectplay.__version__ == version("perfectplay")


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in sorted(set(perfectplay.__all__) - {"__version__"}):
        value = getattr(perfectplay, name)
        home = getattr(value, "__module__", "")
        assert f".{name}\n" in page or f"::: {home}\n" in page, f"docs/api.md does not list {name}"


# ---- numpy integers ----


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.uint32])
def test_numpy_integers_are_accepted_like_ints(game, table, kind):
    start, move = kind(game.start()), kind(game.moves(game.start())[0])
    child = game.apply(start, move)
    assert type(child) is int
    assert child == game.apply(int(start), int(move))
    assert game.valid(start)
    assert game.decode(start) == "........."
    assert game.format_move(start, move) == game.format_move(int(start), int(move))
    assert table.probe(start) == table.get(start) == table.probe(0)
    assert table.slot(start) == table.slot(0)
    assert start in table
    assert len(rate_moves(game, table, start)) == 3
    assert len(best_line(game, table, start).steps) == 9
    match = Match(game, start=start)
    match.play(move)
    assert match.position == child


@pytest.mark.parametrize("thing", ["0", 0.0, None, -1, 2**64, [0]])
def test_anything_but_a_position_is_rejected(game, table, thing):
    assert not game.valid(thing)
    assert thing not in table
    with pytest.raises(UsageError, match="is not a position of tictactoe"):
        game.moves(thing)


def test_applying_an_illegal_move_raises_and_names_legal_ones(game):
    with pytest.raises(UsageError, match="99 is not a legal move here: the legal moves are a3, b3, c3"):
        game.apply(game.start(), 99)
    assert game.apply(game.start(), np.uint64(game.moves(game.start())[0]))


# ---- Position objects ----


def test_a_position_has_moves_and_successors(game):
    start = game.position()
    assert isinstance(start, Position)
    assert str(start) == "........."
    assert repr(start) == "<Position of tictactoe: .........>"
    after = start.apply("b2").apply("a1")
    assert str(after) == "....X.O.."
    assert "b2" not in after.moves
    assert after == game.position("....X.O..") == game.position(np.uint64(int(after)))
    assert len({after, game.position("....X.O..")}) == 1
    assert start.status is Status.ONGOING
    assert not start.is_over


def test_a_position_rejects_illegal_moves(game):
    after = game.position("....X....")
    with pytest.raises(UsageError, match="'b2'"):
        after.apply("b2")
    with pytest.raises(UsageError, match="99 is not a legal move"):
        after.apply(99)


def test_a_position_is_accepted_like_a_number(game, table):
    position = game.position(X_WINS)
    assert position.value(table) == table.probe(position) == table.probe(int(position)) == Value(Outcome.WIN, 1)
    assert position in table
    assert table.probe_many([position]).tolist() == [table.probe(position).code]
    assert game.decode(position) == X_WINS
    assert Match(game, start=position).position == position
    assert position.canonical() == game.position(game.canonicalize(position))


def test_a_notebook_shows_the_board(game):
    picture = game.position(X_WINS)._repr_svg_()
    assert picture.startswith("<svg ")
    assert picture.count(">X</text>") == 2
    assert "First to move" in picture
    won = game.position("XXXOO....")
    assert won.is_over
    assert "to move" not in won._repr_svg_()


def test_points_on_lines_and_highlights_are_drawn():
    cells = (Cell("a", 0, 0, (Piece(1, "<b>"),)), Cell("b", 0.5, 1.5))
    picture = svg(Board(1, 2, cells, to_move=0, edges=(("a", "b"),)))
    assert picture.count("<line ") == 1
    assert "&lt;b&gt;" in picture
    squares = svg(Board(1, 2, cells, to_move=0, highlight=("b",)))
    assert squares.count("<rect ") == 2
    assert squares.count("#fef08a") == 1


def test_cells_have_their_size_and_blocks_fill_them():
    cells = (Cell("a", 0, 0, (Piece(None, "|", shape="block"),), height=2), Cell("b", 0, 1, width=0.5))
    picture = svg(Board(2, 2, cells, to_move=0))
    assert 'width="48" height="96" fill="grey"' in picture
    assert 'width="24" height="48" fill="none"' in picture
    assert "|</text>" not in picture


def test_a_game_without_a_board_has_no_picture(subtraction):
    assert subtraction.position()._repr_svg_() is None


# ---- tables ----


def test_a_table_has_a_length_and_contains_positions(game, table):
    assert len(table) == table.statistics.positions == 765
    assert table
    assert game.encode(X_WINS) in table
    assert game.start() in table


def test_a_table_is_opened_by_the_name_of_its_game(install, codes, monkeypatch, tmp_path):
    install("stones", codes.subtraction)
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    solve_game(perfectplay.load_game("stones")).table.close()
    with open_table("stones") as table:
        assert len(table) == 8
    with pytest.raises(UsageError, match="unknown game 'stone': did you mean 'stones'"):
        open_table("stone")
    with pytest.raises(UsageError, match="open_table takes a game or its name, not 7"):
        open_table(7)


# ---- values ----


def test_values_are_ordered_by_the_movers_preference():
    best_first = [
        *(Value(Outcome.WIN, plies) for plies in (1, 3, 99)),
        *(Value(Outcome.DRAW, plies) for plies in (0, 4, None)),
        *(Value(Outcome.LOSS, plies) for plies in (8, 2, 0)),
    ]
    for better, worse in itertools.combinations(best_first, 2):
        assert better > worse
        assert worse <= better
    assert max(best_first) == Value(Outcome.WIN, 1)
    assert sorted(best_first, reverse=True) == best_first
    with pytest.raises(TypeError):
        _ = Value(Outcome.WIN, 1) < 3


def test_codes_become_columns(table):
    codes = [Value(Outcome.LOSS, 4).code, Value(Outcome.DRAW, None).code, 4, Value(Outcome.WIN, 1).code]
    columns = value_columns(codes)
    assert columns["outcome"].tolist() == [-1, 0, None, 1]
    assert columns["remoteness"].tolist() == [4, None, None, 1]
    assert value_columns([])["outcome"].tolist() == []
