"""Morris as a perfectplay game: the variants, their kernel, their texts and their board."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from perfectplay import About, Board, Cell, Click, Option, Piece, Tray, hookimpl
from perfectplay_morris._kernel import ffi, lib
from perfectplay_morris.layout import LAYOUTS
from perfectplay_morris.notation import (
    ALL_POINTS,
    BLACK_SHIFT,
    HAND_SHIFT,
    MAN_LETTERS,
    NONE,
    PLAYER_NAMES,
    PLAYERS,
    SIDE_SHIFT,
    Move,
    Notation,
    Parts,
)
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions

_TURNS = """
Each player has {men} men. White begins. At first a turn places a man on an empty point; when all are placed, it moves a
man along a line to a neighbouring point that is empty.{flying}
"""
_FLYING = " A player with three men left may move a man to any empty point."
_MILL_WINS = """
Three men on a line are a mill, and win. A player who cannot move loses.
"""
_MILL_TAKES = """
Three men on a line are a mill. Whoever closes one takes an opposing man off the board: one that stands in no mill, or
any if all do; two mills closed at once take one man. A player with fewer than three men loses, and so does a player
who cannot move.
"""

_boards: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The board of each kernel's struct: it lives as long as the kernel, which may outlive the game."""


@hookimpl
def options() -> list[Option]:
    return [
        Option("men", "six", "men of each player, and the board that goes with them", choices=tuple(LAYOUTS)),
        Option("flying", False, "with three men left, a man may go to any empty point"),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> object:
    return Morris(options["men"], flying=options["flying"])


class Morris:
    """One variant: a board, and whether men fly."""

    def __init__(self, men: str, *, flying: bool) -> None:
        self.men, self.flying = men, flying
        self.layout = LAYOUTS[men]
        self.notation = Notation(self.layout)
        board = lib.morris_new(ffi.new("morris_rules *", self.rules()))
        if board == ffi.NULL:
            raise MemoryError("no memory for the tables of the board")
        struct = ffi.new("pp_kernel *", lib.morris_kernel)
        struct.context, struct.tier_count = board, lib.morris_tier_count(board)
        _boards[struct] = ffi.gc(board, lib.morris_free)
        self._kernel = Kernel(ffi, struct)

    def rules(self) -> dict[str, Any]:
        """The fields of `morris_rules` in morris.h."""
        symmetries = [list(symmetry.places) for symmetry in self.layout.symmetries]
        return {
            "points": len(self.layout.places),
            "men": self.layout.men,
            "captures": self.layout.captures,
            "flying": self.flying,
            "neighbours": self.layout.neighbours,
            "mill_count": len(self.layout.mills),
            "mills": self.layout.mills,
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
        return About(title, turns + (_MILL_TAKES if self.layout.captures else _MILL_WINS))

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
        """A grid with cells where there are points, and a tray for each player's men in hand."""
        parts = Parts.of(position)
        men = [Piece(player, MAN_LETTERS[player], size=0.8) for player in PLAYERS]
        cells = []
        for number, name, row, column in self.notation.points():
            owner = parts.owner(number)
            cells.append(Cell(name, row, column, () if owner is None else (men[owner],)))
        names = self.layout.names
        clicks = []
        for number in self._kernel.moves(position):
            move = Move.of(number)
            source = MAN_LETTERS[parts.side] if move.source == NONE else names[move.source]
            clicks.append(Click(number, target=names[move.target], source=source))
        return Board(
            rows=self.layout.width,
            columns=self.layout.width,
            cells=tuple(cells),
            to_move=parts.side,
            players=PLAYER_NAMES,
            trays=tuple(Tray(MAN_LETTERS[player], men[player], parts.in_hand[player]) for player in PLAYERS),
            clicks=tuple(clicks),
            edges=tuple((names[a], names[b]) for line in self.layout.lines for a, b in pairwise(line)),
        )

    @hookimpl
    def colour_swapped(self, positions: Positions) -> Positions:
        """The mover's men decide the slot, whatever their colour."""
        white, black = positions & ALL_POINTS, positions >> BLACK_SHIFT & ALL_POINTS
        rest = positions >> HAND_SHIFT << HAND_SHIFT ^ (1 << SIDE_SHIFT)
        return (black | white << BLACK_SHIFT | rest).astype(np.uint64)
