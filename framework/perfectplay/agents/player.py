"""A player that plays from a table: perfectly, or as badly as wanted."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

from perfectplay.errors import UsageError
from perfectplay.queries.moves import rate_moves
from perfectplay.values import Value

if TYPE_CHECKING:
    from perfectplay.tables.table import Table


class TablePlayer:
    """Plays a best move; among equally good ones chance decides. It is a policy: `player(position)` is a move.

    With `mistakes` so large a share of its moves is any legal move at all. With a `temperature` it draws moves with
    probability proportional to exp(worth / temperature), a win being worth 1, a draw 0 and a loss -1, or the score
    where the game has one. The same seed gives the same games. Not to be shared by threads.
    """

    def __init__(
        self, table: Table, *, mistakes: float = 0.0, temperature: float = 0.0, seed: int | None = None
    ) -> None:
        if not 0 <= mistakes <= 1:
            raise UsageError(f"the share of mistakes is from 0 to 1, not {mistakes}")
        if not (temperature >= 0 and math.isfinite(temperature)):
            raise UsageError(f"a temperature is a number from 0 up, not {temperature}")
        self.table = table
        self._mistakes, self._temperature = mistakes, temperature
        self._chance = random.Random(seed)

    def __call__(self, position: int) -> int:
        """The move it plays; UsageError where the game is over."""
        shares = self.probabilities(position)
        if not shares:
            raise UsageError(f"there is nothing to play in {self.table.game.decode(position)}: the game is over")
        return self._chance.choices(list(shares), weights=list(shares.values()))[0]

    def probabilities(self, position: int) -> dict[int, float]:
        """How likely it plays each legal move; NotInTable where the table does not know them all."""
        rated = [
            (move, each.value) for each in rate_moves(self.table.game, self.table, position) for move in each.moves
        ]
        if not rated:
            return {}
        best = rated[0][1]
        if self._temperature:
            weights = [math.exp((points(value) - points(best)) / self._temperature) for _, value in rated]
        else:
            weights = [float(value == best) for _, value in rated]
        total, slip = sum(weights), self._mistakes / len(rated)
        return {
            move: (1 - self._mistakes) * weight / total + slip for (move, _), weight in zip(rated, weights, strict=True)
        }


def points(value: Value) -> int:
    """What a value is worth in points: the score, or 1, 0 and -1 where there is none."""
    return value.score or int(value.outcome)
