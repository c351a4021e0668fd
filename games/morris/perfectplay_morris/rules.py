"""The bits of positions and moves, which position.h and kernel.c draw. The rules themselves are in the C kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perfectplay_native.positions import Positions

BLACK_SHIFT, HAND_SHIFT, SIDE_SHIFT = 24, 48, 53
"""The lowest bits of Black's men, the men in hand and the side to move; White's men begin at bit 0."""
ALL_POINTS = (1 << BLACK_SHIFT) - 1

WHITE, BLACK = PLAYERS = (0, 1)
PLAYER_NAMES = ("White", "Black")
MAN_LETTERS = "WB"
EMPTY = "."
NONE = 31
"""No point: the source of a placement, or the captured man of a move without a capture."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a position: men on the board and in hand of White and Black, and the side to move."""

    men: tuple[int, int]
    in_hand: tuple[int, int]
    side: int

    @classmethod
    def of(cls, position: int) -> Parts:
        side, both = position >> SIDE_SHIFT & 1, position >> HAND_SHIFT & 31
        hands = ((both + 1) // 2, both // 2)  # the mover has the odd one
        men = (position & ALL_POINTS, position >> BLACK_SHIFT & ALL_POINTS)
        return cls(men, hands if side == WHITE else hands[::-1], side)

    @property
    def position(self) -> int:
        white, black = self.men
        return white | black << BLACK_SHIFT | sum(self.in_hand) << HAND_SHIFT | self.side << SIDE_SHIFT

    def owner(self, point: int) -> int | None:
        return next((player for player in PLAYERS if self.men[player] >> point & 1), None)


@dataclass(frozen=True, slots=True)
class Move:
    """The parts of a move, each a point or NONE."""

    source: int
    target: int
    captured: int

    @classmethod
    def of(cls, move: int) -> Move:
        return cls(move >> 5 & 31, move & 31, move >> 10)

    @property
    def number(self) -> int:
        return self.captured << 10 | self.source << 5 | self.target


def swap_colours(positions: Positions) -> Positions:
    """Return the positions with the colours of all men exchanged, and the other player to move."""
    white, black = positions & ALL_POINTS, positions >> BLACK_SHIFT & ALL_POINTS
    rest = positions >> HAND_SHIFT << HAND_SHIFT ^ (1 << SIDE_SHIFT)
    return (black | white << BLACK_SHIFT | rest).astype(np.uint64)
