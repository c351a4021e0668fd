"""Variants, texts of positions and moves, and the drawn board."""

from __future__ import annotations

import gc

from hypothesis import given

from perfectplay import Game, load_game

from . import reference
from .positions import positions_of_all_variants
from .reference import VARIANTS, Position


def game_of(men: str, flying: bool = False) -> Game:
    return load_game("morris", men=men, flying=flying)


GAMES = {key: game_of(*key) for key in VARIANTS}
NINE = GAMES["nine", True]
GAME_OF = {variant: GAMES[key] for key, variant in VARIANTS.items()}


def test_the_default_is_six_mens_without_flying() -> None:
    assert load_game("morris").options == {"men": "six", "flying": False}


def test_the_variant_is_part_of_the_name_of_a_table() -> None:
    assert NINE.identity == "morris-flying=yes-men=nine"


def test_a_kernel_may_outlive_its_game() -> None:
    kernel = game_of("nine").kernel
    assert kernel is not None
    gc.collect()
    others = [game_of("six", True) for _ in range(3)]  # would reuse the memory if it were released
    assert kernel.tier_size(kernel.tier(kernel.start())) == 1
    assert len(kernel.moves(kernel.start())) == 24
    assert others


def test_the_title_and_the_rules_describe_the_variant() -> None:
    about = NINE.about
    assert about.title == "Nine men's morris with flying"
    assert "any empty point" in about.rules
    assert "captures an opposing man" in about.rules
    about = GAMES["three", False].about
    assert about.title == "Three men's morris"
    assert "any empty point" not in about.rules
    assert "a mill and win" in about.rules


def test_the_board_begins_empty_with_all_men_in_hand() -> None:
    assert [GAMES[men, False].decode(GAMES[men, False].start()) for men in ("three", "six", "nine")] == [
        ".../.../...:white:3-3",
        ".../.../..../.../...:white:6-6",
        ".../.../.../....../.../.../...:white:9-9",
    ]


@given(positions_of_all_variants())
def test_texts_are_read_back(position: Position) -> None:
    game, code = GAME_OF[position.variant], reference.encode(position)
    text = game.decode(code)
    assert game.encode(text) == game.encode(f"  {text.lower()} ") == code
    for man, letter in ((0, "W"), (1, "B")):
        assert text.count(letter) == len(position.men[man])
    assert text.endswith(":{}-{}".format(*position.in_hand)) == any(position.in_hand)


def test_moves_are_written_with_points_and_the_captured_man() -> None:
    placing = NINE.encode("WW./.../.../....../.../.../BB.:white:7-7")
    assert {NINE.format_move(placing, move) for move in NINE.moves(placing)} >= {"g7xa1", "g7xd1", "b6"}
    sliding = NINE.encode("WW./.../.../.....W/.W./B../BB.:white")
    texts = {NINE.format_move(sliding, move) for move in NINE.moves(sliding)}
    assert texts >= {"g4-g7xa1", "g4-g7xd1", "g4-g7xb2", "g4-g1", "a7-a4"}
    assert "g4-g7" not in texts


@given(positions_of_all_variants())
def test_moves_are_read_back(position: Position) -> None:
    game, code = GAME_OF[position.variant], reference.encode(position)
    for move in game.moves(code):
        text = game.format_move(code, move)
        assert game.parse_move(code, text) == move
        assert game.parse_move(code, f" {text.upper().replace('-', ' - ').replace('X', ' x ')} ") == move


def test_the_board_shows_men_hands_and_clicks() -> None:
    position = NINE.encode("WW./.../.../....../.../.../BB.:white:7-7")
    board = NINE.board(position)
    assert board is not None
    assert (board.rows, board.columns, board.players) == (7, 7, ("White", "Black"))
    labels = {cell.id: cell.stack[0].label for cell in board.cells if cell.stack}
    assert labels == {"a7": "W", "d7": "W", "a1": "B", "d1": "B"}
    places = {cell.id: (cell.row, cell.column) for cell in board.cells}
    assert len(places) == 24
    assert (places["a7"], places["g7"], places["c4"], places["g1"]) == ((0, 0), (0, 6), (3, 2), (6, 6))
    assert [(tray.id, tray.count) for tray in board.trays] == [("W", 7), ("B", 7)]
    assert {click.source for click in board.clicks} == {"W"}
    assert sorted(click.target for click in board.clicks).count("g7") == 2  # one for each man it may capture
