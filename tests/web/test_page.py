"""The page in a real Chromium: its content, playing with mouse, touch and keyboard, history, links and positions."""

from __future__ import annotations

import re
import runpy
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest
from playwright.sync_api import Page, expect

from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.web.library import Library

from .pages import (
    FRAMES,
    OpenPage,
    cell,
    expect_left,
    expect_no_request,
    expect_plies,
    expect_verdict,
    hold,
    notice,
    play,
    play_to_the_end,
    plies,
    set_computer,
    texts,
    verdict,
    wait_for_request,
)

# ---- what is shown ----


def test_the_start_shows_verdict_values_and_groups(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    assert verdict(page) == "Draw with best play"
    expect_left(page, 9)
    assert page.title() == "Tictactoe: Draw with best play"
    assert texts(page, ".group h3 b") == ["="]
    assert page.locator(".cell .badge.draw").count() == 9
    page.click("#hints")
    assert page.locator(".badge, .group, .tag:visible").count() == 0
    assert page.locator("#moves .chip").count() == 9
    page.keyboard.press("h")
    assert page.locator(".cell .badge").count() == 9


def test_moves_are_grouped_best_first(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    assert verdict(page) == "Orange wins in 7 moves"
    expect_left(page, 13)
    assert texts(page, ".group h3 b") == ["✓", "✗"]
    wins, losses = ([int(text.split()[1]) for text in texts(page, f".group.{each} .in")] for each in ("win", "loss"))
    assert wins == sorted(wins)
    assert losses == sorted(losses, reverse=True)


def test_a_position_outside_the_table_is_not_called_a_draw(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/stones?position=8")
    assert verdict(page) == "Not in the table: it cannot be reached from the start"
    assert "draw" not in (page.locator("#verdict").get_attribute("class") or "")


def test_a_preview_shows_the_position_after_a_move(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.hover('[data-move="L(1,1)"]')
    expect(page.locator('.changed[data-place="(1,1)"]')).to_have_accessible_name("(1,1), Orange large")
    expect(cell(page, "orange-L")).to_have_accessible_name(re.compile("1 left"))
    page.hover("header")
    expect(page.locator(".changed")).to_have_count(0)
    # A piece that moves is shown only at its target, and the piece it covered is visible.
    page.goto(f"{gobblet_server}/gobblet?position=L,.,./.,s,./.,.,.:orange&moves=(0,0)->(1,1)+S(2,2)")
    page.hover('[data-move="(1,1)→(0,1)"]')
    expect(cell(page, "(0,1)")).to_have_accessible_name("(0,1), Orange large")
    expect(cell(page, "(1,1)")).to_have_accessible_name("(1,1), Blue small")


def test_a_list_that_moves_under_the_pointer_previews_nothing(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.hover('[data-move="L(1,1)"]')
    expect(page.locator(".changed")).to_have_count(1)
    with expect_no_request(page, "**/position?*"):
        page.locator('[data-move="L(1,1)"]').click()  # now another move is under the pointer
        expect_plies(page, 1)
    assert page.locator(".changed, .previewed").count() == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_the_layout_does_not_move(open_page: OpenPage, gobblet_server: str, width: int) -> None:
    """Neither while the page loads, nor when a verdict arrives, nor in a long game.

    Requests wait for two frames, so that the page is drawn without data first, as on a busy machine.
    """
    watch = """window.shift = 0;
    const send = window.fetch;
    const frame = () => new Promise(requestAnimationFrame);
    window.fetch = async (...request) => { await frame(); await frame(); return send(...request); };
    new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shift += e.value; })
      .observe({ type: 'layout-shift', buffered: true });"""
    page = open_page(f"{gobblet_server}/gobblet", before=watch, viewport={"width": width, "height": 900})
    page.wait_for_selector("#line .step")
    page.evaluate(FRAMES)
    assert page.evaluate("window.shift") < 0.1  # "good" in browsers' terms
    places = """() => ['#board', '#moves', '.toolbar', '#player-top', '#chart', '#line', '#position-card']
      .map((each) => document.querySelector(each).getBoundingClientRect().y + scrollY)"""
    before = page.evaluate(places)
    for ply in range(1, 11):
        page.keyboard.press("b")
        expect_plies(page, ply)
        assert page.evaluate(places) == before
    page.locator("#player-bottom .tray:enabled, #board .source").first.click()
    assert page.evaluate(places) == before


def test_flip_turns_the_board(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    before = cell(page, "a3").bounding_box()
    page.keyboard.press("f")
    after = cell(page, "a3").bounding_box()
    assert before
    assert after
    assert after["x"] > before["x"]
    assert after["y"] > before["y"]
    assert page.locator("#player-top strong").inner_text() == "First"


# ---- whole games ----


def test_the_perfect_computer_never_loses(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    set_computer(page, "top")
    play_to_the_end(page, "bottom", lambda page: page.locator("#board .target").first.click())
    assert verdict(page) in ("Game over: Second player has won", "Game over: a draw")


def test_the_computer_wins_gobblet_as_the_first_player(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    set_computer(page, "bottom")
    play_to_the_end(page, "top", lambda page: page.locator("#moves .chip").last.click())  # the worst move
    assert verdict(page) == "Game over: Orange has won"


def test_the_computer_wins_quantik_as_the_second_player(open_page: OpenPage, kinds_server: str) -> None:
    def click_move(page: Page) -> None:
        for tray in page.locator("#player-bottom .tray:enabled").all():
            tray.click()
            barred = page.locator(".cell.barred")
            assert all(barred.nth(index).get_attribute("title") for index in range(barred.count()))
            if page.locator("#board .target").count():  # some shapes may have no legal cell
                page.locator("#board .target").first.click()
                return
        pytest.fail("no piece has a target")

    page = open_page(f"{kinds_server}/quantik")
    set_computer(page, "top")
    play_to_the_end(page, "bottom", click_move)
    assert verdict(page) == "Game over: Second player has won"


def test_the_tutorials_plugin_is_playable(open_page: OpenPage, tmp_path: Path, serve: Callable[[Library], str]) -> None:
    """A third party's game without a board hook: its text is drawn as a grid. The match determines the mover."""
    plugin = Path(__file__).parents[2] / "docs/examples/tictactoe/perfectplay_tictactoe/plugin.py"
    game = make_game(types.SimpleNamespace(**runpy.run_path(str(plugin))), name="tictactoe")
    solve_game(game, directory=tmp_path).table.close()
    page = open_page(serve(Library(tmp_path, [game])) + "/tictactoe")
    expect_left(page, 9)
    assert page.locator("#board .cell").count() == 9
    play(page, "4", "1", "8", "0")  # X has the centre and a corner, O the upper left
    assert page.locator("#board .piece").count() == 4
    assert page.locator("#board .coordinate").count() == 0, "moves are called 0 to 8"
    assert cell(page, "2").locator(".cell-label").inner_text() == "2"
    cell(page, "2").click()
    expect_verdict(page, re.compile("First player wins"))
    page.click("#new")
    set_computer(page, "top")
    page.click("#hints")
    play_to_the_end(page, "bottom", lambda page: page.locator("#moves .chip").last.click())
    expect_verdict(page, "Game over: Second player has won")
    expect(page.locator("#board .highlight")).to_have_count(3)


def test_the_server_chooses_the_computers_move_at_its_strength(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.route("**/choose?strength=casual", lambda route: route.fulfill(json={"move": "M(1,1)"}))
    set_computer(page, "bottom", "casual")
    page.wait_for_selector("#player-top.moving")
    assert "moves=M(1,1)" in unquote(page.url)


Press = Callable[[Page, str], None]
"""Activates the element that a selector finds."""

ENDS = {
    "gobblet": "Game over: Orange has won",
    "quantik": "Game over: First player has won",
    "mutorere": "Game over: First player has won",  # a star
    "promotion": "Game over: Red has won",  # a choice of moves, and a pass
    "stones": "Game over: First player has won",  # only text
    "peg": "Game over: solved",  # a puzzle
    "twelve": "Game over: First player has won by 13",  # scores
}

MOVES = "async () => (await (await fetch(`/api${location.pathname}/replay${location.search}`)).json()).position.moves"

NEAREST_KEY = """element => {
  const [to, from] = [element, document.activeElement].map((each) => each.getBoundingClientRect());
  const [dx, dy] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
  if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? 'ArrowRight' : 'ArrowLeft';
  return dy > 0 ? 'ArrowDown' : 'ArrowUp';
}"""


def touch(page: Page, selector: str) -> None:
    page.tap(selector)


def keyboard(page: Page, selector: str) -> None:
    """Tab to the group, arrow keys inside it, Enter."""
    target = page.locator(selector)
    group = selector.rpartition(" ")[0]
    for _ in range(60):
        if page.evaluate(f"() => document.activeElement.closest({group!r}) !== null"):
            break
        page.keyboard.press("Tab")
    for _ in range(20):
        if target.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press(target.evaluate(NEAREST_KEY))
    expect(target).to_be_focused()
    page.keyboard.press("Enter")


def press_move(page: Page, press: Press, move: dict[str, Any], moves: list[dict[str, Any]]) -> None:
    """Make one of the moves on the board where possible, otherwise by a button or from the list."""
    if page.locator("#board pre").count():
        return press(page, f'#moves [data-move="{move["move"]}"]')
    if move["target"] is None:
        return press(page, f'#actions [data-move="{move["move"]}"]')
    for place in filter(None, (move["source"], move["target"])):
        groups = (f'{group} [data-place="{place}"]' for group in ("#board", "#player-bottom", "#player-top"))
        press(page, next(selector for selector in groups if page.locator(selector).count()))
    if sum((each["source"], each["target"]) == (move["source"], move["target"]) for each in moves) > 1:
        expect(page.locator("#chooser")).to_be_visible()
        press(page, f'#choices [data-move="{move["move"]}"]')
    return None


@pytest.mark.parametrize("press", [touch, keyboard])
@pytest.mark.parametrize("game", ENDS)
def test_a_whole_game_by_touch_or_keyboard(open_page: OpenPage, kinds_server: str, game: str, press: Press) -> None:
    """The first player makes the best moves, the second the worst."""
    screen = {"width": 360, "height": 740} if press is touch else {"width": 1280, "height": 900}
    page = open_page(f"{kinds_server}/{game}", viewport=screen, has_touch=press is touch)
    while not verdict(page).startswith("Game over"):
        before, moves = plies(page), page.evaluate(MOVES)
        press_move(page, press, moves[-1 if before % 2 and game != "peg" else 0], moves)
        expect_plies(page, before + 1)
    assert verdict(page) == ENDS[game]
    expect(notice(page)).to_have_text("Undo to try something else, or start a new game.")


def test_keyboard_shortcuts_play_a_whole_game(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    for ply in range(1, 14):
        page.keyboard.press("b")
        expect_plies(page, ply)
    for key, text in [
        ("Shift+ArrowLeft", "Orange wins in 7 moves"),
        ("Shift+ArrowRight", "Game over: Orange has won"),
        ("ArrowLeft", "Orange wins in 1 move"),
        ("ArrowRight", "Game over: Orange has won"),
    ]:
        page.keyboard.press(key)
        expect_verdict(page, text)
    page.keyboard.press("n")
    expect_plies(page, 0)
    page.locator('#moves [tabindex="0"]').focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect_plies(page, 1)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("?")
    assert not page.locator("#help").is_visible()


def test_the_best_line_is_played_in_part_or_to_its_end(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position={quote('XO.......')}")
    assert verdict(page) == "First player wins in 3 moves"
    page.locator("#line .step").nth(2).click()
    expect_plies(page, 3)
    page.click("#first")
    expect_left(page, 5)
    page.click("#auto")
    expect_verdict(page, "Game over: First player has won")
    assert plies(page) == 5


# ---- history and links ----


def test_history_marks_mistakes_and_can_be_clicked(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "b3")
    expect(notice(page)).to_have_text("b3 throws the draw away: now a loss.")
    play(page, "a3")
    assert texts(page, "#history .mark") == ["?"]
    assert page.locator("#history .slip").get_attribute("title") == "throws the draw away: now a loss"
    page.locator("#history .entry").nth(1).click()
    expect_left(page, 8)
    assert plies(page) == 3  # later moves are kept
    page.locator("#chart .bar").nth(3).locator(".value").click()
    expect_verdict(page, re.compile("First player wins"))
    page.click("#undo")
    expect(page.locator("#redo")).to_be_enabled()
    other = open_page(page.url)  # a link carries the whole game
    expect_plies(other, 3)
    assert other.locator("#history [aria-current]").text_content() == "2 b3?: throws the draw away: now a loss"
    page.goto(f"{small_server}/tictactoe?position=..OXO.X..&moves=c1")
    expect(page.locator("#history .slip.slight .mark")).to_have_text("?!")
    assert page.locator("#history .slip").get_attribute("title") == "wins 2 plies later than necessary"


def test_undo_and_redo_against_the_computer_take_both_moves(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    set_computer(page, "top")
    page.click("#hints")
    play(page, "b2")
    expect_plies(page, 2)
    page.click("#undo")
    expect_left(page, 9)
    page.click("#redo")
    expect_left(page, 7)


def test_back_forward_and_reload_keep_the_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "a1")
    assert page.url.endswith("/tictactoe?moves=b2+a1")
    page.go_back()
    expect_left(page, 8)
    page.go_forward()
    expect_left(page, 7)
    page.reload()
    expect_plies(page, 2)


# ---- positions ----


def test_the_editor_explains_why_a_position_is_impossible(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    reason = page.locator("#editor-reason")
    page.fill("#editor-text", "S,S,S/.,.,./.,.,.:orange")
    expect(reason).to_contain_text("Orange has 3 small pieces")
    assert page.locator("#editor-go").is_disabled()
    for text in ("74242", "AAAAAAABIgI", "s,m,sL/.,.,./.,.,.:orange"):  # every notation
        page.fill("#editor-text", text)
        expect(reason).to_have_text("Valid position: Orange wins in 5 moves")
    page.keyboard.press("Enter")
    expect_verdict(page, "Orange wins in 5 moves")
    assert page.locator("#editor-text").input_value() == "s,m,sL/.,.,./.,.,.:orange"  # for further editing
    assert page.url.endswith("?position=s,m,sL/.,.,./.,.,.:orange")
    page.goto(page.url)
    expect(page.locator('[aria-label="decimal notation"]')).to_have_value("74242")


def test_a_position_is_set_up_by_clicking(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    text, reason = page.locator("#editor-text"), page.locator("#editor-reason")
    page.click("#setup summary")
    page.click('#setup-pieces [aria-label="Orange small"]')
    for name in ("(0,0)", "(1,1)", "(2,1)"):
        page.click(f'#setup-board [data-key="{name}"]')
    expect(text).to_have_value("S,.,./.,S,./.,S,.:orange")
    expect(reason).to_contain_text("Orange has 3 small pieces")
    page.click('#setup-pieces [aria-label="Remove"]')
    page.click('#setup-board [data-key="(2,1)"]')
    page.click('#setup-pieces [aria-label="Blue large"]')
    page.click('#setup-board [data-key="(0,0)"]')
    page.click('#setup-mover [aria-label="Blue to move"]')
    expect(text).to_have_value("Sl,.,./.,S,./.,.,.:blue")
    expect(reason).to_contain_text("Valid position: ")
    page.click("#editor-go")
    expect(page).to_have_url(re.compile(r"\?position=Sl,\.,\./\.,S,\./\.,\.,\.:blue$"))


# ---- Gobblet ----


def test_threefold_repetition_is_announced_and_does_not_stop_exploring(
    open_page: OpenPage, gobblet_server: str
) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    round_trip = ["(0,0)→(0,1)", "(2,2)→(2,1)", "(0,1)→(0,0)", "(2,1)→(2,2)"]
    play(page, "S(0,0)", "S(2,2)", *round_trip)
    expect(notice(page)).to_contain_text("occurred twice")
    play(page, *round_trip)
    expect_verdict(page, "Game over: draw by threefold repetition")
    play(page, "L(1,1)")


def test_lifting_a_piece_that_hides_a_line_warns(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=74242")
    covered = page.locator('[data-place="(0,2)"] .covered')
    small = covered.bounding_box()
    page.hover('[data-place="(0,2)"]')
    large = covered.bounding_box()
    assert small
    assert large
    assert large["width"] > 1.5 * small["width"], "covered pieces are enlarged under the pointer"
    expect(cell(page, "(0,2)")).to_have_accessible_name(re.compile("Orange large over Blue small"))
    cell(page, "(0,2)").click()
    expect(notice(page)).to_contain_text("Lifting it reveals Blue's line (0,0) (0,1) (0,2)")
    barred = cell(page, "(2,2)")
    assert "barred" in (barred.get_attribute("class") or "")
    barred.click()
    expect(notice(page)).to_contain_text("(2,2) is not on it")
    page.keyboard.press("Escape")
    expect(page.locator(".selected")).to_have_count(0)


# ---- solving ----


def test_a_game_is_solved_from_the_page(
    open_page: OpenPage, tmp_path: Path, games: types.SimpleNamespace, serve: Callable[[Library], str]
) -> None:
    page = open_page(serve(Library(tmp_path, [games.tic_tac_toe()])) + "/tictactoe")
    held = hold(page, "**/solve")
    page.reload()
    request = wait_for_request(page, held)
    expect(page.locator("#solve-card")).to_contain_text("Estimating the cost")  # this may take seconds
    request.continue_()
    page.unroute("**/solve")
    page.wait_for_selector("#solve-card pre")
    assert verdict(page) == "Not solved yet: this game has no table"
    assert page.locator("#solve-card pre").inner_text() == "solve tictactoe"
    play(page, "b2")  # it can be played without a table
    page.get_by_role("button", name="Solve it now").click()
    expect(page.locator("#verdict p")).to_have_text("Draw with best play", timeout=30_000)
    expect(page.locator("#solve-card")).to_be_hidden()
    assert page.locator("#chart .bar.draw").count() == 2
