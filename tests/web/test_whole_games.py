"""Whole games in a real Chromium, of every kind of game there is: by touch, and by the keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .pages import OpenPage, expect_plies, plies, verdict

Press = Callable[[Page, str], None]
"""Presses what a selector finds, in one way or another."""

ENDS = {
    "gobblet": "Game over: Orange has won",
    "quantik": "Game over: First player has won",
    "mutorere": "Game over: First player has won",  # a star
    "promotion": "Game over: Red has won",  # a choice of moves, and a pass
    "stones": "Game over: First player has won",  # nothing but a text
    "peg": "Game over: solved",  # a puzzle
    "twelve": "Game over: First player has won by 13",  # scores
}

MOVES = "async () => (await (await fetch(`/api${location.pathname}/replay${location.search}`)).json()).position.moves"


def touch(page: Page, selector: str) -> None:
    page.tap(selector)


def keyboard(page: Page, selector: str) -> None:
    """Tab to the group, arrows inside it, Enter."""
    wanted = page.locator(selector)
    stop = f"() => document.activeElement.closest({_group(selector)!r}) !== null"
    for _ in range(60):
        if page.evaluate(stop):
            break
        page.keyboard.press("Tab")
    for _ in range(20):
        if wanted.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press(wanted.evaluate(NEAREST_KEY))
    expect(wanted).to_be_focused()
    page.keyboard.press("Enter")


def _group(selector: str) -> str:
    return selector.rpartition(" ")[0]


NEAREST_KEY = """element => {
  const [to, from] = [element, document.activeElement].map((each) => each.getBoundingClientRect());
  const [dx, dy] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
  if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? 'ArrowRight' : 'ArrowLeft';
  return dy > 0 ? 'ArrowDown' : 'ArrowUp';
}"""


def press_move(page: Page, press: Press, move: dict[str, Any]) -> None:
    """A move as a person makes it: from the board where it is there, else by a button or from the list."""
    if page.locator("#board pre").count():
        press(page, f'#moves [data-move="{move["move"]}"]')
        return
    if move["target"] is None:
        press(page, f'#actions [data-move="{move["move"]}"]')
        return
    if move["source"] is not None:
        press(page, _place(page, move["source"]))
    press(page, _place(page, move["target"]))
    if page.locator("#chooser").is_visible():
        press(page, f'#choices [data-move="{move["move"]}"]')


def _place(page: Page, name: str) -> str:
    """A cell, or a tray beside the board."""
    for group in ("#board", "#player-bottom", "#player-top"):
        if page.locator(f'{group} [data-place="{name}"]').count():
            return f'{group} [data-place="{name}"]'
    raise AssertionError(f"there is no place {name}")


@pytest.mark.parametrize("press", [touch, keyboard])
@pytest.mark.parametrize("game", ENDS)
def test_a_whole_game(open_page: OpenPage, kinds_server: str, game: str, press: Press) -> None:
    """The first player makes the best moves there are, the second the worst."""
    screen = {"width": 360, "height": 740} if press is touch else {"width": 1280, "height": 900}
    page = open_page(f"{kinds_server}/{game}", viewport=screen, has_touch=press is touch)
    while not verdict(page).startswith("Game over"):
        before, moves = plies(page), page.evaluate(MOVES)
        press_move(page, press, moves[-1 if before % 2 and game != "peg" else 0])
        expect_plies(page, before + 1)
    assert verdict(page) == ENDS[game]
    expect(page.locator("#notice")).to_have_text("Undo to try something else, or start a new game.")
