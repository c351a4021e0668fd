"""What comes late must not disturb what is there by then: answers, lists, dialogs, the table's reply, the focus."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .pages import OpenPage, expect_plies, hold, play, stop_the_clock, wait_for_one, wait_for_what_was_asked

FOCUSED = "() => document.activeElement.id || document.activeElement.dataset.place"


def test_a_position_that_is_found_late_is_not_set_up_in_another_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    held = hold(page, "**/find*")
    page.click("#tab-explore")
    page.click("#find-any")
    late = wait_for_one(page, held)
    page.get_by_role("link", name="Stones").click()
    expect(page.locator("#title")).to_have_text("Stones")
    late.continue_()
    expect(page.locator("#find-reason")).to_have_text("")
    expect(page).to_have_url(f"{small_server}/stones")
    expect(page.locator("#notice")).to_have_text("Choose a move from the list.")


def test_a_late_list_of_games_takes_no_notice_away(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="400")
    held = hold(page, "**/api/games")
    page.goto(f"{small_server}/tictactoe?position=nonsense")
    expect(page.locator("#notice")).to_contain_text("The link cannot be opened")
    wait_for_one(page, held).continue_()
    expect(page.locator("#games a")).to_have_count(3)
    expect(page.locator("#notice")).to_contain_text("The link cannot be opened")


def test_what_is_said_of_a_move_stands_while_the_table_answers(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#hints")
    page.select_option("#player-top select", "perfect")
    page.locator("#moves .chip").first.click()
    expect_plies(page, 2)
    expect(page.locator("#notice")).to_have_text(re.compile(r"^\S+ was a best move\.$"))
    page.click("#undo")
    expect(page.locator("#notice")).not_to_contain_text("best move")


def test_a_game_that_is_no_longer_possible_gives_way_to_its_address(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="400")
    play(page, "b2")
    page.evaluate("() => history.replaceState({ ...history.state, moves: ['nonsense'] }, '')")
    page.reload()
    expect(page.locator("#history .entry").nth(1)).to_contain_text("b2")


def test_a_player_who_is_changed_while_a_move_is_on_its_way_moves_no_more(
    open_page: OpenPage, small_server: str
) -> None:
    """The table was to move for the first player: after the move that was on its way it is the second's turn."""
    page = open_page(f"{small_server}/tictactoe")
    stop_the_clock(page)
    held = hold(page, "**/replay?*")
    page.click('[data-place="b2"]')
    late = wait_for_one(page, held)
    page.select_option("#player-bottom select", "perfect")
    late.continue_()
    expect_plies(page, 1)
    page.clock.run_for(3000)
    wait_for_what_was_asked(page)
    assert held == [late]


def test_the_table_s_reply_does_not_give_a_puzzle_away(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=XX.OO....")
    page.evaluate("() => history.replaceState({ ...history.state, puzzle: '1' }, '')")
    page.reload()
    puzzle = re.compile("^Puzzle: First player to move")
    expect(page.locator("#verdict p")).to_have_text(puzzle)
    page.locator(".skip").press("Enter")
    expect(page).to_have_url(re.compile("#board$"))  # nothing else has changed
    page.select_option("#player-top select", "perfect")
    play(page, "a1")
    expect(page.locator("#verdict p")).to_have_text("Game over: Second player has won")
    page.click("#undo")
    expect(page.locator("#verdict p")).to_have_text(puzzle)
    assert page.locator(".badge, .group, #chart svg").count() == 0


def test_a_choice_of_moves_goes_with_its_position(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/promotion?moves=step+step+step")
    play(page, "step")
    page.click('[data-place="a3"]')
    page.click('[data-place="a4"]')
    expect(page.locator("#chooser")).to_be_visible()
    page.go_back()
    expect_plies(page, 3)
    expect(page.locator("#chooser")).to_be_hidden()


def test_a_button_that_can_do_nothing_more_gives_the_focus_to_the_board(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2")
    page.locator("#undo").press("Enter")
    expect(page.locator("#undo")).to_be_disabled()
    assert page.evaluate(FOCUSED) == "board"


def test_an_emptied_reserve_does_not_lose_the_focus(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=S,.,./.,s,./.,.,.:orange")
    page.locator('[data-place="orange-S"]').press("Enter")
    page.locator('[data-place="(2,2)"]').dispatch_event("click")  # the focus stays in the reserve
    expect(page.locator('[data-place="orange-S"]')).to_be_disabled()
    assert page.evaluate(FOCUSED) == "orange-M"
