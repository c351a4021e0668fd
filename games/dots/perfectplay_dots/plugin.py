"""Dots and boxes as a perfectplay plugin: options for the size of the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl
from perfectplay_dots.rules import DotsAndBoxes

RULES_VERSION = 1


@hookimpl
def options() -> list[Option]:
    return [
        Option("rows", 2, "rows of boxes", minimum=1, maximum=18),
        Option("columns", 2, "columns of boxes", minimum=1, maximum=18),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return DotsAndBoxes(options["rows"], options["columns"])
