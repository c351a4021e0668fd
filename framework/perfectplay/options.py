"""A game's variants: options a plugin declares, and their values as part of a table's identity."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a game, an integer in a range, a word out of a list, or a flag: `--name value`."""

    name: str
    default: int | str | bool
    help: str = ""
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
