"""Small games for all tests.

Tests change the source text of a game in one place, so its hooks have one line each where that is possible.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from pathlib import Path

from perfectplay import Game, hookimpl, make_game

HERE = Path(__file__).parent
EXAMPLES = HERE.parent.parent / "docs" / "examples"
MUTORERE = "mutorere/perfectplay_mutorere/plugin"


def read(game: str, changes: dict[str, str] | None = None) -> str:
    """Return the source of a game here or in docs/examples, with the given texts replaced everywhere."""
    place = HERE / f"{game}.py"
    return change((place if place.exists() else EXAMPLES / f"{game}.py").read_text(encoding="utf-8"), changes or {})


def change(source: str, changes: dict[str, str]) -> str:
    """Return the text with changes, each of which must apply."""
    for old, new in changes.items():
        assert old in source, old
        source = source.replace(old, new)
    return source


def module_of(source: str = "", **hooks: Callable[..., object]) -> types.ModuleType:
    """Return a module with this source, in which `hooks` replace others."""
    module = types.ModuleType("plugin_in_a_test")
    exec(source, vars(module))
    vars(module).update({name: hookimpl(hook) for name, hook in hooks.items()})
    return module


def make(game: str, changes: dict[str, str] | None = None, *, name: str = "", **options: object) -> Game:
    """Return a game of the zoo, with changes in its source."""
    return make_game(module_of(read(game, changes)), name=name or Path(game).parts[0], **options)
