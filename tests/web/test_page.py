"""The page in a real Chromium: what a person sees and does, with mouse, keyboard and links."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import expect

from perfectplay.web.library import Library

from .pages import OpenPage, expect_plies, play, plies, texts, verdict, wait_for_turn

# ---- what is shown ----


def test_the_start_shows_verdict_groups_and_where_to_click(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    assert verdict(page) == "Draw in 9 plies"
    assert texts(page, ".group h3 b") == ["D"]
    assert page.locator(".cell .badge.draw").count() == 9
    assert page.title() == "Tictactoe: Draw in 9 plies"


def test_moves_stand_in_groups_best_first(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    assert verdict(page) == "Orange wins in 13 plies (7 of its moves)"
    assert texts(page, ".group h3 b") == ["W", "L"]
    distances = texts(page, ".group.win .in") + texts(page, ".group.loss .in")
    wins, losses = list(texts(page, ".group.win .in")), list(texts(page, ".group.loss .in"))
    assert distances == wins + losses
    assert wins == sorted(wins, key=lambda text: int(text.split()[1]))
    assert losses == sorted(losses, key=lambda text: -int(text.split()[1]))


def test_a_position_that_is_not_in_the_table_says_so(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/stones?position=8")
    assert verdict(page) == "Not in the table: it cannot be reached from the start"
    assert "draw" not in (page.locator("#verdict").get_attribute("class") or "")


def test_a_game_without_a_board_is_played_from_the_list(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/stones")
    assert page.locator("#board pre").inner_text() == "7"
    play(page, "1", "2", "1", "2", "1")
    assert verdict(page).startswith("Game over")


def test_hidden_hints_hide_what_moves_are_worth(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#hints")
    assert page.locator(".badge, .group, .tag:visible").count() == 0
    assert page.locator("#moves .chip").count() == 9
    page.keyboard.press("h")
    assert page.locator(".cell .badge").count() == 9


def test_pointing_at_a_move_shows_it_on_the_board(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.hover('[data-move="L(1,1)"]')
    expect(page.locator('.changed[data-place="(1,1)"]')).to_have_accessible_name("(1,1), Orange L")
    expect(page.locator('[data-place="orange-L"]')).to_have_accessible_name(re.compile("1 left"))
    page.hover("header")
    expect(page.locator(".changed")).to_have_count(0)


def test_the_preview_of_a_move_is_the_position_after_it(open_page: OpenPage, gobblet_server: str) -> None:
    """A piece that moves stands only where it goes, and what it uncovers is seen."""
    page = open_page(f"{gobblet_server}/gobblet?position=L,.,./.,s,./.,.,.:orange&moves=(0,0)->(1,1)+S(2,2)")
    page.hover('[data-move="(1,1)→(0,1)"]')
    expect(page.locator('[data-place="(0,1)"]')).to_have_accessible_name("(0,1), Orange L")
    expect(page.locator('[data-place="(1,1)"]')).to_have_accessible_name("(1,1), Blue s")


def test_a_list_that_moves_under_the_pointer_previews_nothing(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.locator('[data-move="L(1,1)"]').click()  # the pointer stays where another move now is
    expect_plies(page, 1)
    page.wait_for_timeout(200)
    assert page.locator(".changed, .previewed").count() == 0


# ---- playing ----


def test_a_whole_game_against_the_table_by_mouse(open_page: OpenPage, small_server: str) -> None:
    """First empty cells against the perfect table: it never loses."""
    page = open_page(f"{small_server}/tictactoe")
    page.locator("#player-top select").select_option("perfect")
    while wait_for_turn(page, "bottom"):
        before = plies(page)
        page.locator("#board .target").first.click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)
    assert verdict(page) in ("Game over: Second player has won", "Game over: a draw")


def test_the_table_wins_gobblet_as_the_first_player(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.locator("#player-bottom select").select_option("perfect")
    while wait_for_turn(page, "top"):
        before = plies(page)
        page.locator("#moves .chip").last.click()  # the worst there is
        expect(page.locator("#history li")).not_to_have_count(before + 1)
    assert verdict(page) == "Game over: Orange has won"


def test_a_whole_game_of_quantik_against_the_table(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/quantik")
    page.locator("#player-top select").select_option("perfect")
    while wait_for_turn(page, "bottom"):
        page.locator("#player-bottom .tray:enabled").first.click()
        barred = page.locator(".cell.barred")
        assert all(barred.nth(index).get_attribute("title") for index in range(barred.count()))
        before = plies(page)
        page.locator("#board .target").first.click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)
    assert verdict(page) == "Game over: Second player has won"


def test_a_table_that_slips_plays_worse_moves(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet", before="let n = 0; Math.random = () => [0, 0.99][n++ % 2]")
    page.locator("#player-bottom select").select_option("casual")
    page.wait_for_selector("#player-top.moving")
    assert verdict(page) != "Orange wins in 12 plies (6 of its moves)"


def test_a_whole_game_by_keyboard_only(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    for ply in range(1, 14):
        page.keyboard.press("b")
        expect_plies(page, ply)
    assert verdict(page) == "Game over: Orange has won"
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#verdict p")).to_have_text("Orange wins in 13 plies (7 of its moves)")
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#verdict p")).to_have_text("Game over: Orange has won")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#verdict p")).to_have_text("Orange wins in 1 ply (1 of its moves)")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#verdict p")).to_have_text("Game over: Orange has won")
    page.keyboard.press("n")
    expect_plies(page, 0)
    page.locator('#moves [tabindex="0"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect_plies(page, 1)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_cells_can_be_reached_and_pressed_by_keyboard(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.locator('[data-place="orange-L"]').focus()
    page.keyboard.press("Enter")
    assert page.locator('[data-place="orange-L"]').get_attribute("aria-pressed") == "true"
    cell = page.locator('[data-place="(1,1)"]')
    expect(cell).to_have_accessible_name("(1,1), empty. L(1,1): Win in 13")
    cell.focus()
    page.keyboard.press("Enter")
    expect_plies(page, 1)


def test_auto_play_walks_the_best_line_to_its_end(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position={quote('XO.......')}")
    assert verdict(page) == "First player wins in 5 plies (3 of its moves)"
    page.click("#auto")
    expect(page.locator("#verdict p")).to_have_text("Game over: First player has won")
    assert plies(page) == 5


def test_a_step_of_the_best_line_plays_up_to_it(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position={quote('XO.......')}")
    page.locator("#line .step").nth(2).click()
    expect_plies(page, 3)


def test_flip_turns_the_board_round(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    corner = page.locator('[data-place="a3"]')
    before = corner.bounding_box()
    page.keyboard.press("f")
    after = page.locator('[data-place="a3"]').bounding_box()
    assert before
    assert after
    assert after["x"] > before["x"]
    assert after["y"] > before["y"]
    assert page.locator("#player-top strong").inner_text() == "First"


# ---- going back, links, positions ----


def test_history_marks_slips_and_goes_where_it_is_clicked(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "b3", "a3")
    assert texts(page, "#history .mark") == ["?"]
    assert page.locator("#history .slip").get_attribute("title") == "throws the draw away: now a loss"
    page.locator("#history .entry").nth(1).click()
    expect(page.locator("#verdict p")).to_have_text("Draw in 8 plies")
    assert plies(page) == 3  # what came later is still there
    page.locator("#chart .bar").nth(3).locator(".value").click()
    expect(page.locator("#verdict p")).to_have_text(re.compile("First player wins"))


def test_undo_and_redo_against_the_table_take_both_moves(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.locator("#player-top select").select_option("perfect")
    play(page, "b2")
    expect_plies(page, 2)
    page.click("#undo")
    expect(page.locator("#verdict p")).to_have_text("Draw in 9 plies")
    page.click("#redo")
    expect(page.locator("#verdict p")).to_have_text("Draw in 7 plies")


def test_back_and_forward_and_reload_keep_the_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "a1")
    assert page.url.endswith("/tictactoe?moves=b2+a1")
    page.go_back()
    expect(page.locator("#verdict p")).to_have_text("Draw in 8 plies")
    page.go_forward()
    expect(page.locator("#verdict p")).to_have_text("Draw in 7 plies")
    page.reload()
    expect_plies(page, 2)


def test_a_link_opens_the_same_position(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=s,m,sL/.,.,./.,.,.:orange")
    assert page.locator('[aria-label="decimal notation"]').input_value() == "74242"
    assert page.url.endswith("?position=s,m,sL/.,.,./.,.,.:orange")


def test_a_link_to_no_position_says_so_and_shows_the_start(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=XXX", expected="400")
    expect(page.locator("#notice")).to_contain_text("nine of . X O were expected")
    assert verdict(page) == "Draw in 9 plies"


def test_the_editor_says_why_a_position_is_impossible(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.fill("#editor-text", "S,S,S/.,.,./.,.,.:orange")
    expect(page.locator("#editor-reason")).to_contain_text("Orange has 3 small pieces")
    assert page.locator("#editor-go").is_disabled()
    for text in ("74242", "AAAAAAABIgI", "s,m,sL/.,.,./.,.,.:orange"):  # every notation is read
        page.fill("#editor-text", text)
        expect(page.locator("#editor-reason")).to_have_text("Valid position: Orange wins in 9 plies (5 of its moves)")
    page.keyboard.press("Enter")
    expect(page.locator("#verdict p")).to_have_text("Orange wins in 9 plies (5 of its moves)")
    assert page.locator("#editor-text").input_value() == "s,m,sL/.,.,./.,.,.:orange"  # to edit further


def test_a_position_is_set_up_by_clicking(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    page.click("#setup summary")
    page.click('#setup-pieces [aria-label="Orange S"]')
    for cell in ("(0,0)", "(1,1)", "(2,1)"):
        page.click(f'#setup-board [data-key="{cell}"]')
    expect(page.locator("#editor-text")).to_have_value("S,.,./.,S,./.,S,.:orange")
    expect(page.locator("#editor-reason")).to_contain_text("Orange has 3 small pieces")
    page.click('#setup-pieces [aria-label="Remove"]')
    page.click('#setup-board [data-key="(2,1)"]')
    page.click('#setup-pieces [aria-label="Blue l"]')
    page.click('#setup-board [data-key="(0,0)"]')
    page.click('#setup-mover [aria-label="Blue to move"]')
    expect(page.locator("#editor-text")).to_have_value("Sl,.,./.,S,./.,.,.:blue")
    expect(page.locator("#editor-reason")).to_contain_text("Valid position: ")
    page.click("#editor-go")
    expect(page).to_have_url(re.compile(r"\?position=Sl,\.,\./\.,S,\./\.,\.,\.:blue$"))


# ---- what Gobblet needs ----


def test_a_third_repetition_is_announced_and_leaves_the_explorer_free(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    round_trip = ["(0,0)→(0,1)", "(2,2)→(2,1)", "(0,1)→(0,0)", "(2,1)→(2,2)"]
    play(page, "S(0,0)", "S(2,2)", *round_trip)
    expect(page.locator("#notice")).to_contain_text("occurred twice")
    play(page, *round_trip)
    expect(page.locator("#notice")).to_contain_text("draw by threefold repetition")
    play(page, "L(1,1)")  # the explorer is not locked by it


def test_lifting_a_piece_that_hides_a_line_warns(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=74242")
    page.click('[data-place="(0,2)"]')
    expect(page.locator("#notice")).to_contain_text("Lifting it reveals Blue's line (0,0) (0,1) (0,2)")
    barred = page.locator('[data-place="(2,2)"]')
    assert "barred" in (barred.get_attribute("class") or "")
    barred.click()
    expect(page.locator("#notice")).to_contain_text("(2,2) is not on it")
    page.keyboard.press("Escape")
    expect(page.locator(".selected")).to_have_count(0)


def test_covered_pieces_grow_when_pointed_at(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?position=74242")
    covered = page.locator('[data-place="(0,2)"] .covered')
    small = covered.bounding_box()
    page.hover('[data-place="(0,2)"]')
    large = covered.bounding_box()
    assert small
    assert large
    assert large["width"] > 1.5 * small["width"]
    expect(page.locator('[data-place="(0,2)"]')).to_have_accessible_name(re.compile("Orange L over Blue s"))


# ---- solving ----


def test_a_game_is_solved_from_the_page(
    open_page: OpenPage, tmp_path: Path, games: types.SimpleNamespace, serve: Callable[[Library], str]
) -> None:
    page = open_page(serve(Library(tmp_path, [games.tic_tac_toe()])) + "/tictactoe")
    assert verdict(page) == "Not solved yet: this game has no table"
    assert page.locator("#solve-card pre").inner_text() == "solve tictactoe"
    play(page, "b2")  # it can be played all the same
    page.get_by_role("button", name="Solve it now").click()
    expect(page.locator("#verdict p")).to_have_text("Draw in 8 plies", timeout=30_000)
    expect(page.locator("#solve-card")).to_be_hidden()
    assert page.locator("#chart .bar.draw").count() == 2


# ---- looks ----


def test_nothing_moves_when_a_verdict_arrives(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet")
    places = """() => ['#board', '#moves', '.toolbar', '#player-top']
      .map((each) => document.querySelector(each).getBoundingClientRect().y)"""
    before = page.evaluate(places)
    page.keyboard.press("b")
    expect_plies(page, 1)
    assert page.evaluate(places) == before
    page.click('[data-place="blue-L"]')
    assert page.evaluate(places) == before


def test_the_layout_does_not_shift_while_the_page_loads(open_page: OpenPage, gobblet_server: str) -> None:
    watch = """window.shift = 0;
    new PerformanceObserver((list) => { for (const e of list.getEntries()) window.shift += e.value; })
      .observe({ type: 'layout-shift', buffered: true });"""
    page = open_page(f"{gobblet_server}/gobblet", before=watch)
    page.wait_for_selector("#line .step")
    page.wait_for_timeout(200)
    assert page.evaluate("window.shift") < 0.1  # what browsers call good


def test_the_server_being_gone_is_said(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError()); }")
    page.click('[data-place="b2"]')
    expect(page.locator("#notice")).to_contain_text("The server does not answer")
