"""The rules of the built-in Connect Four, without its kernel."""

from collections.abc import Mapping
from typing import Any

from perfectplay import hookimpl
from perfectplay_connect4.plugin import options
from perfectplay_connect4.rules import ConnectFour

__all__ = ["configure", "options"]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return ConnectFour(options["width"], options["height"], options["connect"], options["mirror"])
