"""A player that plays from a table: perfectly, or as badly as wanted."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING

from perfectplay.analysis.moves import rate_moves
from perfectplay.errors import UsageError
from perfectplay.table.table import Table
from perfectplay.values import Outcome, Status, Value

if TYPE_CHECKING:
    from perfectplay.table.table import Table


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


# How well a policy plays, measured against a table: the numbers people otherwise write themselves.
#
# A policy is anything that answers a position with a move, or with a probability for each of several. See docs/agents.md.

Policy = Callable[[int], int | Mapping[int, float]]
"""What to play in a position: a move, or a probability for each of several."""


@dataclass(slots=True)
class Depth:
    """The positions of one remoteness, and how often the policy gave the outcome away there."""

    positions: int = 0
    blunders: float = 0.0


@dataclass(slots=True)
class Evaluation:
    """What a policy's moves are worth. All shares and means are over the positions it was asked about."""

    positions: int = 0
    optimal: float = 0.0
    """The share of moves that are as good as any: outcome, score and distance."""
    kept: float = 0.0
    """The share of moves that keep the outcome."""
    value_regret: float = 0.0
    """The mean loss: in points where the game has scores; else a win counts 1, a draw 0, a loss -1."""
    remoteness_regret: float = 0.0
    """The mean number of plies by which a move delays a win or brings a loss nearer, and gives nothing else away; NaN
    where the table knows outcomes alone."""
    by_remoteness: dict[int | None, Depth] = field(default_factory=dict)
    """Blunders, moves that change the outcome, by the plies to the end under best play; None for endless draws, and
    for all of a table of outcomes."""

    def __str__(self) -> str:
        plies = "" if math.isnan(self.remoteness_regret) else f" and {self.remoteness_regret:.2f} plies"
        return (
            f"{self.positions:,} positions: {self.optimal:.1%} best moves, {self.kept:.1%} keep the outcome, "
            f"regret {self.value_regret:.3f} points{plies}"
        )


def evaluate_policy(table: Table, policy: Policy, positions: Iterable[int]) -> Evaluation:
    """Ask a policy about positions, and rate what it would play. Finished positions are passed over.

    A policy that answers with probabilities is rated by its expectation; they must add up to 1. Raises UsageError
    where it plays an illegal move, and NotInTable for a position that the table does not know.
    """
    result = Evaluation()
    for position in map(index, positions):
        if table.game.status(position) is Status.ONGOING:
            _rate(table, position, policy(position), result)
    if result.positions:
        for name in ("optimal", "kept", "value_regret", "remoteness_regret"):
            setattr(result, name, getattr(result, name) / result.positions)
    if table.outcomes_only:
        result.remoteness_regret = math.nan
    return result


def _rate(table: Table, position: int, answer: int | Mapping[int, float], result: Evaluation) -> None:
    worth = {move: each.value for each in rate_moves(table.game, table, position) for move in each.moves}
    best = min(worth.values(), key=Value.preference)
    depth = result.by_remoteness.setdefault(best.remoteness, Depth())
    result.positions += 1
    depth.positions += 1
    shares = answer if isinstance(answer, Mapping) else {answer: 1.0}
    if not all(share >= 0 for share in shares.values()):
        raise UsageError(f"the policy's shares in {table.game.decode(position)} are not probabilities")
    if abs(sum(shares.values()) - 1) > 1e-6:
        raise UsageError(f"the policy's probabilities in {table.game.decode(position)} do not add up to 1")
    for move, share in shares.items():
        if move not in worth:
            text = table.game.decode(position)
            raise UsageError(f"the policy plays {move} in {text}, which is not a legal move there")
        value = worth[move]
        result.optimal += share * (value == best)
        result.value_regret += share * (points(best) - points(value))
        if value.outcome is best.outcome:
            result.kept += share
            result.remoteness_regret += share * plies_lost(best, value)
        else:
            depth.blunders += share


def plies_lost(best: Value, value: Value) -> int:
    """By how many plies a move delays a win, or brings a loss nearer: 0 where it gives more than that away."""
    if best.outcome is Outcome.DRAW or (value.outcome, value.score) != (best.outcome, best.score):
        return 0
    return abs((value.remoteness or 0) - (best.remoteness or 0))
