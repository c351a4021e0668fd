"""Connect Four as a perfectplay plugin: its options, and the Python rules with a kernel in C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import Option, hookimpl
from perfectplay_connect4._kernel import ffi, lib
from perfectplay_connect4.rules import ConnectFour
from perfectplay_native.kernel import Kernel


class FastConnectFour(ConnectFour):
    """The same game with a kernel. `solve check` compares every rule in C with its Python counterpart."""

    def __init__(self, width: int, height: int, connect: int, mirror: bool) -> None:
        super().__init__(width, height, connect, mirror)
        board = ffi.new("connect4_board *", lib.connect4_board_of(width, height, connect, mirror))
        self._kernel = Kernel(ffi, lib.connect4_kernel, context=board, max_moves=width, tier_count=width * height + 1)

    @hookimpl
    def kernel(self) -> Kernel:
        return self._kernel


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
    return FastConnectFour(options["width"], options["height"], options["connect"], options["mirror"])
