"""The checks that solving relies on, and known results of the game."""

from perfectplay import load_game, solve_game

GAME = "tictactoe"


def test_law(game_law):
    game_law()


def test_perfect_play_is_a_draw_in_nine():
    game = load_game(GAME)
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == "draw in 9"
        assert table.statistics.positions == 765
