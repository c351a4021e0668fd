"""The checks that solving relies on, and known results of the game."""

import pytest
from perfectplay import Status, load_game, solve_game, verify_table

GAME = "teeko"


def test_law(game_law):
    game_law()


@pytest.mark.parametrize(
    ("text", "size", "lost", "lost_advanced"),
    [
        ("OOOO./XXX../...../...../.....", 5, True, True),
        ("O..../.OX../..OX./...OX/.....", 5, True, True),
        ("OO.../OOX../XX.../...../.....", 5, True, True),
        ("O.O../XXX../O.O../...../.....", 5, False, True),
        ("O..O/.XXX/..../O..O", 4, False, True),
        ("OOO./XXX./...O/....", 4, False, False),
    ],
)
def test_lines_and_squares_win(text, size, lost, lost_advanced):
    for advanced, expected in ((False, lost), (True, lost_advanced)):
        position = load_game(GAME, size=size, advanced=advanced).position(text)
        assert (position.status is Status.LOST) == expected


def test_perfect_play_on_four_by_four_is_a_draw():
    game = load_game(GAME, size=4)
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == "draw (endless)"
        assert (table.statistics.positions, table.statistics.longest_win) == (189_317, 13)
        assert verify_table(table).bad == 0
