"""Exploring, learning, hints, saved games, lists of moves and variants, in a real Chromium."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from perfectplay.game.loading import make_game
from perfectplay.game.match import Match, load_match
from perfectplay.solve.solve import solve_game
from perfectplay.web import library as library_module
from perfectplay.web.library import Library

from .. import zoo
from .pages import (
    OpenPage,
    cell,
    expect_left,
    expect_plies,
    expect_verdict,
    hold,
    notice,
    play,
    set_computer,
    verdict,
    wait_for_request,
)

VALUES = ".badge, .group, #chart svg, #history .mark, #line .step, .shaft"
"""Everything that reveals a value."""

# ---- the table ----


def test_positions_are_found_by_statistics_outcome_and_distance(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="404")
    page.click("#tab-explore")
    expect(page.locator("#overview .facts")).to_contain_text("765")
    page.locator(".column.win").last.click()
    expect_left(page, 5)
    page.locator(".longest a").first.click()
    expect_left(page, 5)
    page.locator("#find-kind").select_option("loss")
    page.fill("#find-plies", "4")
    page.click("#find button")
    expect_left(page, 4)
    page.fill("#find-plies", "77")
    page.click("#find button")
    expect(page.locator("#find-reason")).to_contain_text("no such position: loss in 77")


def test_a_puzzle_hides_values_until_it_is_solved(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe", expected="404")
    page.click("#tab-explore")
    page.click("#find-puzzle")
    expect_verdict(page, re.compile("Puzzle: .* to move, only one move wins"))
    page.click("#tab-analysis")
    assert page.locator(VALUES).count() == 0
    moves: list[dict[str, Any]] = page.evaluate(
        "async () => (await (await fetch(`/api/tictactoe/position${location.search.split('&')[0]}`)).json()).moves"
    )
    assert sum(move["outcome"] == "win" for move in {m["group"]: m for m in moves}.values()) == 1
    play(page, next(move["move"] for move in moves if move["outcome"] != "win"))
    expect(notice(page)).to_contain_text("does not win")
    page.click("#undo")
    expect_verdict(page, re.compile("^Puzzle: "))
    page.locator(f'#moves [data-move="{moves[0]["move"]}"]').click()
    expect(notice(page)).to_contain_text("is correct")


@pytest.mark.parametrize(
    ("control", "shown"),
    [("#find-puzzle", "Puzzle: "), ("#find button", " wins "), ("#find-any", ".")],
    ids=["puzzle", "form", "random"],
)
def test_clicks_wait_for_a_part_that_is_still_loading(
    open_page: OpenPage, small_server: str, control: str, shown: str
) -> None:
    """On a busy machine, or over a slow connection, a user can be faster than a part that is loaded when needed."""
    page = open_page(f"{small_server}/tictactoe")
    held = hold(page, "**/explore.js")
    page.click("#tab-explore")
    wait_for_request(page, held)
    page.click(control)
    held[0].continue_()
    expect(page).to_have_url(re.compile(r"\?position="))
    expect_verdict(page, re.compile(shown))


def test_a_file_waits_for_the_editor_that_is_still_loading(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    held = hold(page, "**/editor.js")
    saved = json.dumps({"format": "perfectplay game", "game": "tictactoe", "options": {}, "moves": ["b2", "a1"]})
    page.set_input_files("#load-game", {"name": "game.json", "mimeType": "application/json", "buffer": saved.encode()})
    wait_for_request(page, held).continue_()
    expect_plies(page, 2)


def test_a_random_position_has_a_link(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#tab-explore")
    page.click("#find-any")
    expect(page).to_have_url(re.compile(r"\?position=[XO.]{9}$"))
    found = verdict(page)
    assert verdict(open_page(page.url)) == found


# ---- learning and hints ----


def test_title_and_rules_are_the_plugins(
    open_page: OpenPage, serve: Callable[[Library], str], tmp_path: Path, games: types.SimpleNamespace
) -> None:
    hook = """
