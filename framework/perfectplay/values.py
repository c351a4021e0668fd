"""What is known of a position, and how it is stored.

A value is an outcome for the side to move and a remoteness: the number of plies to the end when the winner
hurries and the loser resists. Stored, it is one small integer, `remoteness << 2 | outcome`:

    outcome bits   0 endless draw   1 loss   2 tie   3 win

Code 0 is the endless draw (neither side can force an end), code 4 marks a slot that holds no position. One byte
holds remoteness 0 to 63; a tier that needs more is stored in two bytes a position.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache
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


@dataclass(frozen=True, slots=True)
class Value:
    """A solved position: `outcome`, and `remoteness` in plies, None for a draw that never ends.

    >>> Value(Outcome.WIN, 13)
    Value(outcome=<Outcome.WIN: 1>, remoteness=13)
    >>> str(Value(Outcome.WIN, 13)), str(Value(Outcome.DRAW, None)), str(Value(Outcome.DRAW, 9))
    ('win in 13', 'draw (endless)', 'draw in 9')
    """

    outcome: Outcome
    remoteness: int | None

    def __post_init__(self) -> None:
        if self.remoteness is None and self.outcome is not Outcome.DRAW:
            raise ValueError("only a draw can be endless")

    @classmethod
    def from_code(cls, code: int) -> Value:
        """The value stored as `code`; ValueError where the code stands for no position."""
        return _from_code(int(code))

    @property
    def code(self) -> int:
        """The integer stored for this value."""
        if self.remoteness is None:
            return 0
        return self.remoteness << 2 | {Outcome.LOSS: 1, Outcome.DRAW: 2, Outcome.WIN: 3}[self.outcome]

    def __str__(self) -> str:
        if self.remoteness is None:
            return "draw (endless)"
        return f"{self.outcome.name.lower()} in {self.remoteness}"

    def for_parent(self) -> Value:
        """What moving to this position is worth to the player who moves there."""
        remoteness = None if self.remoteness is None else self.remoteness + 1
        return Value(Outcome(-self.outcome), remoteness)

    def preference(self) -> tuple[int, int]:
        """Sort key, the mover's best first: quick wins, ties, endless draws, slow losses, quick losses."""
        plies = self.remoteness
        if self.outcome is Outcome.WIN:
            return (0, plies or 0)
        if self.outcome is Outcome.DRAW:
            return (1, plies) if plies is not None else (2, 0)
        return (3, -(plies or 0))


def value_json(value: Value | None) -> dict[str, Any]:
    """A value in JSON, the same in every command and answer; nulls where it is not known.

    >>> value_json(Value(Outcome.WIN, 13))
    {'outcome': 'win', 'remoteness': 13}
    """
    if value is None:
        return {"outcome": None, "remoteness": None}
    return {"outcome": value.outcome.name.lower(), "remoteness": value.remoteness}


@cache
def _from_code(code: int) -> Value:
    kind, remoteness = code & 3, code >> 2
    if code == 0:
        return Value(Outcome.DRAW, None)
    if kind == 0:
        raise ValueError(f"value code {code} stands for no position")
    return Value({1: Outcome.LOSS, 2: Outcome.DRAW, 3: Outcome.WIN}[kind], remoteness)
