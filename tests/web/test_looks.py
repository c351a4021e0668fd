"""How the page looks, as far as it can be measured: nothing hides what it is about, stands aside or is cut off."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from .pages import OpenPage

MIDDLES = """(elements, axis) => elements.map((element) => {
  const box = element.getBoundingClientRect();
  return axis === "x" ? box.x + box.width / 2 : box.y + box.height / 2;
})"""


@pytest.mark.parametrize("path", ["/gobblet", "/promotion", "/morris-flying=no-men=three"])
def test_labels_stand_in_the_middle_of_their_rows_and_columns(
    open_page: OpenPage, kinds_server: str, path: str
) -> None:
    page = open_page(kinds_server + path)
    for side, axis in (("beside", "y"), ("under", "x")):
        middles = page.locator(f"#board .coordinate.{side}").evaluate_all(MIDDLES, axis)
        cells = sorted({round(at) for at in page.locator("#board .cell").evaluate_all(MIDDLES, axis)})
        assert [round(at) for at in sorted(middles)] == pytest.approx(cells, abs=1)


# ---- values that do not hide what they are of ----

COVERED = """() => {
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const ink = (text) => {  // a line of text is higher than its figures, by a quarter above and below
    const { left, right, top, bottom, height } = text.getBoundingClientRect();
    return { left, right, top: top + height / 4, bottom: bottom - height / 4 };
  };
  return [...document.querySelectorAll("#board .cell:has(.badge):has(.label.bare)")].map((cell) => {
    const worth = cell.querySelector(".badge").getBoundingClientRect();
    return [cell.dataset.place, meet(ink(cell.querySelector(".label")), worth)];
  });
}"""


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_a_number_in_a_pit_is_not_covered_by_its_worth(open_page: OpenPage, kinds_server: str, width: int) -> None:
    path = "/kalah-either-row=no-empty-capture=no-pits=3-seeds=3"
    page = open_page(kinds_server + path, viewport={"width": width, "height": 900})
    assert page.evaluate(COVERED) == [["a", False], ["b", False], ["c", False]]


def test_a_value_stands_on_its_point(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/morris-flying=no-men=three")
    for axis in "xy":
        badges = page.locator("#board .badge").evaluate_all(MIDDLES, axis)
        assert badges == pytest.approx(page.locator("#board .cell").evaluate_all(MIDDLES, axis), abs=1)


def test_cells_are_drawn_as_large_as_they_are(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/dots-columns=2-rows=1?moves=a1-a2")
    sizes = page.locator("#board .cell").evaluate_all(
        "cells => Object.fromEntries(cells.map((cell) => [cell.dataset.place, [cell.offsetWidth, cell.offsetHeight]]))"
    )
    dot, across, down = sizes["a1"], sizes["a1-b1"], sizes["b1-b2"]
    assert across == down[::-1] == pytest.approx([dot[0] * 4, dot[1]], abs=4)
    drawn = page.locator('[data-place="a1-a2"] .body').bounding_box()
    assert drawn
    assert [drawn["width"], drawn["height"]] == pytest.approx(sizes["a1-a2"], abs=1), "a block fills its cell"


# ---- what a cell is, on boards of every kind ----

RING = "element => { const { boxShadow, borderTopStyle } = getComputedStyle(element, '::before'); return RESULT; }"
SHADOW, BORDER = RING.replace("RESULT", "boxShadow"), RING.replace("RESULT", "borderTopStyle")


@pytest.mark.parametrize(("path", "tray"), [("/wide", None), ("/morris-flying=no-men=three", "#player-bottom .tray")])
def test_where_a_piece_may_go_is_ringed(open_page: OpenPage, kinds_server: str, path: str, tray: str | None) -> None:
    for forced in ("none", "active"):
        page = open_page(kinds_server + path, forced_colors=forced)
        if tray:
            page.click(tray)
        target = page.locator("#board .target").first
        assert (
            target.evaluate(BORDER) == "dashed" if forced == "active" else "rgb(63, 99, 196)" in target.evaluate(SHADOW)
        )


def test_forced_colours_show_the_line_that_was_drawn_last(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/dots-columns=2-rows=1?moves=a1-a2+a1-b1", forced_colors="active")
    outline = "element => getComputedStyle(element, '::before').outlineStyle"
    assert [page.locator(f'[data-place="{line}"]').evaluate(outline) for line in ("a1-a2", "a1-b1")] == [
        "none",
        "double",
    ]


def test_forced_colours_reach_what_is_drawn(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/mutorere", forced_colors="active")
    text = page.locator("body").evaluate("element => getComputedStyle(element).color")
    for line in ("#board .edge", "#board .shaft", "#chart .zero", "#chart .grid"):
        assert page.locator(line).first.evaluate("element => getComputedStyle(element).stroke") == text, line
    for path in ("/mutorere", "/promotion"):  # a draw, and a win
        page.goto(kinds_server + path)
        mark = page.locator("#verdict .mark").filter(has_text=re.compile("."))
        assert mark.evaluate("element => getComputedStyle(element).color") == text, path
        assert mark.evaluate("element => getComputedStyle(element).backgroundColor") != text, path


def test_names_of_rows_stand_on_the_board(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/wide")
    board = page.locator("#board").bounding_box()
    name = page.locator("#board .coordinate.beside", has_text="19").bounding_box()
    cell = page.locator('[data-place="a19"]').bounding_box()
    assert board
    assert name
    assert cell
    assert board["x"] + 3 < name["x"] < name["x"] + name["width"] < cell["x"] - 1


# ---- narrow screens ----


@pytest.mark.parametrize("width", [320, 1440])
def test_the_figures_under_the_columns_can_be_read(open_page: OpenPage, gobblet_server: str, width: int) -> None:
    page = open_page(f"{gobblet_server}/gobblet", viewport={"width": width, "height": 900})
    page.click("#tab-explore")
    page.wait_for_selector(".longest a")
    boxes = page.locator(".histogram .tick").evaluate_all(
        "ticks => ticks.map((tick) => tick.getBoundingClientRect()).map((box) => [box.left, box.right, box.height])"
    )
    assert len(boxes) > 5
    assert min(height for _, _, height in boxes) >= 11
    assert all(right + 2 < left for (_, right, _), (left, _, _) in pairwise(boxes))


@pytest.mark.parametrize("path", ["/connect4-connect=3-height=4-mirror=no-width=5", "/morris-flying=no-men=three"])
def test_a_long_name_is_not_cut_off(open_page: OpenPage, kinds_server: str, path: str) -> None:
    page = open_page(kinds_server + path, viewport={"width": 320, "height": 900})
    name = page.locator("#games [aria-current]")
    expect(name).to_be_visible()
    shown = page.evaluate(
        "() => { const nav = document.querySelector('#games'); return nav.scrollWidth - nav.clientWidth; }"
    )
    assert shown <= 0, "all of the name can be seen without moving it along"


def test_a_variant_is_not_named_twice(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/morris-flying=no-men=three")
    expect(page.locator("#games [aria-current]")).to_have_text("Three men's morris")
    page.goto(f"{kinds_server}/kalah-either-row=yes-empty-capture=no-pits=2-seeds=1")
    expect(page.locator("#games [aria-current]")).to_have_text("Kalah(2, 1): either-row")


def test_on_a_narrow_screen_the_reserve_stands_under_its_player(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/gobblet", viewport={"width": 320, "height": 900})
    name = page.locator("#player-bottom strong").bounding_box()
    trays = page.locator("#player-bottom .trays").bounding_box()
    chosen = page.locator("#player-bottom select").bounding_box()
    assert name
    assert trays
    assert chosen
    assert trays["y"] > name["y"] + name["height"]
    assert chosen["x"] + chosen["width"] == pytest.approx(trays["x"] + trays["width"], abs=8)
