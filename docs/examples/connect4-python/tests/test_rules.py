"""The checks that solving relies on, and known results of the game."""

from perfectplay import load_game, solve_game

GAME = "connect4-python"


def test_law(game_law):
    game_law()


def test_perfect_play_on_four_by_four_is_a_draw():
    game = load_game(GAME, mirror=False)
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == "draw in 16"
        assert table.statistics.positions == 161_029
