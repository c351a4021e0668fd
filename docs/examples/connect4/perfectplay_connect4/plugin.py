"""The plugin in Python alone: the options, and the rules they choose."""

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl

from perfectplay_connect4.rules import ConnectFour


@hookimpl
def options() -> list[Option]:
    return [
        Option("width", 4, "columns of the board", minimum=1, maximum=8),
        Option("height", 4, "rows of the board", minimum=1, maximum=8),
        Option("mirror", True, "count mirror images as one position"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return ConnectFour(options["width"], options["height"], options["mirror"])
