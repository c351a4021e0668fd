"""What is known of a position, and how it is stored.

A value is an outcome for the side to move and a remoteness: the number of plies to the end when the winner
hurries and the loser resists. Stored, it is one small integer, `score << 16 | remoteness << 2 | outcome`:

    outcome bits   0 endless draw   1 loss   2 tie   3 win

Code 0 is the endless draw (neither side can force an end), code 4 marks a slot that holds no position. One byte
holds remoteness 0 to 63; a tier that needs more is stored in two bytes a position. In a game with scores four bytes
hold the score too, signed: by how much the side to move wins, which then comes before the number of plies.

A table of outcomes keeps who wins and nothing else, in two bits; in its codes the remoteness is all ones: not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cache, total_ordering
from typing import Any

NO_POSITION_CODE = 4
"""Stored where a slot of a perfect index holds no position of the game."""

ENDLESS_CODE = 0
"""Of a draw that never ends."""

UNKNOWN_REMOTENESS = 0x3FFF
"""In codes: a table stores no remoteness as large."""


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

    With `outcome_only` nobody knows more than who wins: `remoteness` is None, a draw may be endless or not, and `score`
    says nothing. All values of a table of outcomes are so.

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
            raise ValueError("where only the outcome is known, there is neither remoteness nor score")
        if self.remoteness is None and self.outcome is not Outcome.DRAW and not self.outcome_only:
            raise ValueError("only a draw can be endless")
        if self.score and (self.score > 0) - (self.score < 0) != self.outcome:
            raise ValueError("the score must be positive in a win, negative in a loss")

    def __repr__(self) -> str:
        more = f", score={self.score}" if self.score else ", outcome_only=True" if self.outcome_only else ""
        return f"Value(outcome={self.outcome!r}, remoteness={self.remoteness}{more})"

    @classmethod
    def from_code(cls, code: int) -> Value:
        """The value stored as `code`; ValueError where the code stands for no position."""
        return _from_code(int(code))

    @property
    def code(self) -> int:
        """The integer that stands for this value."""
        if self.endless:
            return ENDLESS_CODE
        kind = {Outcome.LOSS: 1, Outcome.DRAW: 2, Outcome.WIN: 3}[self.outcome]
        remoteness = UNKNOWN_REMOTENESS if self.remoteness is None else self.remoteness
        return (self.score & 0xFFFF) << 16 | remoteness << 2 | kind

    @property
    def word(self) -> str:
        """The outcome as JSON names it."""
        return _OUTCOME_WORDS[self.outcome]

    @property
    def endless(self) -> bool:
        """Whether this is a draw that is known never to end."""
        return self.remoteness is None and not self.outcome_only

    def __str__(self) -> str:
        if self.outcome_only:
            return self.outcome.name.lower()
        if self.endless:
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
            return Value(self.outcome, remoteness, self.score, self.outcome_only)
        return Value(Outcome(-self.outcome), remoteness, -self.score, self.outcome_only)

    def preference(self) -> tuple[int, int, int]:
        """Sort key, the mover's best first: high scores; then quick wins, ties, endless draws, slow losses."""
        plies = self.remoteness
        if self.outcome is Outcome.WIN:
            return (0, -self.score, plies or 0)
        if self.outcome is Outcome.DRAW:
            return (1, 0, plies) if plies is not None else (2, 0, 0)
        return (3, -self.score, -(plies or 0))


_OUTCOME_WORDS = ("draw", "win", "loss")  # by outcome: -1 is the last


def value_json(value: Value | None, *, scored: bool) -> dict[str, Any]:
    """A value in JSON, the same in every command and answer; nulls where it is not known.

    In a `scored` game every known value has a score, a draw's too; where only the outcome is known, none has.

    >>> value_json(Value(Outcome.WIN, 13), scored=False)
    {'outcome': 'win', 'remoteness': 13}
    >>> value_json(Value(Outcome.DRAW, 4), scored=True)
    {'outcome': 'draw', 'remoteness': 4, 'score': 0}
    """
    if value is None:
        return {"outcome": None, "remoteness": None}
    known: dict[str, Any] = {"outcome": value.word, "remoteness": value.remoteness}
    return known | {"score": value.score} if scored and not value.outcome_only else known


@cache
def _from_code(code: int) -> Value:
    kind, remoteness = code & 3, code >> 2 & 0x3FFF
    score = (code >> 16) - (code >> 31 << 16)  # 16 bits in two's complement
    if code == ENDLESS_CODE:
        return Value(Outcome.DRAW, None)
    if kind == 0:
        raise ValueError(f"value code {code} stands for no position")
    outcome = {1: Outcome.LOSS, 2: Outcome.DRAW, 3: Outcome.WIN}[kind]
    if remoteness == UNKNOWN_REMOTENESS:
        return Value(outcome, None, outcome_only=True)
    return Value(outcome, remoteness, score)
