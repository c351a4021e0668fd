"""Dōbutsu shōgi as a perfectplay plugin: rules from the C kernel, texts and board from the modules beside this one."""

from __future__ import annotations

from perfectplay import About, hookimpl
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


encode = hookimpl(notation.encode)
decode = hookimpl(notation.decode)
notations = hookimpl(notation.notations)
format_move = hookimpl(notation.format_move)
parse_move = hookimpl(notation.parse_move)
board = hookimpl(board_view.board)
colour_swapped = hookimpl(layout.colour_swapped)
