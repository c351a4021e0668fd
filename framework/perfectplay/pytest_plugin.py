"""The pytest plugin: a game's whole test in three lines, and every law a test of its own.

    GAME = "tictactoe"          # the name of an installed game, or a plugin (module or object)
    def test_law(game_law):
        game_law()

`OPTIONS = {"width": 4}` beside it chooses a variant. Nothing of the engine is loaded before such a test runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from perfectplay.testing import Result

_FIXTURE = "game_law"
_results: dict[str, dict[str, Result]] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if _FIXTURE in metafunc.fixturenames:
        from perfectplay.testing import law_names

        metafunc.parametrize(_FIXTURE, law_names(), indirect=True)


@pytest.fixture
def game_law(request: pytest.FixtureRequest) -> Callable[[], None]:
    """Call it to check one law of the module's GAME."""
    source = getattr(request.module, "GAME", None)
    if source is None:
        raise pytest.UsageError(f"{request.module.__name__} needs a line GAME = 'name of the game'")
    results = _results_of(request.node.nodeid.split("::")[0], source, getattr(request.module, "OPTIONS", {}))
    result = results[request.param]

    def check() -> None:
        __tracebackhide__ = True
        if result.breach:
            pytest.fail(result.breach, pytrace=False)
        if result.hint:
            warnings.warn(result.hint, stacklevel=2)
        if not result.applies:
            pytest.skip("the game has nothing that this law is about")

    return check


def _results_of(module: str, source: Any, options: dict[str, Any]) -> dict[str, Result]:
    """All laws are tried together, once for each test module."""
    if module not in _results:
        from perfectplay.testing import find_game, run_checks

        _results[module] = {result.law: result for result in run_checks(find_game(source, **options))}
    return _results[module]
