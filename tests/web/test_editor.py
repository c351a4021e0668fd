"""Setting up positions by clicks: pieces, seeds, edges, reserves and the side to move, in a real Chromium."""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import expect

from perfectplay.game.board import spell_board
from perfectplay.game.loading import load_game

from .pages import OpenPage

GAMES = ("gobblet", "quantik", "connect4", "quixo", "kalah", "dots", "morris", "dobutsu")


@pytest.mark.parametrize("name", GAMES)
def test_every_built_in_board_can_be_spelled(name: str) -> None:
    """Read what the editor would write in positions of a few random games."""
    game = load_game(name)
    for seed in range(3):
        chance, position = random.Random(seed), game.position()
        for _ in range(30):
            board = position.board
            assert board is not None
            assert game.encode(spell_board(board)) == position
            if not position.moves:
                break
            position = position.apply(chance.choice(position.moves))


CLICKS = {
    "morris-flying=no-men=three": (
        ["pieces White man", "board b2", "trays W", "mover Black to move"],
        ".../.W./...:black:2-3",
    ),
    "kalah-either-row=no-empty-capture=no-pits=3-seeds=3": (
        ["pieces 1 seed", "board south", "pieces Remove", "board a", "mover North to move"],
        "3,3,3/2,3,3/1-0:N",
    ),
    "dots-columns=2-rows=1": (["pieces edge", "board a1-b1", "mover Blue to move"], "../.../_./0-0:B"),
}


@pytest.mark.parametrize("game", CLICKS)
def test_a_position_is_set_up_by_clicks(open_page: OpenPage, kinds_server: str, game: str) -> None:
    clicks, text = CLICKS[game]
    page = open_page(f"{kinds_server}/{game}")
    page.click("#setup summary")
    for click in clicks:
        part, _, name = click.partition(" ")
        if part == "trays":  # a click adds a piece; with Remove it takes one away
            page.click('#setup-pieces [aria-label="Remove"]')
        attribute = "data-key" if part in ("board", "trays") else "aria-label"
        page.locator(f'#setup-{part} [{attribute}^="{name}"]').first.click()
    expect(page.locator("#editor-text")).to_have_value(text)
    expect(page.locator("#editor-reason")).to_contain_text("Valid position")
    page.click("#editor-go")
    expect(page.locator("#notations input").first).to_have_value(text)
