"""Morris as a perfectplay plugin: three, six and nine men's morris, with or without flying."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfectplay import About, Board, Option, hookimpl
from perfectplay_morris import rules, view
from perfectplay_morris._kernel import ffi, lib
from perfectplay_morris.geometry import GEOMETRIES
from perfectplay_morris.notation import Notation
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions

_TURNS = """
Each player has {men} men. White moves first. Each turn first places a man on an empty point. When all men are placed, a
turn moves a man along a line to a neighbouring empty point.{flying}
"""
_FLYING = " A player with three men left may move a man to any empty point."
_MILL_WINS = """
Three men on a line are a mill and win. A player who cannot move loses.
"""
_MILL_CAPTURES = """
Three men on a line are a mill. A player who closes a mill captures an opposing man that is not in a mill, or any man if
all are in mills. Closing two mills at once captures only one man. A player with fewer than three men loses, and so does
a player who cannot move.
"""


@hookimpl
def options() -> list[Option]:
    return [
        Option("men", "six", "men of each player, which determine the board", choices=tuple(GEOMETRIES)),
        Option("flying", False, "with three men left, a man may go to any empty point"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Morris(options["men"], flying=options["flying"])


class Morris:
    """One variant: a board, and whether men fly."""

    def __init__(self, men: str, *, flying: bool) -> None:
        self.men, self.flying = men, flying
        self.geometry = GEOMETRIES[men]
        self.notation = Notation(self.geometry)
        board = lib.morris_new(ffi.new("morris_rules *", self.rules()))
        if board == ffi.NULL:
            raise MemoryError(f"not enough memory for the tables of {men} men's morris")
        self._kernel = Kernel(
            ffi, lib.morris_kernel, context=ffi.gc(board, lib.morris_free), tier_count=lib.morris_tier_count(board)
        )

    def rules(self) -> dict[str, Any]:
        """Return the fields of `morris_rules` in morris.h."""
        symmetries = [list(symmetry.places) for symmetry in self.geometry.symmetries]
        return {
            "points": len(self.geometry.places),
            "men": self.geometry.men,
            "captures": self.geometry.captures,
            "flying": self.flying,
            "neighbours": self.geometry.neighbours,
            "mill_count": len(self.geometry.mills),
            "mills": self.geometry.mills,
            "symmetry_count": len(symmetries),
            "symmetries": symmetries,
        }

    @hookimpl
    def kernel(self) -> Kernel:
        return self._kernel

    @hookimpl
    def about(self) -> About:
        turns = _TURNS.format(men=self.men, flying=_FLYING if self.flying else "")
        title = f"{self.men.capitalize()} men's morris{' with flying' if self.flying else ''}"
        return About(title, turns + (_MILL_CAPTURES if self.geometry.captures else _MILL_WINS))

    @hookimpl
    def encode(self, text: str) -> int:
        return self.notation.encode(text)

    @hookimpl
    def decode(self, position: int) -> str:
        return self.notation.decode(position)

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return self.notation.format_move(move)

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        return self.notation.parse_move(text)

    @hookimpl
    def board(self, position: int) -> Board:
        return view.draw_board(self.notation, position, self._kernel.moves(position))

    @hookimpl
    def colour_swapped(self, positions: Positions) -> Positions:
        return rules.swap_colours(positions)
