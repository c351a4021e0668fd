"""The Python API: public names, numpy integers, Position objects, tables as containers, columns."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import re
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

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
    Tray,
    UsageError,
    Value,
    best_line,
    open_table,
    rate_moves,
    solve_game,
    survey,
    value_columns,
)
from perfectplay.game.drawing import Drawing, draw_svg

from .. import zoo

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
    picture = draw_svg(Board(1, 2, cells, to_move=0, edges=(("a", "b"),)))
    assert picture.count("<line ") == 1
    assert "&lt;b&gt;" in picture
    squares = draw_svg(Board(1, 2, cells, to_move=0, highlight=("b",)))
    assert squares.count('<rect class="cell"') == 2
    assert squares.count("#ffe58a") == 1


def test_cells_have_their_size_and_blocks_fill_them():
    cells = (Cell("a", 0, 0, (Piece(None, "|", shape="block"),), height=2), Cell("b", 0, 1, width=0.5))
    picture = draw_svg(Board(2, 2, cells, to_move=0))
    assert 'width="100" height="200" rx="14" fill="#6d5733"' in picture, "neutral lines have the colour of the page's"
    assert 'width="42" height="92" rx="12"' in picture
    assert "|</text>" not in picture


def test_reserves_are_on_the_board():
    """Both rows of them, because text without a background is unreadable in a dark notebook."""
    trays = (Tray("a", Piece(0, "A"), 2), Tray("b", Piece(1, "b"), 0))
    picture = draw_svg(Board(1, 1, (Cell("c", 0, 0),), to_move=0, trays=trays))
    heights = re.search(r'height="(\d+)" rx="16"', picture)
    rows = [int(y) + 52 for y in re.findall(r'class="tray" x="\d+" y="(\d+)"', picture)]
    assert heights
    assert len(rows) == 2
    assert max(rows) < int(heights[1])


def test_a_game_without_a_board_is_drawn_if_its_text_has_rows(subtraction):
    assert subtraction.position()._repr_svg_() is None
    start = zoo.make("tictactoe/perfectplay_tictactoe/plugin").position()
    assert start.board is None
    assert start.moves["4"].places == (None, "4")
    assert start.svg(lastmove=None) != start.apply("4").svg(lastmove=start.moves["4"])
    assert ">4</text>" in start._repr_svg_()


def test_a_man_does_not_cover_the_name_of_its_point():
    cell = Cell("a", 0, 0, (Piece(0, "X"),), label="7")
    picture = ElementTree.fromstring(draw_svg(Board(1, 2, (cell, Cell("b", 0, 1)), to_move=0, edges=(("a", "b"),))))
    namespace = "{http://www.w3.org/2000/svg}"
    radius = max(float(each.get("r")) for each in picture.iter(f"{namespace}circle"))
    [circle] = [each for each in picture.iter(f"{namespace}circle") if float(each.get("r")) == radius]
    [name] = [each for each in picture.iter(f"{namespace}text") if each.text == "7"]
    across, down = (float(name.get(at)) - float(circle.get(f"c{at}")) for at in "xy")
    assert (across**2 + down**2) ** 0.5 > radius + 9, "half of the text's size away from the man"


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("gobblet", ".,.,./.,sL,./.,.,.:blue", ".,.,./.,mL,./.,.,.:blue"),  # a covered piece and a reserve
        ("quantik", None, None),  # shapes
        ("kalah", None, None),  # seeds
        ("morris", None, None),  # points on lines, men in hand
        ("dots", None, None),
    ],
)
def test_different_positions_have_different_pictures(name, first, second):
    game = perfectplay.load_game(name)
    if first is None:
        positions = [game.position(), *(move.child for move in game.position().moves)]
    else:
        positions = [game.position(first), game.position(second)]
    pictures = [position.svg() for position in positions]
    assert len(set(pictures)) == len(set(positions)) > 1
    for picture in pictures:
        ElementTree.fromstring(picture)


def test_a_picture_has_arrows_marks_and_a_size_and_can_be_turned(game):
    start = game.position()
    after = start.apply("b2")
    plain = after.svg()
    assert 'width="320"' in after.svg(size=320)
    assert after.svg(lastmove=start.moves["b2"]) != plain
    assert after.svg(arrows=["a1"]).count('class="arrow"') == 1
    assert after.svg(arrows=[after.moves["a1"], ("a1", "c3")]).count('class="arrow"') == 2
    corner = start.apply("a1")
    assert corner.svg(flipped=True) != corner.svg()
    for wrong in ({"arrows": ["b2"]}, {"arrows": [("a1", "z9")]}, {"lastmove": "b2"}, {"size": 0}):
        with pytest.raises(UsageError):
            after.svg(**wrong)


def test_a_board_whose_pieces_fall_is_never_turned():
    board = Board(2, 1, (Cell("a", 0, 0), Cell("b", 1, 0, (Piece(0, "X"),))), to_move=0)
    assert draw_svg(board, Drawing(flipped=True)) != draw_svg(board)
    board = dataclasses.replace(board, upright=True)
    assert draw_svg(board, Drawing(flipped=True)) == draw_svg(board)


def test_equal_positions_are_equal_across_loads():
    one, other = (perfectplay.load_game("gobblet").position() for _ in range(2))
    assert one == other
    assert one != perfectplay.load_game("quantik").position(0)
    assert hash(one) == hash(other)
    assert one == 0
    assert bool(one)
    assert copy.copy(one) == one


def test_moves_have_names_values_and_children(game, table):
    position = game.position(X_WINS)
    moves = position.moves
    assert "c3" in moves
    assert "a3" not in moves
    assert moves["c3"].child.is_over
    assert f"{moves['c3']:>4}" == "  c3"
    with pytest.raises(KeyError):
        moves["a3"]
    values = position.values(table)
    assert next(iter(values)) == moves["c3"]
    assert values[moves["c3"]] == moves["c3"].value(table) == Value(Outcome.WIN, 1)
    assert position.best(table).name == "c3"
    assert repr(position.best(table)) == "<Move c3>"
    assert game.position("XXXOO....").best(table) is None
    assert position.to_move == 0


def test_a_match_takes_names_and_returns_positions(game):
    match = Match(game)
    after = match.push("b2")
    assert isinstance(after, Position)
    assert after == match.position == game.position().apply("b2")
    match.play(after.moves["a1"])
    assert [move.name for move in match.moves] == ["b2", "a1"]
    assert repr(match) == "<Match of tictactoe: b2 a1>"
    assert "<svg" in match._repr_html_()
    with pytest.raises(UsageError, match="b2"):
        match.push("b2")


def test_results_are_named_moves_and_positions(game, table):
    line = best_line(game, table, game.encode(X_WINS))
    assert repr(line) == "<Line, win in 1: c3>"
    assert isinstance(line.end, Position)
    assert all(isinstance(step.position, Position) for step in line.steps)
    assert repr(line.steps) == "[<Step, win in 1: c3>]"
    rated = rate_moves(game, table, game.encode(X_WINS))
    assert repr(rated[0]) == "<RatedMoves, win in 1: c3>"
    rated = rate_moves(game, table, game.start())
    assert str(rated[0]).startswith("draw in 9: ")
    found = survey(table)
    assert all(isinstance(position, Position) for position in found.longest_wins)
    assert repr(found).startswith("<Survey of 765 positions: ")
    for shown in (line, rated, found, table, table[game.position()]):
        ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")


# ---- tables ----


def test_a_table_is_indexed_by_positions_and_texts(game, table):
    assert table[game.position(X_WINS)] == table[X_WINS] == table[game.encode(X_WINS)] == Value(Outcome.WIN, 1)
    assert repr(table) == "<Table of tictactoe: 765 positions>"
    with pytest.raises(KeyError):
        table[2**63]
    with pytest.raises(UsageError, match="gobblet"):
        table[perfectplay.load_game("gobblet").position()]
    with pytest.raises(TypeError):
        iter(table)


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
