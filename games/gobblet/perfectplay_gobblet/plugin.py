"""Gobblet Gobblers as a perfectplay plugin."""

from __future__ import annotations

from perfectplay.game.spec import About, hookimpl
from perfectplay_gobblet import notation, rules, view
from perfectplay_gobblet._kernel import ffi, lib
from perfectplay_native.kernel import Kernel

_kernel = Kernel(ffi, lib.gobblet_kernel)
_RULES = """
Each player has two small, two medium and two large pieces. A turn places a piece from the reserve, or lifts one of your
visible pieces and puts it down on another cell. It lands on an empty cell, or covers a smaller visible piece.

Three of your pieces visible in a row, a column or a diagonal win. If lifting a piece reveals a line of your opponent,
you must land on that line. A player who cannot move loses.
"""


@hookimpl
def kernel() -> Kernel:
    return _kernel


@hookimpl
def about() -> About:
    return About("Gobblet Gobblers", _RULES)


encode = hookimpl(notation.encode)
decode = hookimpl(notation.decode)
notations = hookimpl(notation.notations)
format_move = hookimpl(notation.format_move)
parse_move = hookimpl(notation.parse_move)
board = hookimpl(view.board)
colour_swapped = hookimpl(rules.swap_colours)
