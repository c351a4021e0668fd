"""Quixo as a perfectplay plugin: options for the size of the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl
from perfectplay_quixo.rules import Quixo


@hookimpl
def options() -> list[Option]:
    return [
        Option("width", 4, "columns of the board", minimum=2, maximum=5),
        Option("height", 4, "rows of the board", minimum=2, maximum=5),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Quixo(options["width"], options["height"])
