"""Gobblet Gobblers as a perfectplay plugin: rules from the C kernel, texts and board from here."""

from __future__ import annotations

from collections.abc import Mapping

from perfectplay.game.board import Board
from perfectplay.game.spec import About, hookimpl
from perfectplay_gobblet import arrays, board_view, notation
from perfectplay_gobblet._kernel import ffi, lib
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Positions

_kernel = Kernel(ffi, lib.gobblet_kernel)
_RULES = """
Each player has two small, two medium and two large pieces. A turn places a piece from the reserve, or lifts one of your
visible pieces and puts it down on another cell. It lands on an empty cell, or on a smaller visible piece and covers it.

Three of your pieces visible in a row, a column or a diagonal win. If lifting a piece shows a line of your opponent's,
you must land on that line. A player who cannot move loses.
"""


@hookimpl
def kernel() -> Kernel:
    return _kernel


@hookimpl
def about() -> About:
    return About("Gobblet Gobblers", _RULES)


@hookimpl
def encode(text: str) -> int:
    return notation.encode(text)


@hookimpl
def decode(position: int) -> str:
    return notation.decode(position)


@hookimpl
def notations(position: int) -> Mapping[str, str]:
    return notation.notations(position)


format_move = hookimpl(notation.format_move)  # asked of every move that is shown: without a detour


@hookimpl
def parse_move(position: int, text: str) -> int:
    return notation.parse_move(position, text)


@hookimpl
def board(position: int) -> Board:
    return board_view.board(position)


@hookimpl
def colour_swapped(positions: Positions) -> Positions:
    return arrays.colours_swapped(positions)
