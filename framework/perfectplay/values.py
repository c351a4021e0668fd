"""What is known of a position, and how it is stored.

A value is an outcome for the side to move and a remoteness: the number of plies to the end when the winner
hurries and the loser resists. Stored, it is one small integer, `score << 16 | remoteness << 2 | outcome`:

    outcome bits   0 endless draw   1 loss   2 tie   3 win

Code 0 is the endless draw (neither side can force an end), code 4 marks a slot that holds no position. One byte
holds remoteness 0 to 63; a tier that needs more is stored in two bytes a position. In a game with scores four bytes
hold the score too, signed: by how much the side to move wins, which then comes before the number of plies.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache, total_ordering
from typing import Any

NO_POSITION_CODE = 4
"""Stored where a slot of a perfect index holds no position of the game."""


class Status(IntEnum):
    """How a position stands by rule alone, for the side to move. The numbers are those of the C header."""

    ONGOING = 0
    LOST = 1
    DRAWN = 2
    WON = 3


class Outcome(IntEnum):
    """Who wins under perfect play, for the side to move; ordered from worst to best."""

    LOSS = -1
    DRAW = 0
    WIN = 1


@total_ordering
@dataclass(frozen=True, slots=True)
class Value:
    """A solved position: `outcome`, and `remoteness` in plies, None for a draw that never ends.

    `score` is by how much the side to move wins, negative if it loses; 0 in a draw, and in games without scores.

    >>> Value(Outcome.WIN, 13)
    Value(outcome=<Outcome.WIN: 1>, remoteness=13)
    >>> str(Value(Outcome.WIN, 13)), str(Value(Outcome.DRAW, None)), str(Value(Outcome.DRAW, 9))
    ('win in 13', 'draw (endless)', 'draw in 9')
    >>> str(Value(Outcome.LOSS, 34, score=-10))
    'loss by 10 in 34'
    """

    outcome: Outcome
    remoteness: int | None
    score: int = 0

    def __post_init__(self) -> None:
        if self.remoteness is None and self.outcome is not Outcome.DRAW:
            raise ValueError("only a draw can be endless")
        if self.score and (self.score > 0) - (self.score < 0) != self.outcome:
            raise ValueError("the score must be positive in a win, negative in a loss")

    def __repr__(self) -> str:
        score = f", score={self.score}" if self.score else ""
        return f"Value(outcome={self.outcome!r}, remoteness={self.remoteness}{score})"

    @classmethod
    def from_code(cls, code: int) -> Value:
        """The value stored as `code`; ValueError where the code stands for no position."""
        return _from_code(int(code))

    @property
    def code(self) -> int:
        """The integer stored for this value."""
        if self.remoteness is None:
            return 0
        kind = {Outcome.LOSS: 1, Outcome.DRAW: 2, Outcome.WIN: 3}[self.outcome]
        return (self.score & 0xFFFF) << 16 | self.remoteness << 2 | kind

    def __str__(self) -> str:
        if self.remoteness is None:
            return "draw (endless)"
        by = f" by {abs(self.score)}" if self.score else ""
        return f"{self.outcome.name.lower()}{by} in {self.remoteness}"

    def __lt__(self, other: object) -> bool:
        """Values are ordered as the mover likes them, so that `max` is the best."""
        return self.preference() > other.preference() if isinstance(other, Value) else NotImplemented

    def for_parent(self, *, keeps_turn: bool = False) -> Value:
        """What moving to this position is worth to the player who moves there, and who may be to move here too.

        >>> Value(Outcome.LOSS, 4, score=-3).for_parent()
        Value(outcome=<Outcome.WIN: 1>, remoteness=5, score=3)
        """
        remoteness = None if self.remoteness is None else self.remoteness + 1
        if keeps_turn:
            return Value(self.outcome, remoteness, self.score)
        return Value(Outcome(-self.outcome), remoteness, -self.score)

    def preference(self) -> tuple[int, int, int]:
        """Sort key, the mover's best first: high scores; then quick wins, ties, endless draws, slow losses."""
        plies = self.remoteness
        if self.outcome is Outcome.WIN:
            return (0, -self.score, plies or 0)
        if self.outcome is Outcome.DRAW:
            return (1, 0, plies) if plies is not None else (2, 0, 0)
        return (3, -self.score, -(plies or 0))


def value_json(value: Value | None) -> dict[str, Any]:
    """A value in JSON, the same in every command and answer; nulls where it is not known.

    >>> value_json(Value(Outcome.WIN, 13))
    {'outcome': 'win', 'remoteness': 13}
    >>> value_json(Value(Outcome.LOSS, 4, score=-10))
    {'outcome': 'loss', 'remoteness': 4, 'score': -10}
    """
    if value is None:
        return {"outcome": None, "remoteness": None}
    score = {"score": value.score} if value.score else {}
    return {"outcome": value.outcome.name.lower(), "remoteness": value.remoteness, **score}


@cache
def _from_code(code: int) -> Value:
    kind, remoteness = code & 3, code >> 2 & 0x3FFF
    score = (code >> 16) - (code >> 31 << 16)  # 16 bits in two's complement
    if code == 0:
        return Value(Outcome.DRAW, None)
    if kind == 0:
        raise ValueError(f"value code {code} stands for no position")
    return Value({1: Outcome.LOSS, 2: Outcome.DRAW, 3: Outcome.WIN}[kind], remoteness, score)
