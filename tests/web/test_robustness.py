"""The page when something goes wrong, and for everybody: errors, focus, keys, screen readers, contrast."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, TimeoutError, expect

from perfectplay.solving.strong import solve_game
from perfectplay.web.library import Library

from .pages import OpenPage, expect_plies, hold, play, plies, stop_the_clock, verdict, wait_for_what_was_asked

# ---- errors ----


def test_the_editor_forgets_the_text_of_another_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.fill("#editor-text", "XO.......")
    expect(page.locator("#editor-reason")).to_contain_text("Valid position: ")
    page.get_by_role("link", name="Stones").click()
    expect(page.locator("#board pre")).to_have_text("7")
    assert page.locator("#editor-text").input_value() == "7"
    expect(page.locator("#editor-reason")).to_have_text("")
    assert page.locator("#editor-go").is_disabled()


def test_undo_while_the_table_thinks_gives_the_turn_back(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_the_clock(page)
    page.locator("#player-top select").select_option("perfect")
    page.locator('#moves [data-move="b2"]').click()
    expect_plies(page, 1)
    page.click("#undo")
    expect(page.locator("#player-bottom.moving")).to_have_count(1)
    expect(page.locator("#notice")).to_have_text("Choose where to move.")
    held = hold(page, "**/replay?*")
    page.clock.run_for(3000)  # longer than the table thinks
    wait_for_what_was_asked(page)
    assert held == []
    page.unroute("**/replay?*")
    page.click("#redo")
    expect(page.locator("#player-top.moving")).to_have_count(1)
    page.clock.run_for(3000)
    expect_plies(page, 2)  # at the end again: now it answers


def test_a_lost_server_is_said_and_asked_again_by_itself(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="ERR_FAILED")
    lost: list[Route] = []

    def lose(route: Route) -> None:
        lost.append(route)
        route.abort()

    page.route("**/replay?*", lose)
    page.click('[data-place="b2"]')
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
    expect(page.locator("#notice")).to_contain_text("Retrying")
    page.unroute("**/replay?*")
    expect_plies(page, 1)  # without another click
    expect(page.locator("#notice")).to_have_text("The server answers again. Choose where to move.")
    assert lost


def test_a_server_that_asks_for_a_pause_gets_one(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="429")
    stop_the_clock(page)
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        refused.append(route)
        route.fulfill(status=429, headers={"retry-after": "7"}, json={"error": "too many requests"})

    page.route("**/replay?*", refuse)
    page.click('[data-place="b2"]')
    expect(page.locator("#notice")).to_have_text("Server busy, retrying…")
    page.unroute("**/replay?*")
    page.clock.run_for(6900)
    assert plies(page) == 0
    page.clock.run_for(200)
    expect_plies(page, 1)
    assert len(refused) == 1


def test_auto_play_ends_with_an_error(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="500")
    page.route("**/replay?*", lambda route: route.fulfill(status=500, json={"error": "it fell over"}))
    page.click("#auto")
    expect(page.locator("#notice")).to_have_text("it fell over")
    expect(page.locator("#auto")).to_have_attribute("aria-pressed", "false")


def test_a_damaged_table_is_called_damaged(
    open_page: OpenPage, tmp_path: Path, games: types.SimpleNamespace, serve: Callable[[Library], str]
) -> None:
    solve_game(games.tic_tac_toe(), directory=tmp_path).table.close()
    file = tmp_path / "tictactoe" / "data.mdb"
    file.write_bytes(b"\0" * file.stat().st_size)
    page = open_page(serve(Library(tmp_path, [games.tic_tac_toe()])) + "/tictactoe", expected="409")
    assert verdict(page) == "Unknown: the table is damaged"
    expect(page.locator("#solve-card h2")).to_have_text("The table of Tictactoe is damaged")
    assert page.get_by_role("button", name="Solve it now").count() == 0
    refused = page.request.post(page.url.replace("/tictactoe", "/api/tictactoe/solve"))
    assert (refused.status, "cannot be read" in refused.json()["error"]) == (409, True)


def test_a_link_to_no_id_says_so_and_shows_the_start(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?id=99999999", expected="400")
    expect(page.locator("#notice")).to_contain_text("The link cannot be opened: 99999999 is not a position")
    assert verdict(page) == "Draw in 9 plies"


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("postion=X........", "unknown parameter 'postion': did you mean 'position'?"),
        ("id=0&position=X........", "give either `id` or `position`, not both"),
    ],
)
def test_a_link_with_a_wrong_parameter_says_so(open_page: OpenPage, small_server: str, query: str, fault: str) -> None:
    page = open_page(f"{small_server}/tictactoe?{query}", expected="422")
    expect(page.locator("#notice")).to_contain_text(f"The link cannot be opened: {fault}")
    assert verdict(page) == "Draw in 9 plies"


def test_settings_that_make_no_sense_are_left_alone(open_page: OpenPage, small_server: str) -> None:
    kept = """localStorage.setItem("perfectplay", '{"roles": null, "hints": 7, "flipped": true}');"""
    page = open_page(f"{small_server}/tictactoe", before=kept)
    assert verdict(page) == "Draw in 9 plies"
    assert page.locator("#player-top strong").inner_text() == "First"


def test_a_screen_that_changes_its_height_takes_nothing_away(open_page: OpenPage, gobblet_server: str) -> None:
    """A telephone does that whenever its address bar comes or goes."""
    page = open_page(f"{gobblet_server}/gobblet?position=74242")
    page.click('[data-place="(0,2)"]')
    page.locator("#moves").evaluate("element => { element.scrollTop = 40; }")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.wait_for_timeout(100)
    assert page.locator("#moves").evaluate("element => element.scrollTop") == 40
    expect(page.locator("#notice")).to_contain_text("Lifting it reveals Blue's line")
    before = page.locator("#chart svg").get_attribute("width")
    page.set_viewport_size({"width": 400, "height": 860})
    expect(page.locator("#chart svg")).not_to_have_attribute("width", before or "")


# ---- keyboard and screen readers ----


def test_the_focus_stays_where_one_works(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    focused = "document.activeElement.closest('#board, #moves, #history')?.id"
    page.locator('[data-place="b2"]').focus()
    page.keyboard.press("Enter")
    expect_plies(page, 1)
    assert page.evaluate("document.activeElement.dataset.place") == "b2"
    page.locator('#moves [tabindex="0"]').focus()
    page.keyboard.press("Enter")
    expect_plies(page, 2)
    assert page.evaluate(focused) == "moves"
    page.locator('#history [tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#history .entry").nth(1)).to_have_attribute("aria-current", "step")
    assert page.evaluate(focused) == "history"


def test_the_focus_stays_outside_the_board_too(open_page: OpenPage, gobblet_server: str, small_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.click("#setup summary")
    for name in ("Orange M", "Remove"):
        page.locator(f'#setup-pieces [aria-label="{name}"]').press("Enter")
        expect(page.locator(f'#setup-pieces [aria-label="{name}"]')).to_have_attribute("aria-pressed", "true")
        expect(page.locator(f'#setup-pieces [aria-label="{name}"]')).to_be_focused()
    page.locator('#setup-mover [aria-label="Blue to move"]').press("Enter")
    expect(page.locator('#setup-mover [aria-label="Blue to move"]')).to_be_focused()
    page.click("#tab-learn")
    play_blue = page.get_by_role("button", name="Play Blue")
    play_blue.press("Enter")
    expect(page.locator("#player-bottom strong")).to_have_text("Blue")
    expect(play_blue).to_be_focused()
    page.goto(f"{small_server}/tictactoe")
    page.get_by_role("link", name="Stones").press("Enter")
    expect(page.locator("#title")).to_have_text("Stones")
    expect(page.get_by_role("link", name="Stones")).to_be_focused()


def test_stop_stays_where_it_is_while_a_solve_goes_on(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    reports = (f"tier {number}" for number in range(10**6))
    page.route(
        "**/gobblet/solve",
        lambda route: route.fulfill(json={"state": "solving", "text": next(reports), "fraction": 0.1, "error": None}),
    )
    page.get_by_role("link", name="Gobblet").click()
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    pressed = stop.element_handle()
    before = page.locator(".progress-text").inner_text()
    expect(page.locator(".progress-text")).not_to_have_text(before)
    expect(stop).to_be_focused()
    assert pressed.evaluate("button => button.isConnected")
    page.unroute("**/gobblet/solve")
    expect(page.get_by_role("button", name="Solve it now")).to_be_focused()


def test_a_copied_text_is_said_for_a_moment(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_the_clock(page)
    button = page.locator("#notations button")
    button.click()
    expect(button).not_to_have_text("Copy")
    page.clock.run_for(1000)
    button.click()
    page.clock.run_for(5000)
    expect(button).to_have_text("Copy")


def test_where_a_page_may_not_copy_people_can(open_page: OpenPage, small_server: str) -> None:
    """A browser gives its clipboard to pages of this machine and of https alone."""
    page = open_page(
        f"{small_server}/tictactoe", before="Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    )
    page.locator("#notations button").click()
    expect(page.locator("#notations button")).to_have_text("Press Ctrl+C")
    expect(page.locator("#notations input")).to_be_focused()
    assert page.evaluate("() => document.activeElement.selectionEnd") == 9
    page.click("#copy-link")
    expect(page.locator("#copy-link")).to_have_text("Copy the URL from the address bar")


def test_arrows_walk_over_the_board(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.locator('[data-place="a3"]').focus()
    for key, place in [
        ("ArrowRight", "b3"),
        ("ArrowDown", "b2"),
        ("ArrowDown", "b1"),
        ("ArrowLeft", "a1"),
        ("Home", "a3"),
    ]:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.place") == place


def test_there_are_few_tab_stops_before_the_position(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?moves=S(0,0)+L(1,2)+S(2,0)")
    page.wait_for_selector("#line .step")
    stops = 0
    page.locator("body").press("Tab")
    while not page.evaluate("Boolean(document.activeElement.closest('#position-card'))"):
        stops += 1
        assert stops < 40
        page.keyboard.press("Tab")
    assert stops <= 28


def test_the_opponents_move_is_announced(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.locator("#player-top select").select_option("perfect")
    play(page, "b2")
    expect(page.locator("#announce")).to_have_text(re.compile("^Second plays [abc][123]$"))
    assert page.locator("#announce").get_attribute("aria-live") == "polite"


HEARD = """window.taken = {};
addEventListener("keydown", (event) => { window.taken[event.key] = event.defaultPrevented; });"""


def test_keys_that_scroll_are_left_to_the_browser(open_page: OpenPage, small_server: str) -> None:
    """Whether a key scrolls is the browser's affair, and when; ours is not to take it."""
    page = open_page(f"{small_server}/tictactoe", before=HEARD, viewport={"width": 600, "height": 400})
    keys = [" ", "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"]
    for focus in ("body", "#hints", "#tab-learn", "#chart"):
        if focus != "body":
            page.locator(focus).evaluate("element => { element.tabIndex = 0; element.focus(); }")
        for key in keys:
            page.keyboard.press(key)
        assert page.evaluate("window.taken") == dict.fromkeys(keys, False), focus
    assert plies(page) == 0


