"""The page for everyone: focus, arrow keys, scrolling, screen readers, contrast, forced colours and touch."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from .pages import OpenPage, cell, expect_plies, notice, play, plies, set_computer

FOCUSED = "() => document.activeElement.id || document.activeElement.dataset.place"

# ---- focus ----


def test_the_focus_stays_in_board_moves_and_history(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    group = "document.activeElement.closest('#board, #moves, #history')?.id"
    cell(page, "b2").focus()
    page.keyboard.press("Enter")
    expect_plies(page, 1)
    assert page.evaluate(FOCUSED) == "b2"
    page.locator('#moves [tabindex="0"]').focus()
    page.keyboard.press("Enter")
    expect_plies(page, 2)
    assert page.evaluate(group) == "moves"
    page.locator('#history [tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.locator("#history .entry").nth(1)).to_have_attribute("aria-current", "step")
    assert page.evaluate(group) == "history"
    page.locator("#undo").press("Enter")
    expect(page.locator("#undo")).to_be_disabled()
    assert page.evaluate(FOCUSED) == "board", "a disabled button passes the focus to the board"


def test_the_focus_stays_in_editor_rules_and_links(open_page: OpenPage, gobblet_server: str, small_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.click("#setup summary")
    for name in ("Orange medium", "Remove"):
        piece = page.locator(f'#setup-pieces [aria-label="{name}"]')
        piece.press("Enter")
        expect(piece).to_have_attribute("aria-pressed", "true")
        expect(piece).to_be_focused()
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


def test_the_stop_button_keeps_the_focus_during_a_solve(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    reports = (f"tier {number}" for number in range(10**6))
    page.route(
        "**/gobblet/solve",
        lambda route: route.fulfill(json={"state": "solving", "text": next(reports), "fraction": 0.1, "error": None}),
    )
    page.get_by_role("link", name="Gobblet").click()
    stop = page.get_by_role("button", name="Stop")
    stop.focus()
    element = stop.element_handle()
    before = page.locator(".progress-text").inner_text()
    expect(page.locator(".progress-text")).not_to_have_text(before)
    expect(stop).to_be_focused()
    assert element.evaluate("button => button.isConnected")
    page.unroute("**/gobblet/solve")
    expect(page.get_by_role("button", name="Solve it now")).to_be_focused()


def test_an_emptied_reserve_does_not_lose_the_focus(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=S,.,./.,s,./.,.,.:orange")
    cell(page, "orange-S").press("Enter")
    cell(page, "(2,2)").dispatch_event("click")  # the focus stays in the reserve
    expect(cell(page, "orange-S")).to_be_disabled()
    assert page.evaluate(FOCUSED) == "orange-M"


# ---- keys ----


def test_cells_are_reached_and_pressed_by_keyboard(open_page: OpenPage, gobblet_server: str, small_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    cell(page, "orange-L").press("Enter")
    assert cell(page, "orange-L").get_attribute("aria-pressed") == "true"
    expect(cell(page, "(1,1)")).to_have_accessible_name("(1,1), empty. L(1,1): Win in 7 moves")
    cell(page, "(1,1)").press("Enter")
    expect_plies(page, 1)
    page.goto(f"{small_server}/tictactoe")
    cell(page, "a3").focus()
    steps = {"ArrowRight": "b3", "ArrowDown": "b2", "ArrowLeft": "a2", "ArrowUp": "a3", "End": "c1", "Home": "a3"}
    for key, place in steps.items():
        page.keyboard.press(key)
        assert page.evaluate(FOCUSED) == place


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


RECORD_KEYS = """window.taken = {};
addEventListener("keydown", (event) => { window.taken[event.key] = event.defaultPrevented; });"""


def test_scrolling_keys_are_left_to_the_browser(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", before=RECORD_KEYS, viewport={"width": 600, "height": 400})
    keys = [" ", "ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"]
    for focus in ("body", "#hints", "#tab-learn", "#chart"):
        if focus != "body":
            page.locator(focus).evaluate("element => { element.tabIndex = 0; element.focus(); }")
        for key in keys:
            page.keyboard.press(key)
        assert page.evaluate("window.taken") == dict.fromkeys(keys, False), focus
    assert plies(page) == 0


def scrolls(page: Page, key: str, happened: str) -> bool:
    """Whether a key scrolls. The browser may be slow, and ignores keys before it has drawn the page."""
    for _ in range(10):
        page.keyboard.press(key)
        with suppress(TimeoutError):
            page.wait_for_function(happened, timeout=1000)
            return True
    return False


@pytest.mark.parametrize("focus", ["body", "#verdict p", "#board .cell"])
def test_keys_scroll_the_page(open_page: OpenPage, small_server: str, focus: str) -> None:
    """From the start, after a click on a text, and after a click on the board."""
    page = open_page(f"{small_server}/tictactoe", viewport={"width": 600, "height": 400})
    if focus != "body":
        page.locator(focus).first.click()
    bottom = "() => scrollY > 0 && Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight"
    if focus != "#board .cell":  # there arrow keys move the focus, and Space and Enter play
        assert scrolls(page, " ", "() => scrollY > 0")
        assert scrolls(page, "Home", "() => scrollY === 0")
        assert scrolls(page, "ArrowDown", "() => scrollY > 0")
        assert scrolls(page, "ArrowUp", "() => scrollY === 0")
    assert scrolls(page, "PageDown", "() => scrollY > 100")
    assert scrolls(page, "PageUp", "() => scrollY === 0")
    if focus != "#board .cell":
        assert scrolls(page, "End", bottom)


# ---- screen readers, touch, colours ----


def test_the_computers_move_is_announced(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    set_computer(page, "top")
    play(page, "b2")
    expect(page.locator("#announce")).to_have_text(re.compile("^Second plays [abc][123]$"))
    assert page.locator("#announce").get_attribute("aria-live") == "polite"


def test_covered_pieces_can_be_read_by_touch(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=Sm,.,./.,.,./.,.,.:orange", has_touch=True)
    page.tap('[data-place="(0,0)"]')
    expect(notice(page)).to_contain_text("Blue medium over Orange small")


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
def test_rings_and_borders_have_enough_contrast(open_page: OpenPage, small_server: str, scheme: str) -> None:
    page = open_page(f"{small_server}/tictactoe", color_scheme=scheme)
    assert [pair for pair, ratio in page.evaluate(CONTRAST) if ratio < 3] == []


def test_forced_colours_keep_grid_and_marks(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=74242", forced_colors="active")
    border = """element => {
      const style = getComputedStyle(element, '::before');
      return style.borderTopStyle + parseFloat(style.borderTopWidth);
    }"""
    assert cell(page, "(1,1)").evaluate(border) == "solid1"
    cell(page, "(0,2)").click()
    assert cell(page, "(0,2)").evaluate(border) == "solid4"
    assert page.locator(".cell.target").first.evaluate(border) == "dashed3"


def test_forced_colours_apply_to_lines_and_marks(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/dots-columns=2-rows=1?moves=a1-a2+a1-b1", forced_colors="active")
    outline = "element => getComputedStyle(element, '::before').outlineStyle"
    assert [cell(page, line).evaluate(outline) for line in ("a1-a2", "a1-b1")] == ["none", "double"]
    page.goto(f"{kinds_server}/mutorere")
    text = page.locator("body").evaluate("element => getComputedStyle(element).color")
    for line in ("#board .edge", "#board .shaft", "#chart .zero", "#chart .grid"):
        assert page.locator(line).first.evaluate("element => getComputedStyle(element).stroke") == text, line
    for path in ("/mutorere", "/promotion"):  # a draw, and a win
        page.goto(kinds_server + path)
        mark = page.locator("#verdict .mark").filter(has_text=re.compile("."))
        assert mark.evaluate("element => getComputedStyle(element).color") == text, path
        assert mark.evaluate("element => getComputedStyle(element).backgroundColor") != text, path


RING = "element => { const { boxShadow, borderTopStyle } = getComputedStyle(element, '::before'); return RESULT; }"
SHADOW, BORDER = RING.replace("RESULT", "boxShadow"), RING.replace("RESULT", "borderTopStyle")


@pytest.mark.parametrize(("path", "tray"), [("/wide", None), ("/morris-flying=no-men=three", "#player-bottom .tray")])
def test_targets_have_a_ring(open_page: OpenPage, kinds_server: str, path: str, tray: str | None) -> None:
    for forced in ("none", "active"):
        page = open_page(kinds_server + path, forced_colors=forced)
        if tray:
            page.click(tray)
        target = page.locator("#board .target").first
        if forced == "active":
            assert target.evaluate(BORDER) == "dashed"
        else:
            assert "rgb(63, 99, 196)" in target.evaluate(SHADOW)
