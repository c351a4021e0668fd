"""Connect Four as a perfectplay plugin: options for the board and the length of a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl
from perfectplay_connect4.rules import ConnectFour

RULES_VERSION = 1


@hookimpl
def options() -> list[Option]:
    return [
        Option("width", 4, "columns of the board", minimum=1, maximum=9),
        Option("height", 4, "rows of the board", minimum=1, maximum=8),
        Option("connect", 4, "stones that make a line", minimum=2, maximum=8),
        Option("mirror", True, "count mirror images as one position"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return ConnectFour(options["width"], options["height"], options["connect"], options["mirror"])
