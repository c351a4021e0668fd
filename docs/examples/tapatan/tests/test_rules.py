"""The checks that solving relies on, and known results of the game."""

from perfectplay import load_game, solve_game

GAME = "tapatan"


def test_law(game_law):
    game_law()


def test_the_kernel_agrees_with_plain_python():
    fast, plain = load_game("tapatan"), load_game("tapatan-python")
    with solve_game(fast, save=False).table as table, solve_game(plain, save=False).table as other:
        assert table.probe(fast.start()) == other.probe(plain.start())