from perfectplay import About
@hookimpl
def about(): return About("Seven <b>Stones</b>", "Take one or two.\\n\\nWho takes the last one wins.")
"""
    game = games.game_of(zoo.read("subtraction") + hook, "stones")
    page = open_page(serve(Library(tmp_path, [game])) + "/stones")
    expect(page).to_have_title(re.compile("^Seven <b>Stones</b>: "))  # the list of games may come later
    expect(page.locator("#games a")).to_have_text(["Seven <b>Stones</b>"])
    page.click("#tab-learn")
    expect(page.locator("#rules p")).to_have_text(["Take one or two.", "Who takes the last one wins."])


def test_one_click_starts_a_game_against_the_computer(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#tab-learn")
    expect(page.locator("#strength option")).to_have_count(4)  # loaded when the tab is opened
    assert page.locator("#strength").inner_text().split("\n") == [
        "Perfect: never errs, and sets problems",
        "Strong: at 10% of its moves looks only 2 moves ahead",
        "Casual: at 35% of its moves looks only 1 move ahead",
        "Random: only random moves",
    ]
    page.get_by_role("button", name="Play Second").click()
    expect(page.locator("#player-bottom strong")).to_have_text("Second")  # the board is turned
    page.wait_for_selector("#player-bottom.moving")  # the computer has moved
    expect(page.locator("#announce")).to_have_text(re.compile("^First plays "))


def test_hints_off_reveals_no_value(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "b3")
    page.click("#hints")
    assert verdict(page) == "First player to move"
    expect(page).to_have_title("Tictactoe: First player to move")
    assert page.locator(VALUES).count() == 0
    shown = page.locator("main").inner_text() + page.locator("main").inner_html()
    assert not re.search(r"\b(wins in|Draw in|Win in|Loss in|throws)\b", shown)
    play(page, "a1")
    expect(notice(page)).to_have_text(re.compile("a1 was a best move|There was a better move than a1"))


def test_settings_survive_a_reload(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    page.click("#hints")
    page.click("#flip")
    set_computer(page, "top", "casual")
    page.reload()
    page.wait_for_selector("#board .cell")
    assert page.locator("#hints").get_attribute("aria-pressed") == "false"
    assert page.locator("#player-top strong").inner_text() == "First"
    assert page.locator("#player-top select").input_value() == "casual"


# ---- the game so far ----


def test_the_chart_shows_mistakes_and_moves_not_played(open_page: OpenPage, small_server: str) -> None:
    page = open_page(f"{small_server}/tictactoe")
    play(page, "b2", "b3", "b1")
    assert page.locator("#chart .slip").all_text_contents() == ["?", "?"]
    assert page.locator("#chart .untried ~ :is(.slip, .number)").count() == 3, "no point covers a mark or a number"
    assert page.locator("#chart .tick").count() >= 5
    assert page.locator("#chart .turn").count() == 3
    alternative = page.locator("#chart .untried").filter(has_text=re.compile("^2. a3: Draw in 4 moves"))
    alternative.locator(".hit").click()
    expect_plies(page, 2)
    expect_left(page, 7)


def test_a_game_is_saved_for_the_terminal_and_loaded_again(
    open_page: OpenPage, small_server: str, games: types.SimpleNamespace, tmp_path: Path
) -> None:
    page = open_page(f"{small_server}/tictactoe?position=X........")
    play(page, "b2", "c1")
    with page.expect_download() as download:
        page.click("#save-game")
    saved = tmp_path / "game.json"
    download.value.save_as(saved)
    match = load_match(games.tic_tac_toe(), saved)
    assert match.move_names() == ["b2", "c1"]
    match.play_names(["a1"])
    match.save(saved)
    page.set_input_files("#load-game", saved)
    expect_plies(page, 3)
    saved.write_text(json.dumps({**Match(games.stones()).json(), "moves": ["1"]}))
    page.set_input_files("#load-game", saved)
    expect(page).to_have_url(re.compile(r"/stones\?moves=1$"))  # the page opens the other game
    for content, reason in {
        json.dumps(
            {**Match(games.stones()).json(), "game": "chess"}
        ): "game.json cannot be loaded: it is a game of chess",
        "null": "it is not a saved game",
    }.items():
        saved.write_text(content)
        page.set_input_files("#load-game", saved)
        expect(page.locator("#editor-reason")).to_contain_text(reason)


# ---- the list of moves ----


def test_many_symmetric_moves_are_one_group(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/quantik")
    assert page.locator("#moves .chip:visible").count() == 5
    page.locator("#moves .chip.more").click()
    assert page.locator("#moves .chip:visible").count() == 64


def test_headings_stay_visible_and_have_the_colour_of_their_moves(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?moves=S(0,0)+L(1,2)+S(2,0)")
    for group in ("draw", "loss"):
        chip = page.locator(f".group.{group} .chip").first.evaluate("each => getComputedStyle(each).borderTopColor")
        assert chip == page.locator(f".group.{group} h3").evaluate("each => getComputedStyle(each).color"), group
    page.locator("#moves").evaluate("element => { element.scrollTop = element.scrollHeight; }")
    top = "element => element.getBoundingClientRect().top"
    list_top = page.locator("#moves").evaluate(top)
    assert page.locator(".group.loss h3").evaluate(top) == pytest.approx(list_top, abs=1)
    assert page.locator(".group.loss .chip").first.evaluate(top) < list_top, "its first moves are scrolled out"


def test_values_are_visible_before_a_piece_is_selected(open_page: OpenPage, gobblet_server: str) -> None:
    page = open_page(f"{gobblet_server}/gobblet?moves=S(0,0)+L(1,2)+S(2,0)+M(2,0)+L(0,2)+M(0,0)+L(1,1)")

    def value(name: str) -> str:
        return cell(page, name).locator(".badge").inner_text().replace("\u2009", " ")

    assert (value("(1,2)"), value("blue-L")) == ("✓ 1", "✓ 1"), "the best move of each piece"
    assert page.locator(".arrows .shaft.win").count() == 1
    cell(page, "blue-L").click()
    assert (value("(1,0)"), value("(2,2)")) == ("✓ 1", "✓ 2")
    assert cell(page, "(1,0)").locator(".badge.best").count() == 1
    assert cell(page, "(2,2)").locator(".badge.best").count() == 0, "a slower win is not emphasised"


# ---- games and variants ----


def test_variants_are_opened_by_their_options(
    open_page: OpenPage,
    serve: Callable[[Library], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    games: types.SimpleNamespace,
) -> None:
    module = zoo.module_of(zoo.read("variants"))

    def load(name: str, **options: object) -> Any:
        return make_game(module, name=name, **options)

    default = load("take")
    solve_game(default, directory=tmp_path).table.close()
    monkeypatch.setattr(library_module, "load_game", load)
    page = open_page(serve(Library(tmp_path, [default])) + f"/{default.identity}", expected="404")
    current = page.locator("#games [aria-current]")
    page.click("#games-open")
    page.fill("#option-stones", "5")
    page.get_by_role("button", name="Open this variant").click()
    expect(page).to_have_url(re.compile(r"/take-last=wins-quick-end=no-stones=5$"))
    expect(current).to_have_text("Take: stones 5")
    expect(page.locator("#solve-card")).to_contain_text("solve take --stones 5")
    cost = r"positions: about [\d.]+ s, \d+ MiB of memory, [\d.]+ \w+ on disk\. You can stop it at any time"
    expect(page.locator("#solve-card .estimate")).to_have_text(re.compile(cost))
    page.go_back()
    expect(current).to_have_text("Take")
    page.click("#games-open")
    expect(page.locator("#option-stones")).to_have_value("7")  # that of this variant
    assert page.locator("#games-list li").count() == 2
    page.fill("#games-filter", "zzz")
    expect(page.locator("#games-found")).to_have_text("No matching games.")


def test_each_game_in_the_list_has_its_variants(open_page: OpenPage, kinds_server: str) -> None:
    page = open_page(f"{kinds_server}/gobblet")
    expect(page.locator("#games-open")).to_contain_text("Gobblet Gobblers")
    page.click("#games-open")
    expect(page.locator("#games-list li").filter(has_text="Gobblet")).to_contain_text("Orange wins in 7 moves")
    expect(page.locator("#variant")).to_be_hidden()  # this game has no options
    page.get_by_role("button", name="Variants of Kalah(3, 3)").click()
    expect(page.locator("#variant-title")).to_have_text("Variant of Kalah(3, 3)")
    expect(page.locator("#option-pits")).to_be_focused()
    page.fill("#games-filter", "gobblet")
    expect(page.locator("#variant")).to_be_hidden()


def test_many_games_are_found_by_typing(
    open_page: OpenPage, serve: Callable[[Library], str], tmp_path: Path, games: types.SimpleNamespace
) -> None:
    module = zoo.module_of(zoo.read("tictactoe"))
    many = [make_game(module, name=f"game{number}") for number in range(30)]
    page = open_page(serve(Library(tmp_path, many)) + "/game7")
    expect(page.locator("#games-open")).to_have_text("GamesGame7")
    page.click("#games-open")
    expect(page.locator("#games-filter")).to_be_focused()
    page.keyboard.type("game22")
    expect(page.locator("#games-list a")).to_have_count(1)
    page.locator("#games-list a").click()
    expect(page).to_have_url(re.compile("/game22$"))
