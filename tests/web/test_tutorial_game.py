"""The tutorial's own plugin on the page: a third party's game, with no board hook and no JavaScript of its own."""

from __future__ import annotations

import runpy
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from perfectplay.game.loading import make_game
from perfectplay.solve.solve import solve_game
from perfectplay.web.library import Library

from .pages import OpenPage, plies, wait_for_turn

PLUGIN = Path(__file__).parents[2] / "docs/examples/tictactoe/perfectplay_tictactoe/plugin.py"


@pytest.fixture
def address(tmp_path: Path, serve: Callable[[Library], str]) -> str:
    game = make_game(types.SimpleNamespace(**runpy.run_path(str(PLUGIN))), name="tictactoe")
    solve_game(game, directory=tmp_path).table.close()
    return serve(Library(tmp_path, [game])) + "/tictactoe"


def test_a_whole_game_of_the_tutorials_plugin(open_page: OpenPage, address: str) -> None:
    """The worst move of the list each time, against the perfect table: it wins. The match knows whose turn it is."""
    page = open_page(address)
    expect(page.locator("#verdict p")).to_have_text("Draw in 9 plies")
    page.locator("#player-top select").select_option("perfect")
    while wait_for_turn(page, "bottom"):
        before = plies(page)
        page.locator("#moves .chip").last.click()
        expect(page.locator("#history li")).not_to_have_count(before + 1)
    expect(page.locator("#verdict p")).to_have_text("Game over: Second player has won")
