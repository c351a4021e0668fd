"""The conformance kit: does a game keep the laws that solving relies on?

    from perfectplay.testing import check_game
    check_game("tictactoe")            # raises BrokenLaws, which says what to do

With pytest, a game's whole test is three lines, and every law a test of its own (see `perfectplay.pytest_plugin`):

    GAME = "tictactoe"
    def test_law(game_law):
        game_law()
"""

from perfectplay.testing.checks import BrokenLaws, check_game, find_game, law_names, run_checks
from perfectplay.testing.trial import Result

__all__ = ["BrokenLaws", "Result", "check_game", "find_game", "law_names", "run_checks"]
