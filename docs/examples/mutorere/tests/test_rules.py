"""The checks that solving relies on, and known results of the game."""

from perfectplay import load_game, solve_game

GAME = "mutorere"


def test_law(game_law):
    game_law()


def test_neither_player_can_force_a_win():
    game = load_game(GAME)
    with solve_game(game, save=False).table as table:
        assert str(table.probe(game.start())) == "draw (endless)"
