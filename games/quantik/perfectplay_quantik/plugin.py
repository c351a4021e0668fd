"""Quantik as a perfectplay plugin."""

from __future__ import annotations

from collections.abc import Iterator

from perfectplay.game.spec import About, hookimpl
from perfectplay_native.kernel import Kernel
from perfectplay_quantik import notation, view
from perfectplay_quantik.rules import KERNEL

_RULES = """
Each player has two pieces of each of four shapes. A turn places one of them on an empty cell, but never in a row,
column or quarter of the board that contains an opposing piece of the same shape.

The player who completes a row, a column or a quarter with all four shapes, in any colours, wins. A player who cannot
move loses.
"""


@hookimpl
def kernel() -> Kernel:
    return KERNEL


@hookimpl
def about() -> About:
    return About("Quantik", _RULES)


encode = hookimpl(notation.encode)
decode = hookimpl(notation.decode)
notations = hookimpl(notation.notations)
format_move = hookimpl(notation.format_move)
parse_move = hookimpl(notation.parse_move)
board = hookimpl(view.board)


@hookimpl
def benchmarks() -> Iterator[tuple[str, float, str]]:
    from perfectplay_quantik import bench

    return bench.benchmarks()
