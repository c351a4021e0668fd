"""Helpers for the tests of the page: read what it shows, play moves, hold requests, wait for a turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, Route, expect

OpenPage = Callable[..., Page]

FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null))))"
"""Waits until the page has been drawn."""


def verdict(page: Page) -> str:
    return page.locator("#verdict p").inner_text()


def expect_verdict(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.locator("#verdict p")).to_have_text(text)


def expect_left(page: Page, number: int) -> None:
    """Expect the details under the verdict to give this number of plies."""
    expect(page.locator("#unknown")).to_have_text(f"{number} plies to the end" if number > 1 else "1 ply to the end")


def notice(page: Page) -> Locator:
    return page.locator("#notice")


def cell(page: Page, name: str) -> Locator:
    """A cell of the board, or a tray beside it."""
    return page.locator(f'[data-place="{name}"]')


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def plies(page: Page) -> int:
    """The number of moves played."""
    return page.locator("#history li").count() - 1


def expect_plies(page: Page, number: int) -> None:
    expect(page.locator("#history li")).to_have_count(number + 1)


def play(page: Page, *moves: str) -> None:
    """Play moves from the list. The computer may have answered by the time this returns."""
    for move in moves:
        before = plies(page)
        page.locator(f'#moves [data-move="{move}"]').click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)


def play_to_the_end(page: Page, side: str, click_move: Callable[[Page], None]) -> None:
    """Play the user's moves at the "top" or "bottom" until the game is over; the computer plays the others."""
    ended = "document.querySelector('#verdict p').textContent.startsWith('Game over')"
    while True:
        page.wait_for_function(f"() => document.querySelector('#player-{side}.moving') || {ended}")
        if verdict(page).startswith("Game over"):
            return
        before = plies(page)
        click_move(page)
        expect(page.locator("#history li")).not_to_have_count(before + 1)


def set_computer(page: Page, side: str, strength: str = "perfect") -> None:
    page.locator(f"#player-{side} select").select_option(strength)


def stop_clock(page: Page) -> None:
    """From now on the page's timers wait for `page.clock.run_for`, however slow the machine is."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def hold(page: Page, pattern: str) -> list[Route]:
    """Collect requests of this kind; each waits until the test continues it."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route))
    return held


def wait_for_request(page: Page, held: list[Route]) -> Route:
    while not held:
        page.wait_for_timeout(10)  # handles the browser's events
    return held[0]


def wait_for_sent_requests(page: Page) -> None:
    """Wait until every request that the page has sent so far has been seen here."""
    later = hold(page, "**/icon.svg?last")
    page.evaluate("() => void fetch('/static/icon.svg?last')")
    wait_for_request(page, later).continue_()
    page.unroute("**/icon.svg?last")


@contextmanager
def expect_no_request(page: Page, pattern: str) -> Iterator[None]:
    """Assert that the page sends no request of this kind in the block, nor when it is next drawn."""
    held = hold(page, pattern)
    yield
    page.evaluate(FRAMES)
    wait_for_sent_requests(page)
    assert held == []
    page.unroute(pattern)
