"""The page when something goes wrong: errors, wrong links, and answers that arrive late."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from perfectplay.solve.solve import solve_game
from perfectplay.web.library import Library

from .pages import (
    FRAMES,
    OpenPage,
    cell,
    expect_no_request,
    expect_plies,
    expect_verdict,
    hold,
    notice,
    play,
    plies,
    set_computer,
    stop_clock,
    verdict,
    wait_for_request,
    wait_for_sent_requests,
)

# ---- errors ----


def test_a_lost_server_is_reported_and_asked_again(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="ERR_FAILED")
    lost: list[Route] = []
    page.route("**/replay?*", lambda route: (lost.append(route), route.abort()))
    cell(page, "b2").click()
    expect(notice(page)).to_contain_text(re.compile("The server does not answer.*Retrying"))
    page.unroute("**/replay?*")
    expect_plies(page, 1)  # without another click
    expect(notice(page)).to_have_text("The server answers again. Choose where to move.")
    assert lost


def test_a_busy_server_is_asked_again_after_the_requested_pause(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="429")
    stop_clock(page)
    refused: list[Route] = []

    def refuse(route: Route) -> None:
        refused.append(route)
        route.fulfill(status=429, headers={"retry-after": "7"}, json={"error": "too many requests"})

    page.route("**/replay?*", refuse)
    cell(page, "b2").click()
    expect(notice(page)).to_have_text("Server busy, retrying…")
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
    expect(notice(page)).to_have_text("it fell over")
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


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ("position=XXX", "400", "nine of . X O were expected"),
        ("id=99999999", "400", "99999999 is not a position"),
        ("id=0&position=X........", "422", "either `id` or `position`"),
    ],
)
def test_a_wrong_link_is_explained_and_shows_the_start(
    open_page: OpenPage, small_server: str, query: str, status: str, reason: str
) -> None:
    page = open_page(f"{small_server}/tictactoe?{query}", expected=status)
    expect(notice(page)).to_contain_text("The link cannot be opened: ")
    expect(notice(page)).to_contain_text(reason)
    assert verdict(page) == "Draw with best play"


def test_invalid_settings_are_ignored(open_page: OpenPage, small_server: str) -> None:
    stored = """localStorage.setItem("perfectplay", '{"streaks": null, "hints": 7, "strength": "casual"}');"""
    page = open_page(f"{small_server}/tictactoe", before=stored)
    assert verdict(page) == "Draw with best play"
    page.click("#tab-learn")
    expect(page.locator("#strength")).to_have_value("casual")


def test_a_new_screen_height_changes_nothing(open_page: OpenPage, gobblet_server: str) -> None:
    """A phone changes it whenever its address bar appears or disappears."""
    page = open_page(f"{gobblet_server}/gobblet?position=74242")
    cell(page, "(0,2)").click()
    page.locator("#moves").evaluate("element => { element.scrollTop = 40; }")
    page.set_viewport_size({"width": 1280, "height": 860})
    page.evaluate(FRAMES)
    assert page.locator("#moves").evaluate("element => element.scrollTop") == 40
    expect(notice(page)).to_contain_text("Lifting it reveals Blue's line")
    before = page.locator("#chart svg").get_attribute("width")
    page.set_viewport_size({"width": 400, "height": 860})
    expect(page.locator("#chart svg")).not_to_have_attribute("width", before or "")


def test_copying_is_confirmed_briefly(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_clock(page)
    button = page.locator("#notations button")
    button.click()
    expect(button).not_to_have_text("Copy")
    page.clock.run_for(1000)
    button.click()
    page.clock.run_for(5000)
    expect(button).to_have_text("Copy")


def test_without_a_clipboard_the_text_is_selected(open_page: OpenPage, small_server: str) -> None:
    """Browsers give the clipboard only to pages of this machine and of https."""
    no_clipboard = "Object.defineProperty(navigator, 'clipboard', { value: undefined });"
    page = open_page(f"{small_server}/tictactoe", before=no_clipboard)
    page.locator("#notations button").click()
    expect(page.locator("#notations button")).to_have_text("Press Ctrl+C")
    expect(page.locator("#notations input")).to_be_focused()
    assert page.evaluate("() => document.activeElement.selectionEnd") == 9
    page.click("#copy-link")
    expect(page.locator("#copy-link")).to_have_text("Copy the URL from the address bar")


# ---- changes while something is under way ----


def test_the_editor_drops_the_text_of_another_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.fill("#editor-text", "XO.......")
    expect(page.locator("#editor-reason")).to_contain_text("Valid position: ")
    page.get_by_role("link", name="Stones").click()
    expect(page.locator("#board pre")).to_have_text("7")
    assert page.locator("#editor-text").input_value() == "7"
    expect(page.locator("#editor-reason")).to_have_text("")
    assert page.locator("#editor-go").is_disabled()


def test_undo_before_the_computer_moves_gives_the_turn_back(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_clock(page)
    set_computer(page, "top")
    page.locator('#moves [data-move="b2"]').click()
    expect_plies(page, 1)
    page.click("#undo")
    expect(page.locator("#player-bottom.moving")).to_have_count(1)
    expect(notice(page)).to_have_text("Choose where to move.")
    held = hold(page, "**/replay?*")
    page.clock.run_for(3000)  # longer than the computer's pause
    wait_for_sent_requests(page)
    assert held == []
    page.unroute("**/replay?*")
    page.click("#redo")
    expect(page.locator("#player-top.moving")).to_have_count(1)
    page.clock.run_for(3000)
    assert plies(page) == 1, "stepping forward makes no move"
    page.click("#resume")
    page.clock.run_for(3000)
    expect_plies(page, 2)


def test_a_position_found_late_is_not_set_up_in_another_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    held = hold(page, "**/find*")
    page.click("#tab-explore")
    page.click("#find-any")
    late = wait_for_request(page, held)
    page.get_by_role("link", name="Stones").click()
    expect(page.locator("#title")).to_have_text("Stones")
    late.continue_()
    expect(page.locator("#find-reason")).to_have_text("")
    expect(page).to_have_url(f"{small_server}/stones")
    expect(notice(page)).to_have_text("Choose a move from the list.")


def test_a_late_list_of_games_keeps_the_notice(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="400")
    held = hold(page, "**/api/games")
    page.goto(f"{small_server}/tictactoe?position=nonsense")
    expect(notice(page)).to_contain_text("The link cannot be opened")
    for route in [wait_for_request(page, held), *held[1:]]:
        route.continue_()
    page.unroute("**/api/games")
    expect(page.locator("#games a")).to_have_count(3)
    expect(notice(page)).to_contain_text("The link cannot be opened")


def test_feedback_on_a_move_stays_while_the_computer_answers(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#hints")
    set_computer(page, "top")
    page.locator("#moves .chip").first.click()
    expect_plies(page, 2)
    expect(notice(page)).to_have_text(re.compile(r"^\S+ was a best move\.$"))
    page.click("#undo")
    expect(notice(page)).not_to_contain_text("best move")


def test_an_impossible_saved_view_falls_back_to_the_address(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="400")
    play(page, "b2")
    page.evaluate("() => history.replaceState({ ...history.state, moves: ['nonsense'] }, '')")
    page.reload()
    expect(page.locator("#history .entry").nth(1)).to_contain_text("b2")


def test_a_role_changed_during_a_move_does_not_move_twice(open_page: OpenPage, small_server: str) -> None:
    """The computer was to move for the first player; after the move under way it is the second player's turn."""
    page = open_page(f"{small_server}/tictactoe")
    stop_clock(page)
    held = hold(page, "**/replay?*")
    cell(page, "b2").click()
    late = wait_for_request(page, held)
    set_computer(page, "bottom")
    late.continue_()
    expect_plies(page, 1)
    page.clock.run_for(3000)
    wait_for_sent_requests(page)
    assert held == [late]


