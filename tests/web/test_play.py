"""Playing on the page: who may move and when, dragging, captures, lines, hints, the end of a game, and puzzles."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from .pages import (
    FRAMES,
    OpenPage,
    cell,
    expect_left,
    expect_plies,
    expect_verdict,
    hold,
    notice,
    play,
    plies,
    set_computer,
    stop_clock,
    texts,
    verdict,
    wait_for_request,
    wait_for_sent_requests,
)

DOTS = "/dots-columns=2-rows=1"
KALAH = "/kalah-either-row=no-empty-capture=no-pits=3-seeds=3"
CONNECT4 = "/connect4-connect=4-height=4-mirror=yes-width=4"
SIX_MEN = "/morris-flying=no-men=six"


def play_second(page: Page) -> None:
    """Start a game against the computer, which moves first, and wait for its move."""
    page.click("#tab-learn")
    page.locator("#play-as button").nth(1).click()
    expect_plies(page, 1)
    page.click("#tab-analysis")


def drag(page: Page, source: str, target: str) -> None:
    for name, act in ((source, page.mouse.down), (target, page.mouse.up)):
        box = cell(page, name).bounding_box()
        assert box
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        act()


# ---- who may move ----


def test_back_and_forward_make_no_move(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play_second(page)
    for ply in (3, 5):
        page.locator("#board .target").first.click()
        expect_plies(page, ply)
    address = page.url
    stop_clock(page)
    for ply in (3, 1):  # each step leads to the user's turn before
        page.go_back()
        expect_plies(page, ply)
        page.clock.run_for(3000)
        wait_for_sent_requests(page)
        assert plies(page) == ply
    page.go_forward()
    page.go_forward()
    expect(page).to_have_url(address)
    page.reload()
    expect_plies(page, 5)
    assert page.url == address


def test_a_shared_link_or_a_reload_makes_no_move(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    set_computer(page, "top")
    play(page, "b2")
    expect_plies(page, 2)
    page.goto(f"{small_server}/tictactoe?moves=b2")  # the computer was the second player
    expect_plies(page, 1)
    assert page.locator("#player-top select").input_value() == "you", "a link opens for analysis"
    stop_clock(page)
    set_computer(page, "top")
    page.reload()
    expect(page.locator("#resume")).to_be_visible()
    page.clock.run_for(3000)
    wait_for_sent_requests(page)
    assert plies(page) == 1, "the computer waits"
    page.click("#resume")
    page.clock.run_for(3000)
    expect_plies(page, 2)


def test_the_user_cannot_move_for_the_computer(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_clock(page)
    set_computer(page, "top")
    cell(page, "b2").click()
    expect_plies(page, 1)
    held = hold(page, "**/replay?*")
    cell(page, "a1").click()
    expect(notice(page)).to_have_text("The computer is thinking.")
    page.locator("#moves .chip").first.click()
    page.keyboard.press("b")
    wait_for_sent_requests(page)
    assert held == []
    page.unroute("**/replay?*")
    cell(page, "c3").hover()
    assert page.locator("#board :is(.target, .region, .ghost)").count() == 0, "nothing invites a move for the computer"
    page.clock.run_for(3000)
    expect_plies(page, 2)
    assert page.locator("#board .target").count() == 7


def test_a_hint_does_not_show_a_value(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/mutorere")
    set_computer(page, "top")
    page.click("#advise")
    expect(page.locator(".arrows .shaft")).to_have_class("shaft unknown")


def test_a_slow_move_is_marked_on_the_board(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="400")
    held = hold(page, "**/replay?*")
    cell(page, "b2").click()
    expect(page.locator("#board .previewed")).to_have_attribute("data-place", "b2")
    wait_for_request(page, held).continue_()
    expect_plies(page, 1)
    assert page.locator(".previewed").count() == 0
    cell(page, "a1").click()
    expect(page.locator("#board .previewed")).to_have_attribute("data-place", "a1")
    held[-1].fulfill(status=400, json={"error": "no answer"})
    expect(page.locator(".previewed")).to_have_count(0)  # also where there is no answer


def test_a_puzzle_belongs_to_the_user(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    for side in ("top", "bottom"):
        stop_clock(page)
        set_computer(page, side)
        page.click("#tab-explore")
        page.click("#find-puzzle")
        expect_verdict(page, re.compile("^Puzzle: "))
        page.clock.run_for(3000)
        wait_for_sent_requests(page)
        assert plies(page) == 0
    link = page.url
    assert link.endswith("&puzzle=1")
    other = open_page(link)  # the link does not reveal the solution
    expect_verdict(other, re.compile("^Puzzle: "))
    assert other.locator(".badge, .group, #chart svg").count() == 0


def test_the_user_cannot_move_for_the_opponent_of_a_puzzle(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=X.......O&puzzle=1")
    stop_clock(page)
    moves = page.evaluate(
        "async () => (await (await fetch('/api/tictactoe/position?position=X.......O')).json()).moves"
    )
    play(page, moves[0]["move"])
    expect(notice(page)).to_have_text(re.compile("is correct"))
    page.locator("#board .target").first.click()
    expect(notice(page)).to_have_text("The computer is thinking.")
    assert plies(page) == 1
    page.clock.run_for(3000)
    expect_plies(page, 2)
    page.click("#undo")
    expect(page.locator("#history [aria-current]")).to_contain_text(moves[0]["move"])
    page.locator("#board .target").first.click()
    expect(notice(page)).to_contain_text("not your turn")
    assert plies(page) == 2


def test_a_puzzle_is_not_solved_by_a_button(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=X.......O&puzzle=1")
    assert page.locator("#best, #auto, #advise").locator("visible=true").count() == 0
    page.keyboard.press("b")
    expect(notice(page)).to_have_text("Press Values to see the solution.")
    assert plies(page) == 0


def test_a_puzzle_is_solved_move_by_move(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=X.......O&puzzle=1")
    expect_verdict(page, re.compile("^Puzzle: First player"))
    while page.url.endswith("puzzle=1"):
        moves = page.evaluate(
            "async () => (await (await fetch(`/api/tictactoe/replay${location.search.split('&puzzle')[0]}`)).json())"
            ".position.moves"
        )
        before = plies(page)
        page.locator(f'#moves [data-move="{moves[0]["move"]}"]').click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)
        expect(notice(page)).to_have_text(re.compile("Find the next one|is correct"))
        page.wait_for_function(  # the computer's reply, which the server chooses, or the end
            "count => document.querySelectorAll('#history li').length >= count || !location.href.includes('puzzle')",
            arg=before + 3,
        )
    expect(notice(page)).to_contain_text("is correct")
    assert page.locator("#chart svg").count() == 1, "now everything is shown"
    address = page.url
    page.click("#next-puzzle")
    expect_verdict(page, re.compile("^Puzzle: "))
    assert page.url != address
    page.click("#tab-explore")
    expect(page.locator("#streak")).to_have_text("1 puzzle solved in a row.")


# ---- a game against the computer ----


def test_values_are_hidden_during_a_game(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    set_computer(page, "top")
    assert page.locator(".badge, .group, #chart svg").count() == 0
    assert verdict(page) == "First player to move"
    page.click("#advise")
    expect(notice(page)).to_have_text(re.compile("^Hint: [abc][123]$"))
    assert page.locator("#board .advised").count() == 1
    ground = "element => getComputedStyle(element, '::before').backgroundColor"
    advised, other = (page.locator(f"#board .target{each}").first for each in (".advised", ":not(.advised)"))
    assert advised.evaluate(ground) != other.evaluate(ground), "the hint is visible on the board"
    assert page.locator(".badge").count() == 0
    page.click("#hints")
    assert page.locator("#board .badge").count() == 9


def test_the_end_of_a_game_shows_mistakes_and_allows_another_try(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?position=XO.......")
    set_computer(page, "top")
    while not verdict(page).startswith("Game over"):
        before = plies(page)
        page.locator("#moves .chip").last.click()  # not sorted by value
        expect(page.locator("#history li")).not_to_have_count(before + 1)
        page.wait_for_selector("#player-bottom.moving, #summary:not([hidden])")
    summary = page.locator("#summary")
    expect(summary).to_contain_text("Your game")
    expect(summary).to_contain_text(
        re.compile("The result changed with your move|You made no mistake|The result did not change")
    )
    if page.get_by_role("button", name="Try again from here").count():
        page.get_by_role("button", name="Try again from here").first.click()
        expect(summary).to_be_hidden()
        assert page.locator(".badge, #chart svg").count() == 0, "values are hidden again"
        assert page.locator("#history .branch").count() == 1, "the first game is kept as another line"
        expect(page.locator("#rematch")).to_be_hidden()
        page.go_back()
        expect(summary).to_be_visible()
    page.click("#rematch")
    expect_plies(page, 1)
    assert page.locator("#player-bottom strong").inner_text() == "Second"
    page.click("#resign")
    expect_verdict(page, "Game over: Second resigned")
    page.click("#analyse")
    assert page.locator("#player-top select").input_value() == "you"
    expect(page.locator("#chart svg")).to_have_count(1)


def test_points_given_away_do_not_change_who_wins(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}{KALAH}?moves=a+c+A+a+B+a+C+a+A+c+A")
    set_computer(page, "bottom")
    expect(page.locator("#summary")).to_contain_text("You made one mistake. The result did not change.")
    expect(page.locator("#summary li")).to_contain_text("3. A ? gives 2 away")


def test_a_game_that_was_resigned_is_over(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    stop_clock(page)
    set_computer(page, "top")
    play(page, "b2")
    page.click("#resign")  # before the computer has answered
    expect_verdict(page, "Game over: First resigned")
    assert page.locator("#unknown").inner_text() == "", "the table's value is not the result"
    expect(page.locator("#verdict")).to_have_class(re.compile("owner1"))  # the colour of the winner
    expect(notice(page)).to_have_text("Undo to try something else, or start a new game.")
    cell(page, "a1").click()
    expect(notice(page)).to_have_text("The game is over. Undo, or start a new game.")
    assert plies(page) == 1


def test_a_look_back_at_the_computers_turn_says_how_to_continue(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play_second(page)
    page.click("#first")
    expect(notice(page)).to_have_text("The computer moved here. Go forward to your turn.")
    assert page.locator("#resume").is_hidden()
    cell(page, "a1").click()
    expect(notice(page)).to_have_text("The computer moved here. Go forward to your turn.")
    assert plies(page) == 1


def test_an_opponent_without_a_table_is_called_random(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}{SIX_MEN}")
    set_computer(page, "top")
    expect(notice(page)).to_contain_text("not solved, so the computer plays random moves")


def test_an_extra_turn_is_announced(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(kinds_server + KALAH)
    play(page, "a")  # the last seed reaches the store
    assert texts(page, ".who .turn") == ["", "plays again"]
    play(page, "c")
    assert texts(page, ".who .turn") == ["to move", ""]
    page.goto(f"{kinds_server}{DOTS}?moves=a1-a2+a1-b1+a2-b2+b1-b2")
    expect(page.locator(".moving .turn")).to_have_text("plays again")


# ---- lines ----


def test_another_move_keeps_the_first_line(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "a1", "c1")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page.locator("#undo")).to_be_disabled()
    page.locator('#moves [data-move="a3"]').click()
    expect_plies(page, 1)
    assert texts(page, "#history .branch") == ["↳\nother line:\nb2 a1 c1"]
    page.reload()
    expect(page.locator("#history .branch")).to_have_count(1)
    page.locator("#history .branch").click()
    expect_plies(page, 3)
    expect(page.locator("#history [aria-current]")).to_contain_text("b2")
    assert page.locator("#line-actions").is_hidden()
    page.locator("#history .branch").click()
    page.click("#promote")
    assert page.locator("#line-actions").is_hidden()
    page.locator("#history .branch").click()
    page.click("#delete-line")
    expect(page.locator("#history .branch")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"moves=a3"))


def test_a_losing_move_shows_its_refutation(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?moves=b2")
    page.locator("#moves .chip.loss").first.hover()
    expect(notice(page)).to_have_text(re.compile(r"\(Loss in \d moves?\) is refuted by [abc][123] "))


@pytest.mark.parametrize(("width", "height"), [(920, 700), (1024, 768), (1280, 900), (1440, 900)])
def test_a_refutation_does_not_move_the_list(open_page: OpenPage, kinds_server: str, width: int, height: int) -> None:
    viewport = {"width": width, "height": height}
    page = open_page(f"{kinds_server}/gobblet?moves=S(0,0)+L(1,2)+S(2,0)+M(2,0)", viewport=viewport)
    chips = page.locator("#moves .group.loss .chip:visible")
    place = "() => document.querySelector('#moves').getBoundingClientRect().y + scrollY"
    before = page.evaluate(place)
    for number in range(min(6, chips.count())):
        move = chips.nth(number)
        name = move.get_attribute("data-move") or ""
        move.hover()
        expect(notice(page)).to_have_text(re.compile(f"^{re.escape(name)} .* is refuted by"))
        assert page.evaluate(place) == before


# ---- clicks and drags on boards ----


def test_a_column_is_clicked_anywhere_and_never_turned(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(kinds_server + CONNECT4)
    bottom = cell(page, "b1").bounding_box()
    cell(page, "b4").hover()
    expect(cell(page, "b1").locator(".ghost")).to_have_count(1)
    cell(page, "b4").click()
    expect_plies(page, 1)
    assert page.url.endswith("?moves=b")
    play_second(page)
    assert cell(page, "b1").bounding_box() == bottom, "gravity points down for both players"
    expect(page.locator("#flip")).to_be_hidden()
    page.goto(f"{kinds_server}/gobblet")
    page.click("#flip")
    expect(page.locator("#player-top strong")).to_have_text("Orange")
    page.goto(f"{kinds_server}/quantik")
    expect(page.locator("#player-top strong")).to_have_text("Second")  # a flip belongs to one game


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (f"{CONNECT4}?moves=a+b+a+b+a+b+a", ["a4", "a3", "a2", "a1"]),
        ("/morris-flying=no-men=three?moves=b2+a1+b1+a2+b3", ["b3", "b2", "b1"]),
        ("/quixo-height=3-width=3?position=XXX/OO./...:O", ["a3", "b3", "c3"]),
    ],
)
def test_the_line_that_ends_a_game_is_marked(
    open_page: OpenPage, kinds_server: str, path: str, line: list[str]
) -> None:
    page = open_page(kinds_server + path)
    expect_verdict(page, re.compile("^Game over"))
    marked = page.locator("#board .highlight").evaluate_all("cells => cells.map((cell) => cell.dataset.place)")
    assert sorted(marked) == sorted(line)


def test_a_mill_is_resolved_by_clicking_the_man(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}{SIX_MEN}?moves=a1+e5+c1+d4")
    cell(page, "W").click()
    cell(page, "e1").click()
    expect(notice(page)).to_have_text("Now choose the piece to capture.")
    expect(cell(page, "e1").locator(".piece")).to_have_count(1)
    assert page.locator("#chooser").is_hidden()
    targets = page.locator("#board .target").evaluate_all("cells => cells.map((cell) => cell.dataset.place)")
    assert sorted(targets) == ["d4", "e5"]
    page.keyboard.press("Escape")
    expect(cell(page, "e1").locator(".piece")).to_have_count(0)
    cell(page, "e1").click()
    cell(page, "d4").click()
    expect_plies(page, 5)
    assert page.url.endswith("e1xd4")
    expect(cell(page, "d4").locator(".piece")).to_have_count(0)


def test_boxes_show_their_owners(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}{DOTS}?moves=a1-a2+a1-b1+a2-b2+b1-b2+b1-c1+b2-c2+c1-c2")
    owners = page.locator("#board .initial").all_inner_texts()
    assert owners == ["B", "B"] or owners == ["B", "R"]
    page.goto(f"{kinds_server}{DOTS}?moves=a1-a2+a1-b1+a2-b2+b1-c1+b1-b2")
    expect(page.locator("#board .initial")).to_have_text(["R"])
    fill = page.locator("#board .cell:has(.initial) .body").evaluate("each => getComputedStyle(each).fill")
    assert fill == "rgb(201, 48, 44)"


def test_dots_and_edges_have_names(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}{DOTS}?moves=a1-a2")
    for place, name in [("a1", "a1, dot"), ("a1-a2", "a1-a2, edge"), ("red", "red, Red 0 boxes")]:
        expect(cell(page, place).locator(".visually-hidden")).to_have_text(re.compile(name))


def test_nothing_is_empty_during_a_game(open_page: OpenPage, kinds_server: str) -> None:
    """Cards without content are hidden, and the others are as high as their content."""
    room = """selector => { const { bottom } = document.querySelector(selector).getBoundingClientRect();
      return bottom - document.querySelector(selector).lastElementChild.getBoundingClientRect().bottom; }"""
    page = open_page(kinds_server + KALAH)
    page.wait_for_selector("#line .step")
    assert page.locator("#line-card").is_visible()
    assert page.evaluate(room, "#moves") < 20
    page.click("#tab-learn")
    page.locator("#play-as button").first.click()
    page.click("#tab-analysis")
    expect(page.locator("#line-card")).to_be_hidden()
    for card in ("#moves", "#chart"):
        assert page.evaluate(room, card) < 20


def test_pits_have_seeds_and_the_names_of_their_moves(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(kinds_server + KALAH)
    for flipped in (False, True):
        for name in "abcABC":
            assert cell(page, name).locator(".cell-label").inner_text() == name, f"flipped: {flipped}"
            assert cell(page, name).locator(".piece circle").count() == 3
        page.click("#flip")
    expect(cell(page, "b")).to_have_accessible_name(re.compile("^b, South 3 seeds"))


def test_pieces_are_dragged(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/gobblet")
    drag(page, "orange-L", "(1,1)")
    expect_plies(page, 1)
    assert page.url.endswith("L(1,1)")
    drag(page, "blue-S", "(1,1)")
    expect(notice(page)).to_contain_text("does not cover")
    assert plies(page) == 1
    drag(page, "blue-S", "(0,0)")
    expect_plies(page, 2)
    drag(page, "(1,1)", "(0,0)")
    expect_plies(page, 3)
    assert page.locator(".dragged").count() == 0
    page.goto(kinds_server + DOTS)
    drag(page, "a1", "b1")  # a line from dot to dot
    expect_plies(page, 1)
    page.goto(kinds_server + KALAH)
    drag(page, "b", "C")  # seeds are taken out of a pit
    expect_plies(page, 1)
    page.goto(kinds_server + CONNECT4)
    drag(page, "a4", "c3")  # a stone over the columns
    expect_plies(page, 1)
    assert page.url.endswith("moves=c")


RECORD_MOTIONS = """window.motions = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, options) {
  const piece = this.closest("[data-place]");
  window.motions.push([this.getAttribute("class") ?? piece?.dataset.place, frames, options.delay ?? 0]);
  return animate.call(this, frames, options);
};"""


def motions(page: Page, count: int) -> list[tuple[str, list[dict[str, object]], int]]:
    """Wait until `count` elements have been animated, and return their names, frames and delays."""
    page.wait_for_function("count => window.motions.length >= count", arg=count)
    found: list[tuple[str, list[dict[str, object]], int]] = page.evaluate("window.motions.splice(0)")
    assert len(found) == count
    return found


def shift(frames: list[dict[str, object]]) -> tuple[float, float]:
    """Where a motion begins, in pixels from its end."""
    x, y = re.findall(r"(-?[\d.]+)px", str(frames[0]["transform"]))
    assert frames[-1]["transform"] == "none"
    return float(x), float(y)


def test_pieces_move_from_source_to_target(open_page: OpenPage, kinds_server: str) -> None:
    start = f"{kinds_server}/gobblet?position=L,.,./.,s,./.,.,.:orange"
    page = open_page(start, reduced_motion="no-preference", before=RECORD_MOTIONS)
    play(page, "(0,0)→(1,1)")
    [(place, frames, _)] = motions(page, 1)
    assert place == "(1,1)"
    x, y = shift(frames)
    assert x == pytest.approx(y, abs=1)
    assert x < -100, "the piece slides diagonally"
    page.goto(kinds_server + CONNECT4)
    play(page, "b")
    [(place, frames, _)] = motions(page, 1)
    assert place == "b1"
    x, y = shift(frames)
    assert x == 0
    assert y < -200, "the stone falls"
    page.goto(f"{kinds_server}{SIX_MEN}?moves=a1+e5+c1+d4")
    play(page, "e1xd4")
    assert [name for name, _, _ in motions(page, 2)] == ["e1", "cover fades"], "the captured man leaves"
    page.goto(kinds_server + KALAH)
    play(page, "b")
    found = motions(page, 6)
    assert [delay for name, _, delay in found if name == "flying-seed"] == [0, 140, 280]
    assert len([name for name, _, _ in found if name == "cover"]) == 3
    expect(page.locator(".flying-seed, .cover")).to_have_count(0)  # the seeds have arrived
    page.emulate_media(reduced_motion="reduce")
    play(page, "A")
    page.evaluate(FRAMES)
    assert page.evaluate("window.motions.length") == 0


def test_the_computer_waits_until_the_seeds_are_sown(open_page: OpenPage, kinds_server: str) -> None:
    path = f"{kinds_server}{KALAH}?position=1,1,1/1,1,12/0-1:S"
    page = open_page(path, reduced_motion="no-preference")
    set_computer(page, "top")
    stop_clock(page)
    play(page, "c")
    page.clock.run_for(1800)  # 12 seeds take 1,680 ms
    wait_for_sent_requests(page)
    assert plies(page) == 1
    page.clock.run_for(1000)
    expect(page.locator("#history li")).not_to_have_count(2)


# ---- keys, settings and links ----


def test_arrow_keys_step_through_the_game_after_a_click(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    cell(page, "b2").click()
    expect_plies(page, 1)
    page.keyboard.press("ArrowLeft")
    expect_left(page, 9)
    page.keyboard.press("ArrowRight")
    expect_left(page, 8)


def test_two_tabs_keep_each_others_settings(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    other = page.context.new_page()
    other.goto(f"{small_server}/tictactoe")
    other.wait_for_selector("#board .cell")
    page.click("#tab-learn")
    page.locator("#strength").select_option("casual")
    other.click("#hints")
    page.reload()
    page.wait_for_selector("#board .cell")
    assert page.locator("#hints").get_attribute("aria-pressed") == "false"
    page.click("#tab-learn")  # loads the list of strengths
    expect(page.locator("#strength")).to_have_value("casual")


def test_parameters_of_other_sites_are_ignored(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe?moves=b2+a1&fbclid=abc&utm_source=mail")
    expect_plies(page, 2)
    assert page.url.endswith("/tictactoe?moves=b2+a1")
