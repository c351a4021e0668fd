"""Dōbutsu shōgi as a perfectplay plugin."""

from __future__ import annotations

from perfectplay import About, hookimpl
from perfectplay_dobutsu import notation, rules, view
from perfectplay_native.kernel import Kernel

_RULES = """
Each player has a lion, a giraffe, an elephant and a chick. A turn moves a piece one step: the lion in any direction,
the giraffe straight, the elephant diagonally, the chick forward. Moving onto an opposing piece captures it and puts it
into your hand. Instead of moving, you may drop a piece from your hand on any empty cell. A chick that steps onto the
far rank becomes a hen, which moves in any direction except diagonally back, until it is captured.

You win by capturing the lion, or when your lion reaches the far rank and cannot be captured there at once. A player who
can capture the lion must do so. A player who cannot move loses.
"""


@hookimpl
def kernel() -> Kernel:
    return rules.RANKED


@hookimpl
def about() -> About:
    return About("Dōbutsu shōgi", _RULES)


encode = hookimpl(notation.encode)
decode = hookimpl(notation.decode)
notations = hookimpl(notation.notations)
format_move = hookimpl(notation.format_move)
parse_move = hookimpl(notation.parse_move)
board = hookimpl(view.board)
colour_swapped = hookimpl(rules.swap_colours)