def scrolls(page: Page, key: str, happened: str) -> bool:
    """Whether a key scrolls. The browser may take its time, and ignores keys before it has drawn the page."""
    for _ in range(10):
        page.keyboard.press(key)
        with suppress(TimeoutError):
            page.wait_for_function(happened, timeout=1000)
            return True
    return False


@pytest.mark.parametrize("focus", ["body", "#verdict p", "#board .cell"])
def test_keys_scroll_the_page(open_page: OpenPage, small_server: str, focus: str) -> None:
    """From the start, from a text that somebody has clicked, and after a click on the board."""
    page = open_page(f"{small_server}/tictactoe", viewport={"width": 600, "height": 400})
    if focus != "body":
        page.locator(focus).first.click()
    bottom = "() => scrollY > 0 && Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight"
    if focus != "#board .cell":  # there arrows walk, and Space and Enter play
        assert scrolls(page, " ", "() => scrollY > 0")
        assert scrolls(page, "Home", "() => scrollY === 0")
        assert scrolls(page, "ArrowDown", "() => scrollY > 0")
        assert scrolls(page, "ArrowUp", "() => scrollY === 0")
    assert scrolls(page, "PageDown", "() => scrollY > 100")
    assert scrolls(page, "PageUp", "() => scrollY === 0")
    if focus != "#board .cell":
        assert scrolls(page, "End", bottom)


