"""Boards of every kind in a real Chromium: stars, promotion, passes, text, puzzles, scores, and plugins' mistakes."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from perfectplay.board import Board, Cell, Click, Piece, board_fault, headings, player_colours
from perfectplay.display.board_text import draw
from perfectplay.game import Game, make_game

from .plugins import peg, promotion, shapes, twelve

OpenPage = Callable[..., Page]
Serve = Callable[..., str]


def history_length(page: Page) -> int:
    return page.locator("#history li").count()


def click_any_move(page: Page) -> None:
    """A move by clicks alone, as somebody plays who does not look at the list."""
    before = history_length(page)
    if page.locator("#board .target").count() == 0 and page.locator(".source:visible").count():
        page.locator(".source:visible").first.click()
    (
        page.locator("#board .target").first
        if page.locator("#board .target").count()
        else page.locator("#actions button").first
    ).click()
    if page.locator("#chooser").is_visible():
        page.locator("#choices .choice").first.click()
    expect(page.locator("#history li")).not_to_have_count(before)


def play_to_the_end(page: Page) -> str:
    for _ in range(60):
        if page.locator("#verdict p").inner_text().startswith("Game over"):
            return page.locator("#verdict p").inner_text()
        click_any_move(page)
    raise AssertionError("the game does not end")


# ---- a star ----


def test_the_star_is_drawn_with_its_edges_and_played_by_clicks(
    open_page: OpenPage, serve_games: Serve, mutorere: Game
) -> None:
    page = open_page(serve_games(mutorere) + "/mutorere")
    assert page.locator(".edge").count() == 16
    centre = page.locator('[data-place="8"]').bounding_box()
    points = [page.locator(f'[data-place="{point}"]').bounding_box() for point in range(8)]
    assert centre
    reaches = [((p["x"] - centre["x"]) ** 2 + (p["y"] - centre["y"]) ** 2) ** 0.5 for p in points if p]
    assert max(reaches) - min(reaches) < 2, "all points are equally far from the centre"
    page.click('[data-place="0"]')
    page.click('[data-place="8"]')
    expect(page.locator("#history li")).to_have_count(2)
    assert sorted(page.locator(".cell-label").all_inner_texts()) == [str(number) for number in range(9)]


def test_the_star_has_a_drawing_for_the_terminal_too(mutorere: Game) -> None:
    board = mutorere.board(mutorere.start())
    assert board is not None
    lines = draw(board).splitlines()
    assert sum("[●X]" in line or "[X]" in line for line in lines) >= 3
    assert any("─" in line for line in lines)


# ---- promotion and pass ----


def test_a_promotion_asks_and_a_pass_is_a_button(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(promotion, name="promotion")) + "/promotion?moves=step+step+step+step")
    assert page.locator("#actions button").inner_text().startswith("Pass")
    page.click('[data-place="a3"]')
    page.click('[data-place="a4"]')
    expect(page.locator("#chooser")).to_be_visible()
    assert [text.split("\n")[0] for text in page.locator(".choice").all_inner_texts()] == ["to a queen", "to a knight"]
    page.keyboard.press("Escape")
    assert history_length(page) == 5, "closing the chooser plays nothing"
    page.click('[data-place="a4"]')
    page.locator('.choice[data-move="knight"]').click()
    expect(page.locator("#history li")).to_have_count(6)
    expect(page.locator('[data-place="a4"]')).to_have_accessible_name(re.compile("a4, Red N"))
    page.locator("#actions button").click()
    expect(page.locator("#history li")).to_have_count(7)


def test_players_have_the_colours_of_their_names(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(promotion, name="promotion")) + "/promotion")
    colour = "element => getComputedStyle(element).backgroundColor"
    assert page.locator("#player-bottom .dot").evaluate(colour) == "rgb(201, 48, 44)"
    assert page.locator("#player-top .dot").evaluate(colour) == "rgb(44, 48, 58)"


def test_a_whole_game_with_promotion_and_pass(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(promotion, name="promotion")) + "/promotion")
    assert play_to_the_end(page) == "Game over: Red has won"


def test_a_whole_game_by_touch(open_page: OpenPage, serve_games: Serve, mutorere: Game) -> None:
    page = open_page(
        serve_games(mutorere, make_game(promotion, name="promotion")) + "/promotion",
        has_touch=True,
        viewport={"width": 360, "height": 740},
    )
    page.tap('[data-place="a1"]')
    page.tap('[data-place="a2"]')
    expect(page.locator("#history li")).to_have_count(2)
    page.tap("#actions button")
    expect(page.locator("#history li")).to_have_count(3)


# ---- text, puzzles, scores ----


def test_a_text_only_game_opened_by_link_claims_nothing_about_whose_turn_it_is(
    open_page: OpenPage, small_server: str
) -> None:
    page = open_page(f"{small_server}/stones?position=5")
    assert page.locator("#board pre").inner_text() == "5"
    assert page.locator(".moving").count() == 0
    assert page.locator("#verdict p").inner_text().startswith("The player to move wins")
    page.locator('#moves [data-move="1"]').click()
    expect(page.locator("#history li")).to_have_count(2)
    assert page.locator(".moving").count() == 0


def test_a_puzzle_has_one_player_and_is_solved(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(peg, name="peg")) + "/peg")
    assert page.locator("#verdict p").inner_text() == "Solved in 2 moves"
    assert page.locator(".player:visible").count() == 1
    for _ in range(2):
        before = history_length(page)
        page.locator("#moves .chip.best").first.click()
        expect(page.locator("#history li")).not_to_have_count(before)
    assert page.locator("#verdict p").inner_text() == "Game over: solved"
    page.click("#first")
    page.locator("#moves .chip.loss, #moves .chip.draw").first.click()
    expect(page.locator("#history .mark")).to_have_count(1)


def test_a_game_with_scores_shows_them(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(twelve, name="twelve")) + "/twelve")
    assert re.fullmatch(r"(First|Second) player wins by \d+ in \d+ plies.*", page.locator("#verdict p").inner_text())
    assert re.match(r"[WL][\u2009 ]?[+−]\d+", page.locator("#actions .badge").first.inner_text())
    assert re.search(r" by \d+", play_to_the_end(page))


# ---- what plugins get wrong ----


def test_nothing_a_plugin_returns_blanks_the_page(open_page: OpenPage, serve_games: Serve) -> None:
    page = open_page(serve_games(make_game(shapes, name="shapes")) + "/shapes")
    assert page.locator("#board .cell").count() == len(shapes.NAMES)
    for played, name in enumerate(shapes.NAMES, start=2):
        page.locator(f'[data-place="{name}"]').click()
        if "source" in (page.locator(f'[data-place="{name}"]').get_attribute("class") or ""):
            continue
        expect(page.locator("#history li")).to_have_count(played)
    assert page.locator("#verdict p").inner_text() == "Game over: First player has won"


BOARD = Board(1, 2, (Cell("a", 0, 0), Cell("b", 0, 1, (Piece(0, "X"),))), 0, clicks=(Click(0, "a"),))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"rows": float("nan")}, "rows is nan"),
        ({"columns": 10**6}, "columns is 1000000"),
        ({"to_move": 2}, "to_move is 2"),
        ({"cells": (Cell("a", 0, 0), Cell("a", 0, 1))}, "2 places 'a'"),
        ({"cells": (Cell("a", 0, 7),)}, "outside the board"),
        ({"cells": (Cell("a", 0, 0, (Piece(0, "X", float("inf")),)),)}, "size is inf"),
        ({"cells": (Cell("a", 0, 0, (Piece(5, "X"),)),)}, "not a piece"),
        ({"cells": None}, "its parts are not what they should be"),
        ({"clicks": (Click(0, "z"),)}, "no place 'z'"),
        ({"edges": (("a", "z"),)}, "no place 'z'"),
        ({"zones": (("y",),)}, "no place 'y'"),
        ({"warnings": {"a": 3}}, "3 is not a text"),
    ],
)
def test_a_board_that_cannot_be_drawn_says_why(change: dict[str, object], fault: str) -> None:
    assert board_fault(BOARD) is None
    assert fault in (board_fault(replace(BOARD, **change)) or "")  # type: ignore[arg-type]


def test_a_board_that_cannot_be_drawn_leaves_the_game_playable(
    open_page: OpenPage, serve_games: Serve, games: types.SimpleNamespace
) -> None:
    module = types.ModuleType("crooked")
    exec(
        games.codes["TIC_TAC_TOE"].replace("rows=3", "rows=float('nan')").replace("Board(3,", "Board(float('nan'),"),
        vars(module),
    )
    page = open_page(serve_games(make_game(module, name="crooked")) + "/crooked")
    assert page.locator("#board pre").inner_text() == "........."
    expect(page.locator("#notice")).to_contain_text("the board cannot be drawn: rows is nan")
    page.locator("#moves .chip").first.click()
    expect(page.locator("#history li")).to_have_count(2)


def test_colours_and_headings_follow_from_names() -> None:
    assert player_colours(BOARD) == ("orange", "blue")
    assert player_colours(replace(BOARD, players=("Blue", "Someone"))) == ("blue", "orange")
    assert player_colours(replace(BOARD, colours=("green",))) == ("green", "blue")
    cells = tuple(
        Cell(name, row, column) for name, row, column in (("a2", 0, 0), ("b2", 0, 1), ("a1", 1, 0), ("b1", 1, 1))
    )
    assert headings(Board(2, 2, cells, 0)) == (["2", "1"], ["a", "b"])
    assert headings(Board(2, 2, cells, 0, column_labels=("x",))) == (["", ""], ["x", ""])


def test_nineteen_by_nineteen_stays_usable(open_page: OpenPage, serve_games: Serve) -> None:
    from .plugins import wide

    address = serve_games(make_game(wide, name="wide"), solved=False)
    for width in (360, 1280):
        page = open_page(f"{address}/wide", viewport={"width": width, "height": 740})
        cell = page.locator('[data-place="s19"]')
        cell.scroll_into_view_if_needed()
        box = cell.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= 24
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        cell.click()
        expect(page.locator("#history li")).to_have_count(2)


def test_the_line_that_has_won_is_pointed_out(open_page: OpenPage, gobblet_server: str, tmp_path: Path) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)")
    expect(page.locator("#verdict p")).to_have_text("Game over: Orange has won")
    lit = page.locator(".cell.highlight")
    assert [lit.nth(i).get_attribute("data-place") for i in range(3)] == ["(0,0)", "(0,1)", "(0,2)"]
