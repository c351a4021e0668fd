"""OpenSpiel's games as a perfectplay plugin. Its option is the name of a game, which is loaded only when chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl

RULES_VERSION = 2


@hookimpl
def options() -> list[Option]:
    description = "the game, with its parameters, in OpenSpiel's notation"
    return [Option("game", "tic_tac_toe", description, text=True, spelling=normalize_name)]


def normalize_name(name: str) -> str:
    """Return a game's name with its parameters in alphabetical order and without spaces: one name for each game.

    >>> normalize_name("connect_four( rows=4, columns=4 )")
    'connect_four(columns=4,rows=4)'
    """
    short, bracket, rest = name.partition("(")
    if not bracket or not rest.endswith(")"):
        return name
    parameters = sorted(_parameter(part) for part in _split(rest[:-1]))
    return f"{short.strip()}({','.join(parameters)})" if parameters else short.strip()


def _parameter(text: str) -> str:
    key, equals, value = (part.strip() for part in text.partition("="))
    inner = normalize_name(value)
    return key + equals + (f"{inner}()" if value.endswith(")") and "(" not in inner else inner)  # marks a game


def _split(text: str) -> list[str]:
    """Split a text at commas outside brackets."""
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
        from perfectplay_openspiel.rules import open_game
    except ImportError:
        raise ValueError("OpenSpiel is not installed: pip install 'perfectplay[openspiel]'") from None
    return open_game(options["game"])
