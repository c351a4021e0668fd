"""The pytest plugin: a game is tested in three lines, with one test per law.

    GAME = "tictactoe"          # the name of an installed game, or a plugin (module or object)
    def test_law(game_law):
        game_law()

Add `OPTIONS = {"width": 4}` to choose a variant. pytest imports this module in every session, so it loads the laws and
the engine only when a test uses the fixture.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from perfectplay.testing.trial import CheckResult

_FIXTURE = "game_law"
_results: dict[str, dict[str, CheckResult]] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if _FIXTURE in metafunc.fixturenames:
        from perfectplay.testing.checks import law_names

        metafunc.parametrize(_FIXTURE, law_names(), indirect=True)


@pytest.fixture
def game_law(request: pytest.FixtureRequest) -> Callable[[], None]:
    """A function that checks one law of the module's GAME."""
    source = getattr(request.module, "GAME", None)
    if source is None:
        raise pytest.UsageError(f"{request.module.__name__} needs a line GAME = 'name of the game'")
    results = _module_results(request.node.nodeid.split("::")[0], source, getattr(request.module, "OPTIONS", {}))
    result = results[request.param]

    def check() -> None:
        __tracebackhide__ = True
        if result.breach:
            pytest.fail(result.breach, pytrace=False)
        if result.hint:
            warnings.warn(result.hint, stacklevel=2)
        if not result.applies:
            pytest.skip("the game lacks the hooks that this law is about")

    return check


def _module_results(module: str, source: Any, options: dict[str, Any]) -> dict[str, CheckResult]:
    """Return the results by law. All laws are checked together, once per test module."""
    if module not in _results:
        from perfectplay.testing.checks import find_game, run_checks

        _results[module] = {result.law: result for result in run_checks(find_game(source, **options)).results}
    return _results[module]
