"""How well a policy plays, measured against a table: the numbers people otherwise write themselves.

A policy is anything that answers a position with a move, or with a probability for each of several. See docs/agents.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from operator import index

from perfectplay.agents.player import points
from perfectplay.errors import UsageError
from perfectplay.queries.moves import rate_moves
from perfectplay.tables.table import Table
from perfectplay.values import Outcome, Status, Value

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
