"""The plugin: one option, the game as OpenSpiel names it. OpenSpiel itself is loaded when a game is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl

RULES_VERSION = 1


@hookimpl
def options() -> list[Option]:
    return [Option("game", "tic_tac_toe", "the game, with its parameters, as OpenSpiel writes it", text=True)]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    try:
        from perfectplay_openspiel.bridge import open_game
    except ImportError:
        raise ValueError("OpenSpiel is not installed: pip install 'perfectplay[openspiel]'") from None
    return open_game(options["game"])