def test_single_keys_can_be_turned_off(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.keyboard.press("b")
    expect_plies(page, 1)
    page.keyboard.press("?")
    page.uncheck("#shortcuts")
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    page.wait_for_timeout(100)
    assert plies(page) == 1
    page.reload()
    page.wait_for_selector("#board .cell")
    assert not page.locator("#shortcuts").is_checked()


# ---- looks ----

CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const style = getComputedStyle(document.documentElement);
  const rgb = (name) => {
    canvas.fillStyle = style.getPropertyValue(name).trim();
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(rgb(a)), light(rgb(b))].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  return [['--frame', '--card'], ['--frame', '--page'], ['--mark', '--cell'], ['--last', '--cell'],
    ['--cell-edge', '--cell'], ['--accent', '--cell'], ['--focus', '--cell'], ['--focus', '--page'],
    ['--wood-line', '--wood'], ['--highlight-edge', '--highlight']].map(([a, b]) => [`${a} on ${b}`, ratio(a, b)]);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_rings_and_borders_can_be_told_apart(open_page: OpenPage, small_server: str, scheme: str) -> None:
    page = open_page(f"{small_server}/tictactoe", color_scheme=scheme)
    assert [pair for pair, ratio in page.evaluate(CONTRAST) if ratio < 3] == []


def test_forced_colours_keep_grid_and_marks(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=74242", forced_colors="active")
    border = """element => {
      const style = getComputedStyle(element, '::before');
      return style.borderTopStyle + parseFloat(style.borderTopWidth);
    }"""
    assert page.locator('[data-place="(1,1)"]').evaluate(border) == "solid1"
    page.click('[data-place="(0,2)"]')
    assert page.locator('[data-place="(0,2)"]').evaluate(border) == "solid4"
    assert page.locator(".cell.target").first.evaluate(border) == "dashed3"


def test_covered_pieces_can_be_read_by_touch(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=Sm,.,./.,.,./.,.,.:orange", has_touch=True)
    page.tap('[data-place="(0,0)"]')
    expect(page.locator("#notice")).to_contain_text("Blue m over Orange S")
