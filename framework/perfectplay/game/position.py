"""A position that a person can hold: a number together with its game. Underneath, positions stay plain numbers."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Protocol, SupportsIndex

from perfectplay.errors import UsageError
from perfectplay.game.board import Board, svg
from perfectplay.values import Status, Value


class Rules(Protocol):
    """What a position asks of its game (`Game` has it all)."""

    @property
    def identity(self) -> str: ...
    def moves(self, position: SupportsIndex) -> list[int]: ...
    def apply(self, position: SupportsIndex, move: SupportsIndex) -> int: ...
    def canonicalize(self, position: SupportsIndex) -> int: ...
    def status(self, position: SupportsIndex) -> Status: ...
    def decode(self, position: SupportsIndex) -> str: ...
    def format_move(self, position: SupportsIndex, move: SupportsIndex) -> str: ...
    def parse_move(self, position: SupportsIndex, text: str) -> int: ...
    def board(self, position: SupportsIndex) -> Board | None: ...


class Probes(Protocol):
    """What has values: a `Table`."""

    def probe(self, position: SupportsIndex) -> Value: ...


@dataclass(frozen=True, slots=True, repr=False)
class Position:
    """One position of one game, from `Game.position`. It never changes: `apply` gives another one.

    Every function that takes a position takes one of these too.

    >>> from perfectplay import load_game
    >>> start = load_game("gobblet").position()
    >>> start
    <Position of gobblet: .,.,./.,.,./.,.,.:orange>
    >>> after = start.apply("L(1,1)")
    >>> str(after), len(after.moves), after.is_over
    ('.,.,./.,L,./.,.,.:blue', 24, False)
    """

    game: Rules
    number: int

    def __index__(self) -> int:
        return self.number

    __int__ = __index__

    def __str__(self) -> str:
        return self.game.decode(self.number)

    def __repr__(self) -> str:
        return f"<Position of {self.game.identity}: {self}>"

    @property
    def moves(self) -> list[str]:
        """The legal moves as people write them; none when the game is over."""
        return [self.game.format_move(self.number, move) for move in self.game.moves(self.number)]

    def apply(self, move: str | SupportsIndex) -> Position:
        """The position after a move, given as people write it or by its number; UsageError if it is not legal."""
        number = self.game.parse_move(self.number, move) if isinstance(move, str) else operator.index(move)
        if number not in self.game.moves(self.number):
            raise UsageError(f"move {number} is not legal in {self}")
        return Position(self.game, self.game.apply(self.number, number))

    @property
    def status(self) -> Status:
        """How the position stands by rule alone, for the side to move."""
        return self.game.status(self.number)

    @property
    def is_over(self) -> bool:
        return self.status is not Status.ONGOING

    def canonical(self) -> Position:
        """The position that stands for all that are the same up to symmetry."""
        return Position(self.game, self.game.canonicalize(self.number))

    def value(self, table: Probes) -> Value:
        """What a table says, for the side to move; NotInTable where it says nothing."""
        return table.probe(self.number)

    @property
    def board(self) -> Board | None:
        """The board to draw; None where the game has no drawing."""
        return self.game.board(self.number)

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        board = self.board
        return None if board is None else svg(board, over=self.is_over)
