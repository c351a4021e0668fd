"""Every state of the page, in every scheme and at every width: nothing that axe complains of, or that sticks out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from .pages import OpenPage

WIDTHS = (320, 768, 1440)


def go(path: str, ready: str = "#board > *") -> Callable[[Page, str], None]:
    """Opens a page of the server, and waits for what says that it is drawn."""

    def enter(page: Page, server: str) -> None:
        page.goto(server + path)
        page.wait_for_selector(ready)

    return enter


def then(selector: str, ready: str) -> Callable[[Page, str], None]:
    """Clicks, and waits for what comes of it."""

    def enter(page: Page, server: str) -> None:
        page.click(selector)
        page.wait_for_selector(ready)

    return enter


def key(name: str, ready: str) -> Callable[[Page, str], None]:
    def enter(page: Page, server: str) -> None:
        page.locator("body").press(name)
        page.wait_for_selector(ready)

    return enter


def a_wrong_text(page: Page, server: str) -> None:
    page.fill("#editor-text", "nonsense")
    page.wait_for_function("() => document.querySelector('#editor-reason').textContent")


def no_server(page: Page, server: str) -> None:
    page.route("**/replay*", lambda route: route.abort())
    page.locator("#moves .chip").first.click()
    page.wait_for_selector("#notice.strong")


def a_server_again(page: Page, server: str) -> None:
    page.unroute_all()
    page.wait_for_function("() => document.querySelectorAll('#history li').length > 1")


def a_solve_going_on(page: Page, server: str) -> None:
    report = {"state": "solving", "text": "tier 3 of 7", "fraction": 0.4, "error": None}
    page.route("**/solve", lambda route: route.fulfill(json=report))
    go("/dots-columns=2-rows=2", "#solve-card progress")(page, server)


def nothing_there(page: Page, server: str) -> None:
    page.unroute_all()
    go("/nothing", "h1")(page, server)


def a_position_to_solve(page: Page, server: str) -> None:
    go("/gobblet?position=1649275928706")(page, server)
    page.evaluate("() => history.replaceState({ ...history.state, puzzle: '1649275928706' }, '')")
    page.reload()
    page.wait_for_function("() => document.querySelector('#verdict p').textContent.startsWith('Puzzle: ')")


def a_move_pointed_at(page: Page, server: str) -> None:
    go("/gobblet?position=74242", ".group")(page, server)
    page.locator("#moves .chip").first.hover()
    page.wait_for_selector(".changed")


ROUND = "+(0,0)->(0,1)+(2,2)->(2,1)+(0,1)->(0,0)+(2,1)->(2,2)"

STATES: dict[str, Callable[[Page, str], None]] = {
    "a game": go("/gobblet?position=1649275928706", "#line .step"),
    "a mistake": go("/gobblet?moves=S(0,0)+L(1,2)+S(2,0)", "#history .slip"),
    "the whole table": then("#tab-explore", ".longest a"),
    "the rules": then("#tab-learn", "#rules p"),
    "the editor open": then("#setup summary", "#setup-board .cell"),
    "a wrong text": a_wrong_text,
    "a piece in hand": then('[data-place="blue-L"]', ".selected"),
    "no hints": key("h", '#hints[aria-pressed="false"]'),
    "hints again": key("h", '#hints[aria-pressed="true"]'),
    "the help": key("?", "#help[open]"),
    "a star": go("/mutorere"),
    "all games": then("#games-open", "#games-dialog[open]"),
    "a promotion": go("/promotion?moves=step+step+step+step"),
    "a pawn in hand": then('[data-place="a3"]', ".selected"),
    "which move": then('[data-place="a4"]', "#chooser[open]"),
    "a text": go("/stones"),
    "a puzzle": go("/peg"),
    "a puzzle's table": then("#tab-explore", ".longest a"),
    "a puzzle with scores": go("/treasure?moves=step_2+step_1", "#history .slip"),
    "its table": then("#tab-explore", ".longest a"),
    "points": go("/morris-flying=no-men=three?moves=b2+a1+c3", "#history .slip"),
    "pits": go("/kalah-either-row=no-empty-capture=no-pits=3-seeds=3"),
    "lines to draw": go("/dots-columns=2-rows=1?moves=a1-a2+a1-b1+a2-b2+b1-b2", "#history li:nth-child(5)"),
    "scores": go("/twelve"),
    "no server": no_server,
    "a server again": a_server_again,
    "zones": go("/quantik"),
    "the end": go("/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)", ".highlight"),
    "a repetition": go(f"/gobblet?moves=S(0,0)+S(2,2){ROUND}{ROUND}", "#notice.strong"),
    "a position to solve": a_position_to_solve,
    "a move pointed at": a_move_pointed_at,
    "no table": go("/dots-columns=2-rows=2", "#solve-card .estimate"),
    "a solve going on": a_solve_going_on,
    "nothing there": nothing_there,
}

SMALL = """() => [...document.querySelectorAll('button, select, nav a, summary')]
  .filter((each) => each.checkVisibility() && !each.closest('.board, .plain'))
  .map((each) => [each.id || each.className, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.5 || box.height < 43.5).map(([name]) => name)"""

FAULTS = """async () => (await axe.run()).violations.map((each) => `${each.id}: ${each.nodes[0].html}`)"""


@pytest.mark.parametrize("scheme", ["light", "dark", "forced"])
def test_every_state_is_accessible_and_fits(open_page: OpenPage, kinds_server: str, axe: str, scheme: str) -> None:
    page = open_page(
        f"{kinds_server}/gobblet",
        color_scheme="dark" if scheme == "dark" else "light",
        forced_colors="active" if scheme == "forced" else "none",
        bypass_csp=True,
        before=axe,
        expected="Failed to load",
    )
    faults: list[str] = []
    for name, enter in STATES.items():
        enter(page, kinds_server)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            found = [f"{each} is small" for each in page.evaluate(SMALL)]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append("something sticks out")
            if width != 768:
                found += page.evaluate(FAULTS)
            faults += [f"{name}, {width} px: {fault}" for fault in found]
    assert not faults, "\n".join(faults)