def test_a_wrong_answer_does_not_reveal_a_puzzle(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=XX.OO....&puzzle=1")
    puzzle = re.compile("^Puzzle: First player to move")
    expect_verdict(page, puzzle)
    page.locator(".skip").press("Enter")
    expect(page).to_have_url(re.compile("#board$"))  # nothing else has changed
    play(page, "a1")
    expect(notice(page)).to_contain_text("a1 does not win")
    expect_verdict(page, "Second player to move")
    page.click("#undo")
    expect_verdict(page, puzzle)
    assert page.locator(".badge, .group, #chart svg").count() == 0


def test_the_choice_of_a_move_closes_with_its_position(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion?moves=step+step+step")
    play(page, "step")
    cell(page, "a3").click()
    cell(page, "a4").click()
    expect(page.locator("#chooser")).to_be_visible()
    page.go_back()
    expect_plies(page, 3)
    expect(page.locator("#chooser")).to_be_hidden()


def test_single_key_shortcuts_can_be_turned_off(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.keyboard.press("b")
    expect_plies(page, 1)
    page.keyboard.press("?")
    page.uncheck("#shortcuts")
    page.keyboard.press("Escape")
    with expect_no_request(page, "**/replay?*"):
        page.keyboard.press("b")
    page.reload()
    page.wait_for_selector("#board .cell")
    assert not page.locator("#shortcuts").is_checked()
