"""For training and testing agents: perfect players, and the evaluation of other players against a table.

A policy is any function from a position to a move, or to a probability for each of several moves. See docs/agents.md.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING, Any

from perfectplay.analysis.moves import rate_moves
from perfectplay.analysis.opponent import Strength, move_probabilities
from perfectplay.errors import UsageError
from perfectplay.table.table import Table
from perfectplay.values import Outcome, Status, Value

if TYPE_CHECKING:
    from pettingzoo import AECEnv

__all__ = ["Depth", "Evaluation", "PettingZooOpponent", "Policy", "TablePlayer", "evaluate_policy"]

Policy = Callable[[int], int | Mapping[int, float]]
"""Returns the move to play in a position, or a probability for each of several moves."""


# ---- playing ----


class TablePlayer:
    """Plays a best move, chosen at random among equally good ones. It is a policy: `player(position)` returns a move.

    `mistakes` is the share of moves that are chosen at random from all legal moves. With a `temperature`, the
    probability of a move is proportional to exp(points / temperature), where points are the score, or 1 for a win, 0
    for a draw and -1 for a loss. With a `strength` the player is the opponent of `choose_move`, which sets problems and
    overlooks only what is hard to see. The same seed gives the same games. An instance must not be shared between
    threads.
    """

    def __init__(
        self,
        table: Table,
        *,
        strength: Strength | None = None,
        mistakes: float = 0.0,
        temperature: float = 0.0,
        seed: int | None = None,
    ) -> None:
        if strength is not None and (mistakes or temperature):
            raise UsageError("choose either a strength, or a share of mistakes and a temperature")
        if not 0 <= mistakes <= 1:
            raise UsageError(f"the share of mistakes must be from 0 to 1, not {mistakes}")
        if not (temperature >= 0 and math.isfinite(temperature)):
            raise UsageError(f"the temperature must be a number from 0 up, not {temperature}")
        self.table = table
        self._strength = strength
        self._mistakes, self._temperature = mistakes, temperature
        self._random = random.Random(seed)

    def __call__(self, position: int) -> int:
        """Return the move to play. Raises UsageError if the game is over."""
        probabilities = self.probabilities(position)
        if not probabilities:
            raise UsageError(f"there is no move in {self.table.game.decode(position)}: the game is over")
        return self._random.choices(list(probabilities), weights=list(probabilities.values()))[0]

    def probabilities(self, position: int) -> dict[int, float]:
        """Return the probability of each legal move. Raises NotInTable if the table lacks the value of one."""
        if self._strength is not None:
            chosen = move_probabilities(self.table.game, self.table, position, self._strength)
            shares = {int(move): share for move, share in chosen.items()}
            return {move: shares.get(move, 0.0) for move in self.table.game.moves(position)}
        rated = [
            (int(move), each.value) for each in rate_moves(self.table.game, self.table, position) for move in each.moves
        ]
        if not rated:
            return {}
        best = rated[0][1]
        if self._temperature:
            weights = [math.exp((points(value) - points(best)) / self._temperature) for _, value in rated]
        else:
            weights = [float(value == best) for _, value in rated]
        total, mistake = sum(weights), self._mistakes / len(rated)
        return {
            move: (1 - self._mistakes) * weight / total + mistake
            for (move, _), weight in zip(rated, weights, strict=True)
        }


def points(value: Value) -> int:
    """Return the score of a value, or 1, 0 and -1 in games without scores."""
    return value.score or int(value.outcome)


# ---- evaluation ----


@dataclass(slots=True)
class Depth:
    """The positions of one remoteness, and how often the policy changed the outcome there."""

    positions: int = 0
    blunders: float = 0.0


@dataclass(slots=True)
class Evaluation:
    """The quality of a policy. All shares and means are over the evaluated positions."""

    positions: int = 0
    optimal: float = 0.0
    """The share of moves that no other move surpasses in outcome, score or distance."""
    kept: float = 0.0
    """The share of moves that keep the outcome."""
    value_regret: float = 0.0
    """The mean loss in points: scores, or 1 for a win, 0 for a draw and -1 for a loss."""
    remoteness_regret: float = 0.0
    """The mean number of plies by which moves delay a win or hasten a loss with the same score; NaN for a table of
    outcomes."""
    by_remoteness: dict[int | None, Depth] = field(default_factory=dict)
    """Blunders (moves that change the outcome) by remoteness; None for endless draws and for a table of outcomes."""

    def __str__(self) -> str:
        plies = "" if math.isnan(self.remoteness_regret) else f" and {self.remoteness_regret:.2f} plies"
        return (
            f"{self.positions:,} positions: {self.optimal:.1%} best moves, {self.kept:.1%} keep the outcome, "
            f"regret {self.value_regret:.3f} points{plies}"
        )


def evaluate_policy(table: Table, policy: Policy, positions: Iterable[int]) -> Evaluation:
    """Rate the moves of a policy in these positions, except finished ones.

    A policy that returns probabilities is rated by its expectation. Raises UsageError if they do not add up to 1 or a
    move is illegal, and NotInTable for a position that the table lacks.
    """
    result = Evaluation()
    for position in map(index, positions):
        if table.game.status(position) is Status.ONGOING:
            _rate(table, position, policy(position), result)
    if result.positions:
        result.optimal /= result.positions
        result.kept /= result.positions
        result.value_regret /= result.positions
        result.remoteness_regret /= result.positions
    if table.outcomes_only:
        result.remoteness_regret = math.nan
    return result


def _rate(table: Table, position: int, answer: int | Mapping[int, float], result: Evaluation) -> None:
    values = {int(move): each.value for each in rate_moves(table.game, table, position) for move in each.moves}
    best = min(values.values(), key=Value.preference)
    depth = result.by_remoteness.setdefault(best.remoteness, Depth())
    result.positions += 1
    depth.positions += 1
    probabilities = answer if isinstance(answer, Mapping) else {answer: 1.0}
    if not all(share >= 0 for share in probabilities.values()):
        raise UsageError(
            f"the policy returned {probabilities} in {table.game.decode(position)}, which are not probabilities"
        )
    if abs(sum(probabilities.values()) - 1) > 1e-6:
        raise UsageError(f"the policy's probabilities in {table.game.decode(position)} do not add up to 1")
    for move, share in probabilities.items():
        if move not in values:
            raise UsageError(f"the policy returned {move} in {table.game.decode(position)}, which is not a legal move")
        value = values[move]
        result.optimal += share * (value == best)
        result.value_regret += share * (points(best) - points(value))
        if value.outcome is best.outcome:
            result.kept += share
            result.remoteness_regret += share * plies_lost(best, value)
        else:
            depth.blunders += share


def plies_lost(best: Value, value: Value) -> int:
    """Return by how many plies a move delays a win or hastens a loss; 0 if its outcome or score is worse as well."""
    if best.outcome is Outcome.DRAW or (value.outcome, value.score) != (best.outcome, best.score):
        return 0
    return abs((value.remoteness or 0) - (best.remoteness or 0))


class PettingZooOpponent:
    """Moves for the agent to move: ``env.step(opponent(env))``.

    Two functions connect the environment and the game: `position` returns the position on the environment's board,
    `action` converts a move to an action (by default the same number).
    """

    def __init__(
        self,
        player: TablePlayer,
        position: Callable[[AECEnv[Any, Any, Any]], int],
        action: Callable[[int], int] = int,
    ) -> None:
        self._player, self._position, self._action = player, position, action

    def __call__(self, env: AECEnv[Any, Any, Any]) -> int | None:
        """Return the action of the agent to move; None, as PettingZoo expects, if the game is over."""
        _, _, terminated, truncated, _ = env.last(observe=False)
        return None if terminated or truncated else self._action(self._player(self._position(env)))
