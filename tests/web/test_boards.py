"""Boards of every kind in a real Chromium: stars, promotion, passes, text, puzzles, scores, and plugins' mistakes."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from perfectplay.display.boards import draw
from perfectplay.game.board import Board, Cell, Click, Piece, board_fault, headings, player_colours
from perfectplay.game.loading import make_game
from perfectplay.web.boards import board_json
from perfectplay.web.library import Library
from perfectplay.web.requests import Answer

from .conftest import mutorere
from .pages import OpenPage, expect_plies, play, plies, texts, verdict
from .plugins import shapes

# ---- a star ----


def test_the_star_is_drawn_with_its_edges_and_played_by_clicks(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/mutorere")
    assert page.locator(".edge").count() == 16
    centre = page.locator('[data-place="8"]').bounding_box()
    points = [page.locator(f'[data-place="{point}"]').bounding_box() for point in range(8)]
    assert centre
    reaches = [((p["x"] - centre["x"]) ** 2 + (p["y"] - centre["y"]) ** 2) ** 0.5 for p in points if p]
    assert max(reaches) - min(reaches) < 2, "all points are equally far from the centre"
    page.click('[data-place="0"]')
    page.click('[data-place="8"]')
    expect_plies(page, 1)
    assert sorted(page.locator(".cell-label").all_inner_texts()) == [str(number) for number in range(9)]


def test_the_star_has_a_drawing_for_the_terminal_too() -> None:
    game = mutorere()
    board = game.board(game.start())
    assert board is not None
    lines = draw(board).splitlines()
    assert sum("[●X]" in line or "[X]" in line for line in lines) >= 3
    assert any("─" in line for line in lines)


# ---- promotion and pass ----


def test_a_promotion_asks_and_a_pass_is_a_button(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion?moves=step+step+step+step")
    assert page.locator("#actions button").inner_text().startswith("Pass")
    page.click('[data-place="a3"]')
    page.click('[data-place="a4"]')
    expect(page.locator("#chooser")).to_be_visible()
    assert [text.split("\n")[0] for text in page.locator(".choice").all_inner_texts()] == ["to a queen", "to a knight"]
    page.keyboard.press("Escape")
    assert plies(page) == 4, "closing the chooser plays nothing"
    page.click('[data-place="a4"]')
    page.locator('.choice[data-move="knight"]').click()
    expect_plies(page, 5)
    expect(page.locator('[data-place="a4"]')).to_have_accessible_name(re.compile("a4, Red N"))
    page.locator("#actions button").click()
    expect_plies(page, 6)


def test_players_have_the_colours_of_their_names(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion")
    colour = "element => getComputedStyle(element).backgroundColor"
    assert page.locator("#player-bottom .dot").evaluate(colour) == "rgb(201, 48, 44)"
    assert page.locator("#player-top .dot").evaluate(colour) == "rgb(44, 48, 58)"


# ---- text, puzzles, scores ----


def test_a_text_only_game_opened_by_link_claims_nothing_about_whose_turn_it_is(
    open_page: OpenPage, small_server: str
) -> None:
    page = open_page(f"{small_server}/stones?position=5")
    assert page.locator("#board pre").inner_text() == "5"
    assert page.locator(".moving").count() == 0
    assert verdict(page).startswith("The player to move wins")
    page.locator('#moves [data-move="1"]').click()
    expect_plies(page, 1)
    assert page.locator(".moving").count() == 0


def test_a_puzzle_has_one_player_and_is_solved(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/peg")
    assert verdict(page) == "Solved in 2 moves"
    assert page.locator("#verdict .mark").inner_text() == "✓"
    assert page.locator(".player:visible").count() == 1
    assert texts(page, ".group h3") == ["✓\nLeads to the solution\n1", "✗\nLeads to a dead end\n1"]
    expect(page.locator("#moves .chip.best")).to_have_accessible_name("4-2: Solved in 2, best")
    page.locator("#moves .chip.loss").click()
    expect(page.locator("#notice")).to_have_text("Undo to try something else, or begin a new game.")
    assert texts(page, "#history .mark") == ["??"]
    page.click("#tab-explore")
    expect(page.locator("#overview")).to_contain_text("Can be solved")
    page.click("#tab-learn")
    shown = page.locator("body").inner_text()
    assert not re.search(r"\b(wins?|won|win(ning)?|loss|los(es|ing|t)|draws?|drawn|opponent)\b", shown, re.IGNORECASE)


def test_a_puzzle_with_scores_speaks_of_scores(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/treasure")
    assert verdict(page) == "Solved in 4 moves with a score of 7"
    assert [text.strip() for text in texts(page, "#board .badge")] == ["+7", "+2"]
    assert texts(page, ".group h3") == ["+\nScores above zero\n2"]
    play(page, "step 2", "step 1")
    assert verdict(page) == "The best score is 0, in 2 moves"
    assert [text.strip() for text in texts(page, "#board .badge")] == ["0", "−11"]
    assert texts(page, "#moves .in") == ["0 in 2", "−11 in 2"]
    play(page, "step 2")
    marks = page.locator("#history .entry").evaluate_all("entries => entries.slice(1).map((entry) => entry.title)")
    assert marks == ["gives 5 away", "gives 2 away", "gives 11 away"]
    assert page.locator("#chart .whose").all_text_contents() == ["Above zero", "Below zero"]
    page.click("#tab-explore")
    expect(page.locator("#overview")).to_contain_text("Score above zero")
    page.click("#tab-analysis")
    page.click("#hints")
    assert verdict(page) == "How much can you score?"
    shown = page.locator("body").inner_text()
    assert not re.search(r"\b(wins?|won|win(ning)?|loss|los(es|ing|t)|draws?|drawn|dead end)\b", shown, re.IGNORECASE)


def test_a_game_with_scores_shows_them(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/twelve")
    assert re.fullmatch(r"(First|Second) player wins by \d+ in \d+ plies.*", verdict(page))
    assert texts(page, "#actions .badge") == ["L −3", "L −5"]
    assert texts(page, "#moves .in") == ["−3 in 5", "−5 in 5"]
    expect(page.locator("#notice")).to_have_text("Choose a move under the board.")


# ---- what plugins get wrong ----


def test_nothing_a_plugin_returns_blanks_the_page(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/shapes")
    assert page.locator("#board .cell").count() == len(shapes.NAMES)
    for played, name in enumerate(shapes.NAMES, start=2):
        page.locator(f'[data-place="{name}"]').click()
        expect_plies(page, played - 1)
    assert verdict(page) == "Game over: First player has won"


BOARD = Board(1, 2, (Cell("a", 0, 0), Cell("b", 0, 1, (Piece(0, "X"),))), 0, clicks=(Click(0, "a"),))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"rows": float("nan")}, "rows is nan"),
        ({"columns": 10**6}, "columns is 1000000"),
        ({"to_move": 2}, "to_move is 2"),
        ({"cells": (Cell("a", 0, 0), Cell("a", 0, 1))}, "2 cells or trays have the id 'a'"),
        ({"cells": (Cell("a", 0, 7),)}, "outside the board"),
        ({"cells": (Cell("a", True, 0),)}, "expected numbers"),
        ({"cells": (Cell("a", 0, 0, width=float("nan")),)}, "which exceeds the board"),
        ({"cells": (Cell("a", 0, 0, height=-1),)}, "which exceeds the board"),
        ({"cells": (Cell("a", 0, 0, width="1"),)}, "expected numbers"),
        ({"cells": (Cell("a", 0, 0, (Piece(0, "X", float("inf")),)),)}, "size is inf"),
        ({"cells": (Cell("a", 0, 0, (Piece(5, "X"),)),)}, "wrong type"),
        ({"cells": None}, "values of the wrong type"),
        ({"clicks": (Click(0, "z"),)}, "with the id 'z'"),
        ({"edges": (("a", "z"),)}, "with the id 'z'"),
        ({"zones": (("y",),)}, "with the id 'y'"),
        ({"warnings": {"a": 3}}, "3 is not a str"),
    ],
)
def test_a_board_that_cannot_be_drawn_says_why(change: dict[str, object], fault: str) -> None:
    assert board_fault(BOARD) is None
    assert fault in (board_fault(replace(BOARD, **change)) or "")  # type: ignore[arg-type]


def test_a_board_that_cannot_be_drawn_leaves_the_game_playable(
    open_page: OpenPage, serve: Callable[[Library], str], tmp_path: Path, games: types.SimpleNamespace
) -> None:
    module = types.ModuleType("crooked")
    exec(
        games.codes["TIC_TAC_TOE"].replace("rows=3", "rows=float('nan')").replace("Board(3,", "Board(float('nan'),"),
        vars(module),
    )
    page = open_page(serve(Library(tmp_path, [make_game(module, name="crooked")])) + "/crooked")
    assert page.locator("#board pre").inner_text() == "........."
    expect(page.locator("#notice")).to_contain_text("the board cannot be drawn: rows is nan")
    page.locator("#moves .chip").first.click()
    expect_plies(page, 1)


def test_colours_and_headings_follow_from_names() -> None:
    assert player_colours(BOARD) == ("orange", "blue")
    assert player_colours(replace(BOARD, players=("Blue", "Someone"))) == ("blue", "orange")
    assert player_colours(replace(BOARD, colours=("green",))) == ("green", "blue")
    cells = tuple(
        Cell(name, row, column) for name, row, column in (("a2", 0, 0), ("b2", 0, 1), ("a1", 1, 0), ("b1", 1, 1))
    )
    assert headings(Board(2, 2, cells, 0)) == (["2", "1"], ["a", "b"])
    assert headings(Board(2, 2, cells, 0, column_labels=("x",))) == (["", ""], ["x", ""])


def test_nineteen_by_nineteen_stays_usable(open_page: OpenPage, kinds_server: str) -> None:
    for width in (360, 1280):
        page = open_page(f"{kinds_server}/wide", viewport={"width": width, "height": 740})
        cell = page.locator('[data-place="s19"]')
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        cell.click()
        expect_plies(page, 1)


def test_the_line_that_has_won_is_pointed_out(open_page: OpenPage, gobblet_server: str, tmp_path: Path) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)")
    expect(page.locator("#verdict p")).to_have_text("Game over: Orange has won")
    lit = page.locator(".cell.highlight")
    assert [lit.nth(i).get_attribute("data-place") for i in range(3)] == ["(0,0)", "(0,1)", "(0,2)"]


LOOK = """element => {
  const { backgroundColor, boxShadow } = getComputedStyle(element, '::before');
  return backgroundColor + boxShadow;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_winning_line_looks_different(open_page: OpenPage, gobblet_server: str, scheme: str) -> None:
    link = f"{gobblet_server}/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)"
    page = open_page(link, color_scheme=scheme)
    won = page.locator(".cell.highlight")
    expect(won).to_have_count(3)
    assert {won.nth(i).evaluate(LOOK) for i in range(3)} != {page.locator('[data-place="(1,1)"]').evaluate(LOOK)}
    page.click("#undo")
    expect(won).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_zones_are_drawn_in_two_shades(open_page: OpenPage, kinds_server: str, scheme: str) -> None:
    page = open_page(f"{kinds_server}/quantik", color_scheme=scheme)
    shades = page.locator("#board .zone").evaluate_all(
        "zones => zones.map((zone) => [+zone.getAttribute('x'), +zone.getAttribute('y'), getComputedStyle(zone).fill])"
    )
    by_place = {(int(x), int(y)): shade for x, y, shade in shades}
    assert len(by_place) == 16
    for (x, y), shade in by_place.items():
        same = by_place[x // 2 * 2, y // 2 * 2]
        assert shade == same, "a zone has one shade"
        assert shade != by_place[(x + 2) % 4, y], "and its neighbour another"
        assert shade != by_place[x, (y + 2) % 4]


NAMED = """() => {
  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const nearest = (name, axis, at) => {
    const labels = [...document.querySelectorAll(`#board .coordinate.${name}`)];
    const far = (label) => Math.abs(middle(label)[axis] - at);
    return labels.sort((a, b) => far(a) - far(b))[0]?.textContent;
  };
  return [...document.querySelectorAll("#board .cell")].map((cell) => {
    const { x, y } = middle(cell);
    const label = cell.querySelector(".cell-label")?.textContent;
    return [cell.dataset.place, nearest("beside", "y", y), nearest("under", "x", x), label];
  });
}"""


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/gobblet", lambda row, column, label: f"({row},{column})"),
        ("/promotion", lambda row, column, label: f"{column}{row}"),
        ("/quantik", lambda row, column, label: label),
        ("/mutorere", lambda row, column, label: label),
    ],
)
def test_cells_are_labelled_as_moves_name_them(
    open_page: OpenPage, kinds_server: str, path: str, named: Callable[[str, str, str], str]
) -> None:
    page = open_page(kinds_server + path)
    for flipped in (False, True):
        for place, row, column, label in page.evaluate(NAMED):
            assert named(row, column, label) == place, f"flipped: {flipped}"
        page.click("#flip")
    if path != "/promotion":  # there a move is called "step"
        for move in page.evaluate("async path => (await (await fetch(`/api${path}/moves`)).json()).moves", path):
            assert move["to"] in move["move"]


