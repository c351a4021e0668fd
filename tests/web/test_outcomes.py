"""A server with a table of outcomes: values without numbers, in JSON and in a real Chromium."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from perfectplay.game import wording
from perfectplay.game.loading import load_game, make_game
from perfectplay.solve.solve import solve_game
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

from ..zoo import peg, twelve
from .pages import OpenPage, expect_plies, play, texts
from .test_api import check_schema


@pytest.fixture
def outcomes(games: types.SimpleNamespace, tmp_path: Path) -> Iterator[Library]:
    """Tables of outcomes: a game with draws, one with cycles, a puzzle and a game with scores."""
    directory = tmp_path / "outcomes"
    solved = [
        games.tic_tac_toe(),
        load_game("quixo", width=3, height=3),
        make_game(peg, name="peg"),
        make_game(twelve, name="twelve"),
    ]
    for game in solved:
        solve_game(game, directory=directory, values="outcome").table.close()
    library = Library(directory, solved)
    yield library
    library.close()


@pytest.mark.parametrize("game", ["tictactoe", "quixo-height=3-width=3", "peg", "twelve"])
def test_distances_are_null_in_json(game: str, outcomes: Library) -> None:
    client = TestClient(make_app(outcomes))
    found = client.get(f"/api/{game}/position").json()
    check_schema("Position", found)
    assert found["outcome"] in ("win", "draw", "loss")
    assert found["remoteness"] is None
    assert "score" not in found
    assert {move["remoteness"] for move in found["moves"]} == {None}
    assert not re.search(r"null|None|\b0 pl|endless|never end", found["verdict"])
    overview = client.get(f"/api/{game}/overview").json()
    check_schema("Overview", overview)
    assert (overview["values"], overview["ties"], overview["histogram"], overview["longest"]) == (
        "outcome",
        None,
        [],
        [],
    )
    assert overview["positions"] == overview["wins"] + overview["losses"] + overview["draws"]
    listed = {each["name"]: each for each in client.get("/api/games").json()["games"]}
    assert listed[game]["values"] == "outcome"
    for path in ("line", "best-move", "moves/evaluated", "find?kind=any", "find?kind=win"):
        assert client.get(f"/api/{game}/{path}").status_code == 200, path
    refused = client.get(f"/api/{game}/find?kind=win&remoteness=3")
    assert refused.status_code == 404
    assert "not in how many moves" in refused.json()["error"]
    probed = client.post(f"/api/{game}/probe", json={"ids": [found["id"]]}).json()
    assert (probed["outcomes"], probed["remoteness"]) == ([found["outcome"]], [None])
    assert "scores" not in probed


def test_the_page_shows_outcomes_without_distances(
    open_page: OpenPage, serve: Callable[[Library], str], outcomes: Library
) -> None:
    page = open_page(f"{serve(outcomes)}/quixo-height=3-width=3")
    expect(page.locator("#verdict p")).to_have_text("X wins")
    expect(page.locator("#unknown")).to_have_text(wording.outcomes_only(puzzle=False))
    play(page, *texts(page, "#moves [data-move]")[:1])
    page.click("#best")
    expect_plies(page, 2)
    assert not re.search(r"\bnull\b|undefined|NaN|endless", page.locator("body").inner_text())
    assert not re.search(r"\d+ pl|in \d", page.locator("#verdict").inner_text() + page.locator("#moves").inner_text())
    expect(page.locator("#line")).to_contain_text("need not approach the end")
    assert page.locator("#chart svg").count() == 1
    page.click("#tab-explore")
    expect(page.locator("#overview .facts")).to_contain_text("2,862")
    expect(page.locator("#overview")).to_contain_text("not in how many moves")
    assert page.locator(".histogram").count() == 0
    expect(page.locator("#find-plies")).to_be_hidden()
    page.locator("#find-kind").select_option("loss")
    before = page.url
    page.click("#find button")
    expect(page).not_to_have_url(before)
    expect(page.locator("#verdict p")).to_have_text(re.compile(r"^[XO] wins$|^Game over"))


def test_draws_and_puzzles_have_no_number(
    open_page: OpenPage, serve: Callable[[Library], str], outcomes: Library
) -> None:
    address = serve(outcomes)
    page = open_page(f"{address}/tictactoe")
    expect(page.locator("#verdict p")).to_have_text("Draw: neither player can force a win")
    assert "endless" not in page.locator("body").inner_text()
    page = open_page(f"{address}/peg")
    expect(page.locator("#unknown")).to_have_text(wording.outcomes_only(puzzle=True))
    assert not re.search(r"\bnull\b|undefined|NaN", page.locator("body").inner_text())
