"""What the tests of the page do again and again: read the verdict, play moves, wait for a turn."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

OpenPage = Callable[..., Page]


def stop_the_clock(page: Page) -> None:
    """From now on the page's timers wait for `page.clock.run_for`, however slow the machine is."""
    page.clock.install(time=0)
    page.clock.pause_at(1000)


def verdict(page: Page) -> str:
    return page.locator("#verdict p").inner_text()


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def plies(page: Page) -> int:
    """How many moves have been played."""
    return page.locator("#history li").count() - 1


def expect_plies(page: Page, number: int) -> None:
    expect(page.locator("#history li")).to_have_count(number + 1)


def play(page: Page, *moves: str) -> None:
    """Play moves from the list. (The table may have answered by the time that one looks.)"""
    for move in moves:
        before = plies(page)
        page.locator(f'#moves [data-move="{move}"]').click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)


def hold(page: Page, pattern: str) -> list[Route]:
    """Requests of this kind wait in the list until somebody lets them go on."""
    held: list[Route] = []
    page.route(pattern, lambda route: held.append(route))
    return held


def wait_for_one(page: Page, held: list[Route]) -> Route:
    while not held:
        page.wait_for_timeout(10)  # lets the browser's events come
    return held[0]


def wait_for_what_was_asked(page: Page) -> None:
    """After this, all that the page has asked by now is held, where it is to be held."""
    later = hold(page, "**/icon.svg")
    page.evaluate("() => void fetch('/static/icon.svg')")
    wait_for_one(page, later).continue_()


def wait_for_turn(page: Page, side: str) -> bool:
    """Whether the game goes on, once it is the turn of the player at the "top" or "bottom", or over."""
    page.wait_for_function(
        f"() => document.querySelector('#player-{side}.moving')"
        " || document.querySelector('#verdict p').textContent.startsWith('Game over')"
    )
    return not verdict(page).startswith("Game over")
