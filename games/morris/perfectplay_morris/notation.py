"""Text forms of positions and moves.

A position is its points row by row, with W for a white man, B for a black man and . for an empty point; then the side
to move; then, while men are placed, the numbers of men that White and Black have in hand:

    W../.B./.../....../.../.../...:white:8-8

A move is the point where a man is placed, `a1`, or its source and target, `a1-d1`. A capture by a mill is added,
`a1-d1xg7`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from perfectplay_morris.geometry import Geometry
from perfectplay_morris.rules import BLACK, EMPTY, MAN_LETTERS, NONE, PLAYER_NAMES, WHITE, Move, Parts

_MOVE = re.compile(r"(?:([a-g][1-7])\s*[-→]\s*)?([a-g][1-7])(?:\s*x\s*([a-g][1-7]))?", re.IGNORECASE)
_ENDING = re.compile(r"(white|black)(?::([0-9])-([0-9]))?", re.IGNORECASE)


class Notation:
    """The text forms for one board."""

    def __init__(self, geometry: Geometry) -> None:
        self.geometry = geometry
        rows = groupby(range(len(geometry.places)), key=lambda point: geometry.places[point][0])
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
        """Return the position of a text, which the rules may not allow. Raise ValueError if the text has a fault."""
        board, _, ending = text.strip().partition(":")
        match = _ENDING.fullmatch(ending.strip())
        if match is None:
            men = self.geometry.men
            example = self.decode(Parts((0, 0), (men, men), WHITE).position)
            raise ValueError(f"write the board, the side to move, and any men in hand, like {example}")
        side = PLAYER_NAMES.index(match[1].capitalize())
        in_hand = (int(match[2] or 0), int(match[3] or 0))
        ahead = in_hand[side] - in_hand[1 - side]
        if ahead not in (0, 1):
            raise ValueError(
                f"{PLAYER_NAMES[side]} is to move with {in_hand[side]} men in hand against {in_hand[1 - side]}; "
                "the player to move must have the same number or one more"
            )
        return Parts(self._read_board(board), in_hand, side).position

    def _read_board(self, text: str) -> tuple[int, int]:
        rows = text.split("/")
        if [len(row) for row in rows] != [len(row) for row in self.rows]:
            empty = "/".join(EMPTY * len(row) for row in self.rows)
            raise ValueError(f"the board must have {len(self.rows)} rows, like {empty}")
        men = [0, 0]
        for row, points in zip(rows, self.rows, strict=True):
            for letter, point in zip(row.upper(), points, strict=True):
                if letter in MAN_LETTERS:
                    men[MAN_LETTERS.index(letter)] |= 1 << point
                elif letter != EMPTY:
                    raise ValueError(
                        f"{letter!r} at {self.geometry.names[point]} is not one of {EMPTY} {' '.join(MAN_LETTERS)}"
                    )
        return men[WHITE], men[BLACK]

    # ---- moves ----

    def format_move(self, number: int) -> str:
        names, move = self.geometry.names, Move.of(number)
        source = "" if move.source == NONE else f"{names[move.source]}-"
        captured = "" if move.captured == NONE else f"x{names[move.captured]}"
        return f"{source}{names[move.target]}{captured}"

    def parse_move(self, text: str) -> int:
        """Return the move of a text, legal or not. Raise ValueError if the text is not a move."""
        match = _MOVE.fullmatch(text.strip())
        if match is None:
            one, other, *_, last = self.geometry.names
            raise ValueError(
                f"write a point to place a man ({one}) or source and target ({one}-{other}), "
                f"and the man that a mill captures ({one}-{other}x{last})"
            )
        source, target, captured = (NONE if name is None else self._point(name.lower()) for name in match.groups())
        return Move(source, target, captured).number

    def _point(self, name: str) -> int:
        if name not in self.geometry.names:
            raise ValueError(f"the board has no point {name}")
        return self.geometry.names.index(name)

    def points(self) -> Iterator[tuple[int, str, int, int]]:
        """Yield number, name, row and column of each point; (0, 0) is the top left of the grid."""
        middle = self.geometry.squares
        for number, (name, (row, column)) in enumerate(zip(self.geometry.names, self.geometry.places, strict=True)):
            yield number, name, middle + row, middle + column
