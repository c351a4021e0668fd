"""Questions about many positions at once, as numpy arrays: exports ask them of every position of the table."""

from __future__ import annotations

import numpy as np

from perfectplay_gobblet.layout import CELLS, SIZES, piece_bits, side_bits
from perfectplay_native.positions import Positions


def _all_pieces(player: int) -> np.uint64:
    return np.uint64(sum(piece_bits(player, cell, size) for cell in CELLS for size in SIZES))


_ORANGE, _BLUE = _all_pieces(0), _all_pieces(1)
_SIDE = np.uint64(side_bits(1))
_ONE = np.uint64(1)


def colours_swapped(positions: Positions) -> Positions:
    """The same boards with every piece the other player's, and the other player to move."""
    swapped = (positions & _ORANGE) << _ONE | (positions & _BLUE) >> _ONE
    return np.asarray(swapped | (positions & _SIDE ^ _SIDE), dtype=np.uint64)
