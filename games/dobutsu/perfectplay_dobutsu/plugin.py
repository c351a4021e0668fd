"""Dōbutsu shōgi as a perfectplay plugin: rules from the C kernel, texts and board from here."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from perfectplay import About, Board, hookimpl
from perfectplay_dobutsu import board_view, kernels, layout, notation
from perfectplay_native.kernel import Kernel

_RULES = """
Each player has a lion, a giraffe, an elephant and a chick. A turn moves a piece one step: the lion in any direction,
the giraffe straight, the elephant diagonally, the chick forward. A piece that is stepped on is captured and changes
sides: instead of moving, you may drop a captured piece on any empty cell. A chick that steps onto the far rank becomes
a hen, which moves any way but diagonally back, until it is captured.

You win by capturing the lion, or when your lion reaches the far rank and cannot be captured there at once. Whoever can
take the lion must. A player who cannot move loses.
"""


@hookimpl
def kernel() -> Kernel:
    return kernels.RANKED


@hookimpl
def about() -> About:
    return About("Dōbutsu shōgi", _RULES)


@hookimpl
def encode(text: str) -> int:
    return notation.encode(text)


@hookimpl
def decode(position: int) -> str:
    return notation.decode(position)


@hookimpl
def notations(position: int) -> Mapping[str, str]:
    return notation.notations(position)


@hookimpl
def format_move(position: int, move: int) -> str:
    return notation.format_move(position, move)


@hookimpl
def parse_move(position: int, text: str) -> int:
    return notation.parse_move(position, text)


@hookimpl
def board(position: int) -> Board:
    return board_view.board(position)


@hookimpl
def movers(positions: layout.Positions) -> npt.NDArray[np.int8]:
    return layout.movers(positions)


@hookimpl
def colour_swapped(positions: layout.Positions) -> layout.Positions:
    return layout.colours_swapped(positions)
