"""The conformance kit: checks that a game obeys the laws that solving relies on.

    from perfectplay.testing import check_game
    check_game("tictactoe")            # raises BrokenLaws, which names each mistake and its remedy

`perfectplay.testing.pytest_plugin` turns each law into one test for pytest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perfectplay.testing.checks import BrokenLaws, check_game, find_game, law_names, run_checks
    from perfectplay.testing.trial import CheckReport, CheckResult, Effort

__all__ = ["BrokenLaws", "CheckReport", "CheckResult", "Effort", "check_game", "find_game", "law_names", "run_checks"]


def __getattr__(name: str) -> Any:
    """Load the checks on first use, because pytest imports this package to find its plugin."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("perfectplay.testing.checks"), name)