def test_pieces_have_the_colours_that_the_plugin_gives(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion")
    painted = """owner => {
      const [, id] = document.querySelector(`#board .piece.owner${owner} .body`).getAttribute('fill').match(/#(.*)\\)/);
      return getComputedStyle(document.querySelector(`#${id} stop:last-child`)).stopColor;
    }"""
    assert page.evaluate(painted, 0) == "rgb(201, 48, 44)", "Red is red"
    assert page.evaluate(painted, 1) == "rgb(44, 48, 58)", "Black is black"


# ---- boards as JSON ----


def test_parts_are_written_once_but_those_that_may_change_anew() -> None:
    pieces = [Piece(0, "x")]
    cells = Cell("a1", 0, 0, tuple(pieces)), Cell("b1", 0, 1, pieces)  # type: ignore[arg-type]
    board = Board(1, 2, cells, to_move=0)
    assert board_fault(board) is None
    before = json.loads(Answer(board_json(board)).body)["cells"]
    assert [len(cell["stack"]) for cell in before] == [1, 1]
    pieces.append(Piece(1, "o", size=7.0))
    assert "size is 7.0" in (board_fault(board) or "")
    after = json.loads(Answer(board_json(board)).body)["cells"]
    assert [len(cell["stack"]) for cell in after] == [1, 2]


def test_a_text_that_is_not_unicode_is_written_all_the_same() -> None:
    cells = Cell("a1", 0, 0, (Piece(0, "\ud800"),)), Cell("b1", 0, 1)
    written = json.loads(Answer(board_json(Board(1, 2, cells, to_move=0))).body)
    assert [cell["id"] for cell in written["cells"]] == ["a1", "b1"]
    assert written["cells"][0]["stack"][0]["label"] == "\ud800"
