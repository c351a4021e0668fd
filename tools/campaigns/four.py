"""Connect Four with a C kernel, made of its compiled rules: a game in C without an index, and with `wins_now`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Game, Option, hookimpl, load_game
from perfectplay.compile.kernel import compile_rules
from perfectplay_native.kernel import Kernel


class Four:
    def __init__(self, game: Game) -> None:
        self.game = game

    @hookimpl
    def kernel(self) -> Kernel:
        return compile_rules(self.game)


@hookimpl
def options() -> list[Option]:
    return [Option("width", 3, "columns of the board"), Option("height", 3, "rows of the board")]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Four(load_game("connect4", **options))
