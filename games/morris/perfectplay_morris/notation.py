"""People's ways to write positions and moves, and back.

A position is its points row by row, W for a white man, B for a black one, . for none; then who is to move; then, while
men are being placed, how many White and Black still have in hand:

    W../.B./.../....../.../.../...:white:8-8

A move is the point a man is placed on, `a1`, or the two he goes between, `a1-d1`; a mill adds whom it takes,
`a1-d1xg7`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from perfectplay_morris.layout import Layout

BLACK_SHIFT, HAND_SHIFT, SIDE_SHIFT = 24, 48, 53
"""Where the parts of a position begin, after White's men; position.h draws them."""
ALL_POINTS = (1 << BLACK_SHIFT) - 1

WHITE, BLACK = PLAYERS = (0, 1)
PLAYER_NAMES = ("White", "Black")
MAN_LETTERS = "WB"
EMPTY = "."
NONE = 31
"""Stands in a move for no point: placed from the hand, or nobody taken."""

_MOVE = re.compile(r"(?:([a-g][1-7])\s*[-→]\s*)?([a-g][1-7])(?:\s*x\s*([a-g][1-7]))?", re.IGNORECASE)
_ENDING = re.compile(r"(white|black)(?::([0-9])-([0-9]))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Parts:
    """A position taken apart: men on the board and in hand, of White and of Black, and who is to move."""

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
    """A move taken apart; each is a point, or NONE."""

    source: int
    target: int
    taken: int

    @classmethod
    def of(cls, move: int) -> Move:
        return cls(move >> 5 & 31, move & 31, move >> 10)

    @property
    def number(self) -> int:
        return self.taken << 10 | self.source << 5 | self.target


class Notation:
    """The texts of one board."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        rows = groupby(range(len(layout.places)), key=lambda point: layout.places[point][0])
        self.rows = [list(points) for _, points in rows]

    # ---- positions ----

    def decode(self, position: int) -> str:
        parts = Parts.of(position)
        owners = [[parts.owner(point) for point in row] for row in self.rows]
        rows = ("".join(EMPTY if owner is None else MAN_LETTERS[owner] for owner in row) for row in owners)
        ending = f":{PLAYER_NAMES[parts.side].lower()}"
        if any(parts.in_hand):
            ending += ":{}-{}".format(*parts.in_hand)
        return "/".join(rows) + ending

    def encode(self, text: str) -> int:
        """ValueError says what is wrong, and where. Whether play allows the position is for the rules to say."""
        board, _, ending = text.strip().partition(":")
        match = _ENDING.fullmatch(ending.strip())
        if match is None:
            men = self.layout.men
            example = self.decode(Parts((0, 0), (men, men), WHITE).position)
            raise ValueError(f"write the board, who is to move, and the men in hand, if any, like {example}")
        side = PLAYER_NAMES.index(match[1].capitalize())
        in_hand = (int(match[2] or 0), int(match[3] or 0))
        ahead = in_hand[side] - in_hand[1 - side]
        if ahead not in (0, 1):
            raise ValueError(
                f"{PLAYER_NAMES[side]} is to move with {in_hand[side]} men in hand to {in_hand[1 - side]}: "
                "the player to move has as many, or one more"
            )
        return Parts(self._read_board(board), in_hand, side).position

    def _read_board(self, text: str) -> tuple[int, int]:
        rows = text.split("/")
        if [len(row) for row in rows] != [len(row) for row in self.rows]:
            empty = "/".join(EMPTY * len(row) for row in self.rows)
            raise ValueError(f"the board has {len(self.rows)} rows, like {empty}")
        men = [0, 0]
        for row, points in zip(rows, self.rows, strict=True):
            for letter, point in zip(row.upper(), points, strict=True):
                if letter in MAN_LETTERS:
                    men[MAN_LETTERS.index(letter)] |= 1 << point
                elif letter != EMPTY:
                    raise ValueError(
                        f"{letter!r} at {self.layout.names[point]} is none of {EMPTY} {' '.join(MAN_LETTERS)}"
                    )
        return men[WHITE], men[BLACK]

    # ---- moves ----

    def format_move(self, number: int) -> str:
        names, move = self.layout.names, Move.of(number)
        source = "" if move.source == NONE else f"{names[move.source]}-"
        taken = "" if move.taken == NONE else f"x{names[move.taken]}"
        return f"{source}{names[move.target]}{taken}"

    def parse_move(self, text: str) -> int:
        """The number of a move, legal or not."""
        match = _MOVE.fullmatch(text.strip())
        if match is None:
            one, other, *_, last = self.layout.names
            ways = f"a point to place on, {one}, or both points, {one}-{other}"
            raise ValueError(f"write {ways}, and whom a mill takes, {one}-{other}x{last}")
        source, target, taken = (NONE if name is None else self._point(name.lower()) for name in match.groups())
        return Move(source, target, taken).number

    def _point(self, name: str) -> int:
        if name not in self.layout.names:
            raise ValueError(f"the board has no point {name}")
        return self.layout.names.index(name)

    def points(self) -> Iterator[tuple[int, str, int, int]]:
        """Number, name, row and column of each point, on a grid whose top left is (0, 0)."""
        middle = self.layout.squares
        for number, (name, (row, column)) in enumerate(zip(self.layout.names, self.layout.places, strict=True)):
            yield number, name, middle + row, middle + column
