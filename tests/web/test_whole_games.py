"""Whole games against the perfect computer: nine games, both sides, by clicks and by dragging, in a real Chromium.

In each game the user goes back and forward, reloads the page and opens the link in another window. Nothing may move by
itself or be overwritten, and the game must end as the first verdict promised. PERFECTPLAY_ALL_GAMES=1 plays all 36
games.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from perfectplay.game.loading import load_game
from perfectplay.solve.solve import solve_game
from perfectplay.web.library import Library

from .. import zoo
from .conftest import running
from .pages import OpenPage, cell, expect_plies, plies, verdict

GAMES = ["gobblet", "quantik", "kalah", "dots", "connect4", "quixo", "morris", "tictactoe", "mutorere"]
MAX_PLIES = 24
"""A drawn game need not end; it is left after this many plies."""


@pytest.fixture(scope="module")
def nine_games(
    gobblet_tables: Path, quantik_tables: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The address of each game."""
    directory = tmp_path_factory.mktemp("nine")
    (directory / "gobblet").symlink_to(gobblet_tables / "gobblet")
    (directory / "quantik").symlink_to(quantik_tables / "quantik")
    small = [
        load_game("kalah", pits=2, seeds=2),
        load_game("dots", rows=1),
        load_game("connect4", width=4, height=3, connect=3),
        load_game("quixo", width=3, height=3),
        load_game("morris", men="three"),
        zoo.make("tictactoe/perfectplay_tictactoe/plugin"),
        zoo.make(zoo.MUTORERE),
    ]
    for game in small:
        solve_game(game, directory=directory).table.close()
    games = [load_game("gobblet"), load_game("quantik"), *small]
    library = Library(directory, games)
    with running(library) as address:
        yield {game.name: f"{address}/{game.identity}" for game in games}
    library.close()


POSITION = "async () => (await (await fetch(`/api${location.pathname}/replay${location.search}`)).json()).position"

Make = Callable[[Page, dict[str, Any], list[dict[str, Any]]], None]
"""Makes a move on the board."""


def make_by_clicks(page: Page, move: dict[str, Any], moves: list[dict[str, Any]]) -> None:
    for place in filter(None, (move["source"], move["target"], move.get("capture"))):
        cell(page, place).click()


def make_by_drag(page: Page, move: dict[str, Any], moves: list[dict[str, Any]]) -> None:
    """Drag a piece or a stone to its target, seeds out of their pit, or a line from dot to dot."""
    source, target = move["source"], move["target"]
    if move.get("ends"):
        source, target = move["ends"]
    elif move.get("path"):
        source, target = target, "north"
    elif source is None:
        source = next((each["target"] for each in moves if each["target"] != target), None)
    if source is None:
        return cell(page, target).click()  # the last empty cell
    for place, act in ((source, page.mouse.down), (target, page.mouse.up)):
        box = cell(page, place).bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
        act()
    return None


def wander(page: Page, open_page: OpenPage) -> None:
    """Go back and forward, reload, and open the link elsewhere; nothing may change."""
    address, count = page.url, plies(page)
    page.go_back()
    expect(page).not_to_have_url(address)
    page.go_forward()
    expect(page).to_have_url(address)
    page.reload()
    page.wait_for_selector("#board .cell")
    expect_plies(page, count)
    other = open_page(address)
    expect_plies(other, count)
    other.wait_for_timeout(400)  # longer than the computer's pause
    assert (plies(page), page.url, plies(other)) == (count, address, count)
    other.close()


def promised_result(position: dict[str, Any]) -> tuple[str, ...]:
    """How the last verdict may begin, from the value of the user's first position."""
    names = position["players"]
    if position["outcome"] == "draw":
        return ("Game over: a draw", "Game over: draw by threefold repetition")
    winner = names[position["to_move"] if position["outcome"] == "win" else 1 - position["to_move"]]
    return (f"Game over: {winner} ",)


WAYS = [(0, make_by_clicks), (1, make_by_drag), (0, make_by_drag), (1, make_by_clicks)]
"""The user's side, and how moves are made. The second half runs only on request, because a game takes long."""


@pytest.mark.parametrize(("owner", "make"), WAYS if os.environ.get("PERFECTPLAY_ALL_GAMES") else WAYS[:2])
@pytest.mark.parametrize("game", GAMES)
def test_a_whole_game_ends_as_promised(
    open_page: OpenPage, nine_games: dict[str, str], game: str, owner: int, make: Make
) -> None:
    page = open_page(nine_games[game])
    page.click("#tab-learn")
    page.locator("#play-as button").nth(owner).click()
    page.click("#tab-analysis")
    promise: tuple[str, ...] | None = None
    turns = 0
    while plies(page) < MAX_PLIES:
        page.wait_for_function(
            "() => document.querySelector('#player-bottom.moving') || "
            "document.querySelector('#verdict p').textContent.startsWith('Game over')"
        )
        if verdict(page).startswith("Game over"):
            break
        position = page.evaluate(POSITION)
        promise = promise or promised_result(position)
        turns += 1
        if turns == 2:
            wander(page, open_page)
        before = plies(page)
        make(page, position["moves"][0], position["moves"])
        expect(page.locator("#history li")).not_to_have_count(before + 1)
        assert page.locator("#history .entry").nth(before + 1).inner_text().split()[-1] == position["moves"][0]["move"]
    assert promise is not None
    if plies(page) < MAX_PLIES:
        assert verdict(page).startswith(promise)
        expect(page.locator("#summary")).to_contain_text("You made no mistake")
    else:
        assert promise[0] == "Game over: a draw"
    assert page.locator("#history .branch").count() == 0, "nothing was played twice"
