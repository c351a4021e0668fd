"""The value of a position, and the integer code that stores it.

A value is an outcome for the side to move and a remoteness: the number of plies to the end if the winner plays the
shortest win and the loser delays it. It is stored as the code `score << 16 | remoteness << 2 | outcome`:

    outcome bits   0 endless draw   1 loss   2 tie   3 win

Code 0 is the endless draw (neither side can force an end); code 4 marks a slot without a position. One byte per
position stores remoteness up to 63; a tier that needs more has two bytes. In a game with scores, four bytes also store
the signed score, the margin by which the side to move wins; it takes precedence over remoteness.

A table of outcomes stores only who wins, in two bits. In its codes the remoteness is all ones, which means unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache, total_ordering
from typing import Any

NO_POSITION_CODE = 4
"""The code of a slot that corresponds to no position."""

ENDLESS_CODE = 0
"""The code of an endless draw."""

UNKNOWN_REMOTENESS = 0x3FFF
"""The remoteness in codes of a table of outcomes; real ones are smaller."""


class Status(IntEnum):
    """The state of a position by the rules, for the side to move. The numbers are those of the C header."""

    ONGOING = 0
    LOST = 1
    DRAWN = 2
    WON = 3


class Outcome(IntEnum):
    """The result under perfect play for the side to move, ordered from worst to best."""

    LOSS = -1
    DRAW = 0
    WIN = 1


@total_ordering
@dataclass(frozen=True, slots=True)
class Value:
    """The value of a solved position: `outcome`, and `remoteness` in plies, which is None for an endless draw.

    `score` is the margin by which the side to move wins, negative for a loss; 0 for a draw and in games without scores.

    With `outcome_only` only the outcome is known, as in a table of outcomes: `remoteness` is None, `score` is 0, and a
    draw may be endless or not.

    >>> Value(Outcome.WIN, 13)
    Value(outcome=<Outcome.WIN: 1>, remoteness=13)
    >>> str(Value(Outcome.WIN, 13)), str(Value(Outcome.DRAW, None)), str(Value(Outcome.DRAW, 9))
    ('win in 13', 'draw (endless)', 'draw in 9')
    >>> str(Value(Outcome.LOSS, 34, score=-10))
    'loss by 10 in 34'
    >>> str(Value(Outcome.WIN, None, outcome_only=True))
    'win'
    """

    outcome: Outcome
    remoteness: int | None
    score: int = 0
    outcome_only: bool = False

    def __post_init__(self) -> None:
        if self.outcome_only and (self.remoteness is not None or self.score):
            raise ValueError("a value with outcome_only has neither remoteness nor score")
        if self.remoteness is None and self.outcome is not Outcome.DRAW and not self.outcome_only:
            raise ValueError("only a draw can be endless")
        if self.score and (self.score > 0) - (self.score < 0) != self.outcome:
            raise ValueError("the score must be positive in a win, negative in a loss")

    def __repr__(self) -> str:
        more = f", score={self.score}" if self.score else ", outcome_only=True" if self.outcome_only else ""
        return f"Value(outcome={self.outcome!r}, remoteness={self.remoteness}{more})"

    @classmethod
    def from_code(cls, code: int) -> Value:
        """Return the value of a code. Raises ValueError for the code of a slot without a position."""
        return _from_code(int(code))

    @property
    def code(self) -> int:
        """The code of this value."""
        if self.endless:
            return ENDLESS_CODE
        kind = {Outcome.LOSS: 1, Outcome.DRAW: 2, Outcome.WIN: 3}[self.outcome]
        remoteness = UNKNOWN_REMOTENESS if self.remoteness is None else self.remoteness
        return (self.score & 0xFFFF) << 16 | remoteness << 2 | kind

    @property
    def word(self) -> str:
        """The outcome in JSON."""
        return _OUTCOME_WORDS[self.outcome]

    @property
    def endless(self) -> bool:
        """Whether this is an endless draw."""
        return self.remoteness is None and not self.outcome_only

    def __str__(self) -> str:
        if self.outcome_only:
            return self.outcome.name.lower()
        if self.endless:
            return "draw (endless)"
        by = f" by {abs(self.score)}" if self.score else ""
        return f"{self.outcome.name.lower()}{by} in {self.remoteness}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<b>{self}</b>"

    def __lt__(self, other: object) -> bool:
        """Order values by the mover's preference, so that `max` is the best."""
        return self.preference() > other.preference() if isinstance(other, Value) else NotImplemented

    def for_parent(self, *, keeps_turn: bool = False) -> Value:
        """Return the value of a move to this position. With `keeps_turn` the same player moves again.

        >>> Value(Outcome.LOSS, 4, score=-3).for_parent()
        Value(outcome=<Outcome.WIN: 1>, remoteness=5, score=3)
        """
        remoteness = None if self.remoteness is None else self.remoteness + 1
        if keeps_turn:
            return Value(self.outcome, remoteness, self.score, self.outcome_only)
        return Value(Outcome(-self.outcome), remoteness, -self.score, self.outcome_only)

    def preference(self) -> tuple[int, int, int]:
        """Return a sort key, the mover's best first: high scores, quick wins, ties, endless draws, slow losses."""
        plies = self.remoteness
        if self.outcome is Outcome.WIN:
            return (0, -self.score, plies or 0)
        if self.outcome is Outcome.DRAW:
            return (1, 0, plies) if plies is not None else (2, 0, 0)
        return (3, -self.score, -(plies or 0))


_OUTCOME_WORDS = ("draw", "win", "loss")  # by outcome: -1 is the last


def value_json(value: Value | None, *, scored: bool) -> dict[str, Any]:
    """Return a value for JSON output; None becomes nulls.

    In a `scored` game every value has a score, including draws, unless only the outcome is known.

    >>> value_json(Value(Outcome.WIN, 13), scored=False)
    {'outcome': 'win', 'remoteness': 13}
    >>> value_json(Value(Outcome.DRAW, 4), scored=True)
    {'outcome': 'draw', 'remoteness': 4, 'score': 0}
    """
    if value is None:
        return {"outcome": None, "remoteness": None}
    fields: dict[str, Any] = {"outcome": value.word, "remoteness": value.remoteness}
    return fields | {"score": value.score} if scored and not value.outcome_only else fields


@cache
def _from_code(code: int) -> Value:
    kind, remoteness = code & 3, code >> 2 & 0x3FFF
    score = (code >> 16) - (code >> 31 << 16)  # 16 bits in two's complement
    if code == ENDLESS_CODE:
        return Value(Outcome.DRAW, None)
    if kind == 0:
        raise ValueError(f"value code {code} is not the code of a position")
    outcome = {1: Outcome.LOSS, 2: Outcome.DRAW, 3: Outcome.WIN}[kind]
    if remoteness == UNKNOWN_REMOTENESS:
        return Value(outcome, None, outcome_only=True)
    return Value(outcome, remoteness, score)
