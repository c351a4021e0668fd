"""The plugin: one option, the game as OpenSpiel names it. OpenSpiel itself is loaded when a game is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl

RULES_VERSION = 2


@hookimpl
def options() -> list[Option]:
    wanted = "the game, with its parameters, as OpenSpiel writes it"
    return [Option("game", "tic_tac_toe", wanted, text=True, spelling=one_spelling)]


def one_spelling(name: str) -> str:
    """A game's name with its parameters in alphabetical order and without spaces: whatever the order, it is one game.

    >>> one_spelling("connect_four( rows=4, columns=4 )")
    'connect_four(columns=4,rows=4)'
    """
    short, bracket, rest = name.partition("(")
    if not bracket or not rest.endswith(")"):
        return name
    parameters = sorted(_parameter(part) for part in _parts(rest[:-1]))
    return f"{short.strip()}({','.join(parameters)})" if parameters else short.strip()


def _parameter(text: str) -> str:
    key, equals, value = (part.strip() for part in text.partition("="))
    inner = one_spelling(value)
    return key + equals + (f"{inner}()" if value.endswith(")") and "(" not in inner else inner)  # so is a game told


def _parts(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [part.strip() for part in (*parts, text[begin:]) if part.strip()]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    try:
        from perfectplay_openspiel.bridge import open_game
    except ImportError:
        raise ValueError("OpenSpiel is not installed: pip install 'perfectplay[openspiel]'") from None
    return open_game(options["game"])
