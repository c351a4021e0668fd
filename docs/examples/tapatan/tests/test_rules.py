"""The laws that solving relies on, and what is known of the game."""

from perfectplay import load_game, solve_game

GAME = "tapatan"


def test_law(game_law):
    game_law()


def test_the_kernel_finds_what_plain_python_finds():
    fast, plain = load_game("tapatan"), load_game("tapatan-python")
    with solve_game(fast, save=False).table as table, solve_game(plain, save=False).table as other:
        assert table.probe(fast.start()) == other.probe(plain.start())
