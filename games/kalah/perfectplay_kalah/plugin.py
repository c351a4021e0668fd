"""Kalah as a perfectplay plugin: options for the size and the variants of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl
from perfectplay_kalah.rules import Kalah

RULES_VERSION = 1


@hookimpl
def options() -> list[Option]:
    return [
        Option("pits", 3, "pits of each player", minimum=1, maximum=15),
        Option("seeds", 3, "seeds in each pit at the start", minimum=1, maximum=29),
        Option("empty-capture", False, "capture a last seed in an empty pit even if the opposite pit is empty"),
        Option("either-row", False, "end the game when either row is empty, not only the row of the player to move"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Kalah(
        options["pits"], options["seeds"], empty_capture=options["empty-capture"], either_row=options["either-row"]
    )
