"""Every state of the page, in every scheme and at every width: accessible according to axe, and without overflow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from playwright.sync_api import Page

from .pages import OpenPage

SCHEMES = ("light", "dark", "forced")
WIDTHS = (320, 768, 1440)


def go(path: str, ready: str = "#board > *") -> Callable[[Page, str], None]:
    """Open a page of the server and wait for an element."""

    def enter(page: Page, server: str) -> None:
        page.goto(server + path)
        page.wait_for_selector(ready)

    return enter


def then(selector: str, ready: str) -> Callable[[Page, str], None]:
    """Click, and wait for an element."""

    def enter(page: Page, server: str) -> None:
        page.click(selector)
        page.wait_for_selector(ready)

    return enter


def key(name: str, ready: str) -> Callable[[Page, str], None]:
    def enter(page: Page, server: str) -> None:
        page.locator("body").press(name)
        page.wait_for_selector(ready)

    return enter


def enter_wrong_text(page: Page, server: str) -> None:
    page.fill("#editor-text", "nonsense")
    page.wait_for_function("() => document.querySelector('#editor-reason').textContent")


def lose_server(page: Page, server: str) -> None:
    page.route("**/replay*", lambda route: route.abort())
    page.locator("#moves .chip").first.click()
    page.wait_for_selector("#notice.strong")


def restore_server(page: Page, server: str) -> None:
    page.unroute_all()
    page.wait_for_function("() => document.querySelectorAll('#history li').length > 1")


def show_running_solve(page: Page, server: str) -> None:
    report = {"state": "solving", "text": "tier 3 of 7", "fraction": 0.4, "error": None}
    page.route("**/solve", lambda route: route.fulfill(json=report))
    go("/dots-columns=2-rows=2", "#solve-card progress")(page, server)


def show_not_found(page: Page, server: str) -> None:
    page.unroute_all()
    go("/nothing", "h1")(page, server)


def show_puzzle(page: Page, server: str) -> None:
    go("/gobblet?position=1649275928706&puzzle=1")(page, server)
    page.wait_for_function("() => document.querySelector('#verdict p').textContent.startsWith('Puzzle: ')")


def point_at_move(page: Page, server: str) -> None:
    go("/gobblet?position=74242", ".group")(page, server)
    page.locator("#moves .chip").first.hover()
    page.wait_for_selector(".changed")


def start_game(page: Page, server: str) -> None:
    go("/gobblet")(page, server)
    page.click("#tab-learn")
    page.click("#play-as button")
    page.wait_for_selector("#resign:not([hidden])")


def resign(page: Page, server: str) -> None:
    page.locator("body").press("b")
    page.wait_for_selector("#player-bottom.moving")  # the computer has answered
    page.wait_for_function("() => document.querySelectorAll('#history li').length === 3")
    page.click("#resign")
    page.wait_for_selector("#summary:not([hidden])")


def leave_line(page: Page, server: str) -> None:
    go("/gobblet?moves=S(0,0)+L(1,2)+S(2,0)", "#history .slip")(page, server)
    page.click("#undo")
    page.wait_for_selector("#redo:enabled")
    page.locator("#moves .chip").first.click()
    page.wait_for_selector(".entry.branch")


def find_first_move(page: Page, server: str) -> None:
    show_puzzle(page, server)
    moves = page.evaluate("async () => (await (await fetch('/api/gobblet/position?id=1649275928706')).json()).moves")
    page.locator(f'#moves [data-move="{moves[0]["move"]}"]').click()
    page.wait_for_function("() => document.querySelector('#notice').textContent.includes('is correct')")


def drag_piece(page: Page, server: str) -> None:
    go("/gobblet")(page, server)
    for place, press in (("#player-bottom .tray", page.mouse.down), ("#board .cell", None)):
        box = page.locator(place).first.bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        if press:
            press()
    page.wait_for_selector(".dragged")


def drop_piece(page: Page, server: str) -> None:
    page.mouse.up()
    page.wait_for_selector(".dragged", state="detached")


ROUND = "+(0,0)->(0,1)+(2,2)->(2,1)+(0,1)->(0,0)+(2,1)->(2,2)"

STATES: dict[str, Callable[[Page, str], None]] = {
    "game": go("/gobblet?position=1649275928706", "#line .step"),
    "mistake": go("/gobblet?moves=S(0,0)+L(1,2)+S(2,0)", "#history .slip"),
    "statistics": then("#tab-explore", ".longest a"),
    "rules": then("#tab-learn", "#rules p"),
    "editor": then("#setup summary", "#setup-board .cell"),
    "wrong text": enter_wrong_text,
    "selected piece": then('[data-place="blue-L"]', ".selected"),
    "hints off": key("h", '#hints[aria-pressed="false"]'),
    "hints on": key("h", '#hints[aria-pressed="true"]'),
    "help": key("?", "#help[open]"),
    "star": go("/mutorere"),
    "list of games": then("#games-open", "#games-dialog[open]"),
    "promotion": go("/promotion?moves=step+step+step+step"),
    "selected pawn": then('[data-place="a3"]', ".selected"),
    "choice of moves": then('[data-place="a4"]', "#chooser[open]"),
    "text": go("/stones"),
    "puzzle": go("/peg"),
    "puzzle's statistics": then("#tab-explore", ".longest a"),
    "puzzle with scores": go("/treasure?moves=step_2+step_1", "#history .slip"),
    "statistics of scores": then("#tab-explore", ".longest a"),
    "points": go("/morris-flying=no-men=three?moves=b2+a1+c3", "#history .slip"),
    "pits": go("/kalah-either-row=no-empty-capture=no-pits=3-seeds=3"),
    "edges": go("/dots-columns=2-rows=1?moves=a1-a2+a1-b1+a2-b2+b1-b2", "#history li:nth-child(5)"),
    "scores": go("/twelve"),
    "lost server": lose_server,
    "restored server": restore_server,
    "zones": go("/quantik"),
    "end": go("/gobblet?position=L,L,./.,.,./l,l,.:orange&moves=M(0,2)", ".highlight"),
    "repetition": go(f"/gobblet?moves=S(0,0)+S(2,2){ROUND}{ROUND}", "#notice.strong"),
    "puzzle position": show_puzzle,
    "puzzle's first move": find_first_move,
    "next puzzle": then("#next-puzzle", "#next-puzzle:not([hidden])"),
    "preview": point_at_move,
    "variations": leave_line,
    "play mode": start_game,
    "hint": then("#advise", ".advised"),
    "shown values": then("#hints", ".badge"),
    "summary": resign,
    "drag": drag_piece,
    "drop": drop_piece,
    "embedded board": go("/embed/gobblet?moves=S(0,0)+L(1,2)", ".badge"),
    "API": go("/api", "h1"),
    "no table": go("/dots-columns=2-rows=2", "#solve-card .estimate"),
    "running solve": show_running_solve,
    "not found": show_not_found,
}

TOO_SMALL = """() => [...document.querySelectorAll('button, select, nav a, summary')]
  .filter((each) => each.checkVisibility() && !each.closest('.board, .plain'))
  .map((each) => [each.id || each.className, each.getBoundingClientRect()])
  .filter(([, box]) => box.width < 43.5 || box.height < 43.5).map(([name]) => name)"""

VIOLATIONS = """async () => (await axe.run({ resultTypes: ["violations"] })).violations
  .map((each) => `${each.id}: ${each.nodes[0].html}`)"""


def test_every_state_is_accessible_and_fits(open_page: OpenPage, kinds_server: str, axe: str) -> None:
    page = open_page(f"{kinds_server}/gobblet", bypass_csp=True, before=axe, expected="Failed to load")
    problems: list[str] = []
    for name, enter in STATES.items():
        enter(page, kinds_server)
        for width, scheme in product(WIDTHS, SCHEMES):
            page.emulate_media(
                color_scheme="dark" if scheme == "dark" else "light",
                forced_colors="active" if scheme == "forced" else "none",
            )
            page.set_viewport_size({"width": width, "height": 800})
            found = [f"{each} is too small" for each in page.evaluate(TOO_SMALL)]
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append("overflow")
            if width != 768:
                found += page.evaluate(VIOLATIONS)
            problems += [f"{name}, {scheme}, {width} px: {problem}" for problem in found]
    assert not problems, "\n".join(problems)
