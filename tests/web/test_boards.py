"""Boards of every kind in a real Chromium: star, promotion, pass, text, puzzle, scores, faulty boards, and layout."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from perfectplay.game.board import Board, Cell, Click, Piece, board_fault, headings, player_colours
from perfectplay.game.board_text import draw, make_text_board
from perfectplay.web.answers import draw_board
from perfectplay.web.library import Library
from perfectplay.web.requests import JSONAnswer

from .. import zoo
from ..zoo import shapes
from .pages import OpenPage, cell, expect_plies, expect_verdict, notice, play, plies, texts, verdict

MORRIS = "/morris-flying=no-men=three"


def box(element: Locator) -> dict[str, float]:
    found = element.bounding_box()
    assert found
    return {**found}


# ---- a star ----


def test_a_star_is_drawn_with_its_edges_and_played_by_clicks(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/mutorere")
    assert page.locator(".edge").count() == 16
    centre = box(cell(page, "8"))
    points = [box(cell(page, str(point))) for point in range(8)]
    distances = [((p["x"] - centre["x"]) ** 2 + (p["y"] - centre["y"]) ** 2) ** 0.5 for p in points]
    assert max(distances) - min(distances) < 2, "all points are equally far from the centre"
    cell(page, "0").click()
    cell(page, "8").click()
    expect_plies(page, 1)
    assert sorted(page.locator(".cell-label").all_inner_texts()) == [str(number) for number in range(9)]


def test_a_star_can_be_drawn_in_a_terminal() -> None:
    game = zoo.make(zoo.MUTORERE)
    board = game.board(game.start())
    assert board is not None
    lines = draw(board).splitlines()
    assert sum("[●X]" in line or "[X]" in line for line in lines) >= 3
    assert any("─" in line for line in lines)


# ---- promotion and pass ----


def test_a_promotion_asks_and_a_pass_is_a_button(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion?moves=step+step+step+step")
    assert page.locator("#actions button").inner_text().startswith("Pass")
    cell(page, "a3").click()
    cell(page, "a4").click()
    expect(page.locator("#chooser")).to_be_visible()
    assert [text.split("\n")[0] for text in page.locator(".choice").all_inner_texts()] == ["to a queen", "to a knight"]
    page.keyboard.press("Escape")
    assert plies(page) == 4, "closing the dialog plays nothing"
    cell(page, "a4").click()
    page.locator('.choice[data-move="knight"]').click()
    expect_plies(page, 5)
    expect(cell(page, "a4")).to_have_accessible_name(re.compile("a4, Red N"))
    page.locator("#actions button").click()
    expect_plies(page, 6)


def test_players_and_pieces_have_the_colours_of_their_names(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion")
    painted = """owner => {
      const [, id] = document.querySelector(`#board .piece.owner${owner} .body`).getAttribute('fill').match(/#(.*)\\)/);
      return getComputedStyle(document.querySelector(`#${id} stop:last-child`)).stopColor;
    }"""
    for owner, side, colour in [(0, "bottom", "rgb(201, 48, 44)"), (1, "top", "rgb(44, 48, 58)")]:  # red, black
        dot = page.locator(f"#player-{side} .dot")
        assert dot.evaluate("element => getComputedStyle(element).backgroundColor") == colour
        assert page.evaluate(painted, owner) == colour


# ---- text, puzzles, scores ----


def test_a_text_only_game_from_a_link_does_not_guess_the_player_to_move(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/stones?position=5")
    assert page.locator("#board pre").inner_text() == "5"
    assert page.locator(".moving").count() == 0
    assert verdict(page).startswith("The player to move wins")
    page.locator('#moves [data-move="1"]').click()
    expect_plies(page, 1)
    assert page.locator(".moving").count() == 0
    page.click("#hints")
    expect_verdict(page, "The player to move")
    page.goto(f"{small_server}/stones?position=5&puzzle=1")
    expect_verdict(page, "Puzzle: the player to move, only one move wins")
    described = page.locator('meta[property="og:description"]').get_attribute("content")
    assert described == "Puzzle: the player to move, only one move wins."


TWO_PLAYER_WORDS = r"\b(wins?|won|win(ning)?|loss|los(es|ing|t)|draws?|drawn|opponent)\b"


def test_a_puzzle_has_one_player_and_is_solved(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/peg")
    assert verdict(page) == "Solved in 2 moves"
    assert page.locator("#verdict .mark").inner_text() == "✓"
    assert page.locator(".player:visible").count() == 1
    assert texts(page, ".group h3") == ["✓\nLeads to the solution\n1", "✗\nLeads to a dead end\n1"]
    expect(page.locator("#moves .chip.best")).to_have_accessible_name("4-2: Solved in 2 moves, best")
    page.locator("#moves .chip.loss").click()
    expect(notice(page)).to_have_text("Undo to try something else, or start a new game.")
    assert texts(page, "#history .mark") == ["??"]
    page.click("#tab-explore")
    expect(page.locator("#overview")).to_contain_text("Solvable")
    page.click("#tab-learn")
    assert not re.search(TWO_PLAYER_WORDS, page.locator("body").inner_text(), re.IGNORECASE)


def test_a_puzzle_with_scores_shows_scores(open_page: OpenPage, kinds_server: str) -> None:
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
    assert not re.search(rf"{TWO_PLAYER_WORDS}|\bdead end\b", shown, re.IGNORECASE)


def test_a_game_with_scores_shows_them(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/twelve")
    assert re.fullmatch(r"(First|Second) player wins by \d+", verdict(page))
    assert texts(page, "#actions .badge") == ["✗ −3", "✗ −5"]
    assert texts(page, "#moves .in") == ["−3 in 5", "−5 in 5"]
    expect(notice(page)).to_have_text("Choose a move below the board.")


# ---- plugins' mistakes ----


def test_every_shape_is_drawn_and_played(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/shapes")
    assert page.locator("#board .cell").count() == len(shapes.NAMES)
    for played, name in enumerate(shapes.NAMES, start=1):
        cell(page, name).click()
        expect_plies(page, played)
    assert verdict(page) == "Game over: First player has won"


BOARD = Board(1, 2, (Cell("a", 0, 0), Cell("b", 0, 1, (Piece(0, "X"),))), 0, clicks=(Click(0, "a"),))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"rows": float("nan")}, "rows is nan"),
        ({"columns": 10**6}, "columns is 1000000"),
        ({"to_move": 2}, "to_move is 2"),
        ({"cells": (Cell("a", 0, 0), Cell("a", 0, 1))}, "'a'"),
        ({"cells": (Cell("a", 0, 7),)}, "outside the board"),
        ({"cells": (Cell("a", True, 0),)}, "True"),
        ({"cells": (Cell("a", 0, 0, width=float("nan")),)}, "nan"),
        ({"cells": (Cell("a", 0, 0, height=-1),)}, "-1"),
        ({"cells": (Cell("a", 0, 0, width="1"),)}, "'1'"),
        ({"cells": (Cell("a", 0, 0, (Piece(0, "X", float("inf")),)),)}, "is inf; expected a number"),
        ({"cells": (Cell("a", 0, 0, (Piece(5, "X"),)),)}, "owner=5"),
        ({"cells": None}, "NoneType"),
        ({"clicks": (Click(0, "z"),)}, "'z'"),
        ({"clicks": (Click(0, "a", capture="z"),)}, "'z'"),
        ({"clicks": (Click(0, "a", region=("a", "z")),)}, "'z'"),
        ({"clicks": (Click(0, "a", path=("z",)),)}, "'z'"),
        ({"clicks": (Click(0, "a", shifts=(("a", "z"),)),)}, "'z'"),
        ({"clicks": (Click(0, "a", ends=("a",)),)}, "('a',) are not two cells"),
        ({"claims": ("z",)}, "'z'"),
        ({"cells": (Cell("a", 0, 0, shape=3),)}, "3 is not a str"),  # type: ignore[arg-type]
        ({"cells": (Cell("a", 0, 0, (Piece(0, "X", name=3),)),)}, "name of the wrong type"),  # type: ignore[arg-type]
        ({"edges": (("a", "z"),)}, "'z'"),
        ({"zones": (("y",),)}, "'y'"),
        ({"warnings": {"a": 3}}, "3 is not"),
    ],
)
def test_a_fault_of_a_board_is_named(change: dict[str, object], fault: str) -> None:
    assert board_fault(BOARD) is None
    assert fault in (board_fault(replace(BOARD, **change)) or "")  # type: ignore[arg-type]


def test_a_game_with_a_faulty_board_is_playable(
    open_page: OpenPage, serve: Callable[[Library], str], tmp_path: Path, games: types.SimpleNamespace
) -> None:
    crooked = zoo.make("tictactoe", {"Board(3,": "Board(float('nan'),"}, name="crooked")
    page = open_page(serve(Library(tmp_path, [crooked])) + "/crooked")
    assert page.locator("#board pre").inner_text() == "........."
    expect(notice(page)).to_contain_text("rows is nan")
    page.locator("#moves .chip").first.click()
    expect_plies(page, 1)


def test_a_board_is_encoded_as_it_is_now() -> None:
    """Also after a plugin has changed a part of it, and with a text that is not valid Unicode."""
    pieces = [Piece(0, "x")]
    cells = Cell("a1", 0, 0, tuple(pieces)), Cell("b1", 0, 1, pieces)  # type: ignore[arg-type]
    board = Board(1, 2, cells, to_move=0)
    assert board_fault(board) is None

    def encoded_stacks() -> list[list[str]]:
        encoded = json.loads(JSONAnswer(draw_board(board)).body)
        return [[piece["label"] for piece in each["stack"]] for each in encoded["cells"]]

    assert encoded_stacks() == [["x"], ["x"]]
    pieces.append(Piece(1, "\ud800", size=7.0))
    assert "is 7.0; expected a number" in (board_fault(board) or "")
    assert encoded_stacks() == [["x"], ["x", "\ud800"]]


def test_colours_and_headings_follow_from_names() -> None:
    assert player_colours(BOARD) == ("orange", "blue")
    assert player_colours(replace(BOARD, players=("Blue", "Someone"))) == ("blue", "orange")
    assert player_colours(replace(BOARD, colours=("green",))) == ("green", "blue")
    places = (("a2", 0, 0), ("b2", 0, 1), ("a1", 1, 0), ("b1", 1, 1))
    cells = tuple(Cell(name, row, column) for name, row, column in places)
    assert headings(Board(2, 2, cells, 0)) == (["2", "1"], ["a", "b"])
    assert headings(Board(2, 2, cells, 0, column_labels=("x",))) == (["", ""], ["x", ""])


# ---- marks and labels ----

LOOK = """element => {
  const { backgroundColor, boxShadow } = getComputedStyle(element, '::before');
  return backgroundColor + boxShadow;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_winning_line_is_highlighted(open_page: OpenPage, gobblet_server: str, scheme: str) -> None:
    link = f"{gobblet_server}/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)"
    page = open_page(link, color_scheme=scheme)
    expect_verdict(page, "Game over: Orange has won")
    line = page.locator(".cell.highlight")
    expect(line).to_have_count(3)
    assert [line.nth(i).get_attribute("data-place") for i in range(3)] == ["(0,0)", "(0,1)", "(0,2)"]
    assert {line.nth(i).evaluate(LOOK) for i in range(3)} != {cell(page, "(1,1)").evaluate(LOOK)}
    page.click("#undo")
    expect(line).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_zones_are_drawn_in_two_shades(open_page: OpenPage, kinds_server: str, scheme: str) -> None:
    page = open_page(f"{kinds_server}/quantik", color_scheme=scheme)
    shades = page.locator("#board .zone").evaluate_all(
        "zones => zones.map((zone) => [+zone.getAttribute('x'), +zone.getAttribute('y'), getComputedStyle(zone).fill])"
    )
    by_place = {(int(x), int(y)): shade for x, y, shade in shades}
    assert len(by_place) == 16
    for (x, y), shade in by_place.items():
        assert shade == by_place[x // 2 * 2, y // 2 * 2], "a zone has one shade"
        assert shade not in (by_place[(x + 2) % 4, y], by_place[x, (y + 2) % 4]), "and its neighbour another"


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
    ("path", "name"),
    [("/gobblet", "({0},{1})"), ("/promotion", "{1}{0}"), ("/quantik", "{2}"), ("/mutorere", "{2}")],
)
def test_labels_are_the_names_used_in_moves(open_page: OpenPage, kinds_server: str, path: str, name: str) -> None:
    page = open_page(kinds_server + path)
    for flipped in (False, True):
        for place, row, column, label in page.evaluate(NAMED):
            assert name.format(row, column, label) == place, f"flipped: {flipped}"
        page.click("#flip")
    if path != "/promotion":  # there a move is called "step"
        for move in page.evaluate("async path => (await (await fetch(`/api${path}/moves`)).json()).moves", path):
            assert move["to"] in move["move"]


@pytest.mark.parametrize(
    ("move_name", "names", "heading"),
    [
        ("str(move)", "0 1 2 3 4 5 6 7 8", ""),
        ("f'x({move // 3},{move % 3})'", "(0,0) (0,1) (0,2) (1,0)", "0"),
        ("'abc'[move % 3] + '321'[move // 3]", "a3 b3 c3 a2", "3"),
        ("f'cell no. {move + 9}'", "a3 b3 c3 a2", ""),
    ],
)
def test_cells_of_a_text_have_the_names_used_in_moves(move_name: str, names: str, heading: str) -> None:
    start = "@hookimpl\ndef start"
    hook = f"@hookimpl\ndef format_move(position: int, move: int) -> str:\n    return {move_name}\n\n\n"
    game = zoo.make("tictactoe/perfectplay_tictactoe/plugin", {start: hook + start})
    board = make_text_board(game, game.start())
    assert board is not None
    assert [each.id for each in board.cells][: len(names.split())] == names.split()
    assert headings(board)[0][0] == heading


def test_chips_show_the_piece_that_moves(open_page: OpenPage, kinds_server: str) -> None:
    def pictures(path: str) -> set[str]:
        page.goto(kinds_server + path)
        page.wait_for_selector("#moves .chip")
        return {str(each) for each in page.locator("#moves .chip").evaluate_all(CHIP_PICTURES)}

    page = open_page(f"{kinds_server}/gobblet")
    assert pictures("/gobblet?moves=S(0,0)+L(1,2)") == {"piece owner0 18", "piece owner0 30", "piece owner0 41"}
    assert pictures("/quixo-height=3-width=3") == {"piece owner0 0"}
    assert pictures("/morris-flying=no-men=three?moves=b2") == {"piece owner1 37"}
    assert pictures("/kalah-either-row=no-empty-capture=no-pits=3-seeds=3") == {"None"}
    assert pictures("/dots-columns=2-rows=1") == {"None"}


CHIP_PICTURES = """chips => chips.map((chip) => {
  const piece = chip.querySelector(".piece");
  const radius = piece?.querySelector("circle.body")?.getAttribute("r") ?? 0;
  return piece && `${piece.getAttribute("class")} ${Math.round(radius)}`;
})"""


# ---- layout ----

MIDDLES = """(elements, axis) => elements.map((element) => {
  const box = element.getBoundingClientRect();
  return axis === "x" ? box.x + box.width / 2 : box.y + box.height / 2;
})"""


@pytest.mark.parametrize("path", ["/gobblet", "/promotion", MORRIS])
def test_coordinates_are_centred_on_rows_and_columns(open_page: OpenPage, kinds_server: str, path: str) -> None:
    page = open_page(kinds_server + path)
    if path == MORRIS:
        page.click("#player-bottom .tray")
    for side, axis in (("beside", "y"), ("under", "x")):
        middles = page.locator(f"#board .coordinate.{side}").evaluate_all(MIDDLES, axis)
        cells = sorted({round(at) for at in page.locator("#board .cell").evaluate_all(MIDDLES, axis)})
        assert [round(at) for at in sorted(middles)] == pytest.approx(cells, abs=1)
        if path == MORRIS:  # there values are centred on their points
            badges = page.locator("#board .badge").evaluate_all(MIDDLES, axis)
            assert badges == pytest.approx(page.locator("#board .cell").evaluate_all(MIDDLES, axis), abs=1)


OVERLAPS = """() => {
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const box = (element) => element.getBoundingClientRect();
  const fits = (inner, outer) => inner.top >= outer.top && inner.bottom <= outer.bottom - 2;
  return [...document.querySelectorAll("#board .cell:has(.badge)")].flatMap((cell) => {
    const [badge, name, count] = [".badge", ".cell-label", ".seed-count"].map((each) => cell.querySelector(each));
    return [
      meet(box(name), box(badge)) && "the value covers the name",
      meet(box(count), box(badge)) && "the value covers the number",
      !fits(box(count), box(cell)) && "the number is outside",
      parseFloat(getComputedStyle(count).fontSize) < 12 && "the number is small",
      box(cell).height < 80 && "the pit is small",
    ].filter(Boolean).map((problem) => `${cell.dataset.place}: ${problem}`);
  });
}"""


@pytest.mark.parametrize("width", [320, 360, 768, 1440])
def test_name_number_and_value_of_a_pit_are_readable(open_page: OpenPage, kinds_server: str, width: int) -> None:
    path = "/kalah-either-row=no-empty-capture=no-pits=3-seeds=3?position=0,5,2/5,1,1/2-2:S"
    page = open_page(kinds_server + path, viewport={"width": width, "height": 900})
    assert texts(page, "#board .badge .number") == ["\u2009−10", "\u2009−12", "\u2009+10"]
    assert page.evaluate(OVERLAPS) == []
    assert cell(page, "C").locator(".seed-count").inner_text() == "0"


def test_cells_have_their_declared_sizes(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/dots-columns=2-rows=1?moves=a1-a2")
    sizes = page.locator("#board .cell").evaluate_all(
        "cells => Object.fromEntries(cells.map((cell) => [cell.dataset.place, [cell.offsetWidth, cell.offsetHeight]]))"
    )
    dot, across, down = sizes["a1"], sizes["a1-b1"], sizes["b1-b2"]
    assert across == down[::-1] == pytest.approx([dot[0] * 4, dot[1]], abs=4)
    drawn = box(page.locator('[data-place="a1-a2"] .body'))
    assert drawn["height"] == pytest.approx(sizes["a1-a2"][1], abs=1), "a line has the length of its cell"
    assert drawn["width"] < 0.6 * sizes["a1-a2"][0], "and is thinner than a dot"
    corner = page.locator('[data-place="a1"] .body').evaluate("dot => getComputedStyle(dot).rx")
    assert corner == "50%", "a dot is round"


@pytest.mark.parametrize(("width", "height", "share"), [(1366, 650, 0.7), (1024, 768, 0.7), (844, 390, 0.7)])
def test_the_board_and_its_controls_are_seen_at_once(
    open_page: OpenPage, kinds_server: str, width: int, height: int, share: float
) -> None:
    """On a laptop and on a phone held sideways, nothing needed in a game is below the edge of the window."""
    page = open_page(f"{kinds_server}/gobblet", viewport={"width": width, "height": height})
    board = box(page.locator("#board"))
    assert board["height"] >= share * height
    for name in ("#board", "#player-top", "#player-bottom", "#verdict", "#notice", "#undo"):
        element = box(page.locator(name))
        assert element["y"] + element["height"] <= height, f"{name} needs scrolling"


EXTENTS = """() => [...document.querySelectorAll("#board .cell, .tray")]
  .filter((place) => place.matches(".source, .target, .region"))
  .map((place) => {
    place.scrollIntoView({ block: "center", inline: "center" });
    const { x, y, width, height } = place.getBoundingClientRect();
    const isHit = (dx, dy) =>
      document.elementFromPoint(x + width / 2 + dx, y + height / 2 + dy)?.closest(".cell, .tray") === place;
    const reach = (dx, dy) => {
      let steps = 0;
      while (steps < 50 && isHit(dx * (steps + 1), dy * (steps + 1))) steps += 1;
      return steps;
    };
    return [place.dataset.place, Math.min(reach(1, 0) + reach(-1, 0), reach(0, 1) + reach(0, -1)) + 1];
  })"""
"""The number of pixels across each place that can be pressed."""


@pytest.mark.parametrize(("width", "height"), [(320, 700), (844, 390)])
def test_places_are_large_enough_for_fingers(open_page: OpenPage, kinds_server: str, width: int, height: int) -> None:
    page = open_page(f"{kinds_server}/gobblet", viewport={"width": width, "height": height}, has_touch=True)
    for path, least in [
        ("/gobblet", 40),
        ("/quantik", 40),
        ("/connect4", 40),
        ("/kalah", 40),
        ("/morris-flying=no-men=six", 40),
        ("/dots-columns=2-rows=2", 30),
        ("/quixo-height=3-width=3", 40),
        ("/mutorere", 40),
    ]:
        page.goto(kinds_server + path)
        page.wait_for_selector("#board .cell")
        extents = page.evaluate(EXTENTS)
        assert extents, path
        assert [place for place, extent in extents if extent < least] == [], path


def test_nineteen_by_nineteen_is_usable(open_page: OpenPage, kinds_server: str) -> None:
    for width in (360, 1280):
        page = open_page(f"{kinds_server}/wide", viewport={"width": width, "height": 740})
        board, name = box(page.locator("#board")), box(page.locator("#board .coordinate.beside", has_text="19"))
        if width == 1280:
            first = box(cell(page, "a19"))
            assert board["x"] + 3 < name["x"] < name["x"] + name["width"] < first["x"] - 1, "names are on the board"
        corner = cell(page, "s19")
        corner.scroll_into_view_if_needed()
        assert min(box(corner)["width"], box(corner)["height"]) >= 24
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        corner.click()
        expect_plies(page, 1)


@pytest.mark.parametrize("width", [320, 1440])
def test_the_histograms_numbers_are_readable(open_page: OpenPage, gobblet_server: str, width: int) -> None:
    page = open_page(f"{gobblet_server}/gobblet", viewport={"width": width, "height": 900})
    page.click("#tab-explore")
    page.wait_for_selector(".longest a")
    boxes = page.locator(".histogram .tick").evaluate_all(
        "ticks => ticks.map((tick) => tick.getBoundingClientRect()).map((box) => [box.left, box.right, box.height])"
    )
    assert len(boxes) > 5
    assert min(height for _, _, height in boxes) >= 11
    assert all(right + 2 < left for (_, right, _), (left, _, _) in pairwise(boxes))


def test_a_games_name_is_complete_and_without_repetition(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(
        f"{kinds_server}/connect4-connect=3-height=4-mirror=no-width=5", viewport={"width": 320, "height": 900}
    )
    name = page.locator("#games-open .current")
    for path, label in [
        ("/connect4-connect=3-height=4-mirror=no-width=5", None),
        (MORRIS, "Three men's morris"),
        ("/kalah-either-row=yes-empty-capture=no-pits=2-seeds=1", "Kalah(2, 1): either-row"),
    ]:
        page.goto(kinds_server + path)
        expect(name).to_be_visible()
        if label:
            expect(name).to_have_text(label)
        hidden = page.locator("#games-open").evaluate("element => element.scrollWidth - element.clientWidth")
        assert hidden <= 0, "the whole name is visible without scrolling"


def test_on_a_narrow_screen_the_reserve_is_below_its_player(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/gobblet", viewport={"width": 320, "height": 900})
    name, trays, select = (box(page.locator(f"#player-bottom {each}")) for each in ("strong", ".trays", "select"))
    assert trays["y"] > name["y"] + name["height"]
    assert select["x"] + select["width"] == pytest.approx(trays["x"] + trays["width"], abs=8)


def test_no_name_is_broken_on_the_narrowest_screen(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/gobblet", viewport={"width": 320, "height": 700})
    page.locator("#player-top select").select_option("perfect")
    for name in page.locator(".who strong").all():
        assert name.evaluate("element => element.offsetHeight") < 30, name.inner_text()
