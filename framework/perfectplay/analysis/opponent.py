"""An opponent that sets problems, at several strengths.

Many moves keep the value of a drawn or lost position, and a perfect player could choose any of them. This one chooses
the move after which the largest share of the other player's plausible replies loses ground. Weaker levels overlook only
what is hard to see: a win or a loss that is several plies away.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, SupportsIndex

from perfectplay.analysis.moves import RatedMove, rate_each_move
from perfectplay.errors import NotInTable, UsageError
from perfectplay.game.game import Move, Position
from perfectplay.values import Outcome, Status, Value

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table


class Strength(StrEnum):
    """How well an opponent plays."""

    PERFECT = "perfect"
    STRONG = "strong"
    CASUAL = "casual"
    RANDOM = "random"

    @property
    def slips(self) -> float:
        """The share of moves that are chosen without seeing farther than `sight`."""
        return {"perfect": 0.0, "strong": 0.1, "casual": 0.35, "random": 1.0}[self.value]

    @property
    def sight(self) -> int:
        """The number of plies within which even a slip overlooks no win and no loss."""
        return {"perfect": 0, "strong": 4, "casual": 2, "random": 0}[self.value]


def choose_move(
    game: Game,
    table: Table,
    position: SupportsIndex,
    strength: Strength,
    rng: random.Random,
    *,
    seen: Collection[int] = (),
) -> Move:
    """Choose a move as an opponent of this strength.

    `seen` are the positions of the game so far. Unless it wins, the opponent avoids moves back to them, because a
    repetition ends the game as a draw. Raises UsageError if the game is over.
    """
    probabilities = move_probabilities(game, table, position, strength, seen=seen)
    if not probabilities:
        raise UsageError(f"there is no move in {game.decode(position)}: the game is over")
    return rng.choices(list(probabilities), weights=list(probabilities.values()))[0]


def move_probabilities(
    game: Game, table: Table, position: SupportsIndex, strength: Strength, *, seen: Collection[int] = ()
) -> dict[Move, float]:
    """Return the probability of each legal move that an opponent of this strength may choose; empty at the end.

    Raises NotInTable if the table lacks the value of a move.
    """
    position = Position(game, position)
    if strength is Strength.RANDOM:
        moves = position.moves
        return {move: 1 / len(moves) for move in moves}
    rated = rate_each_move(game, table, int(position))
    if any(each.value is None for each in rated):
        raise NotInTable(f"{game.name}: the table has no value for a move of position {int(position)}")
    if not rated:
        return {}
    weights: dict[int, float] = {}
    for share, candidates in (
        (1 - strength.slips, find_problems(game, table, rated, seen)),
        (strength.slips, overlook(game, rated, strength.sight)),
    ):
        for each in candidates:
            weights[each.move] = weights.get(each.move, 0.0) + share / len(candidates)
    return {Move(position, move): weight for move, weight in weights.items() if weight}


# ---- setting problems ----


def find_problems(game: Game, table: Table, rated: Sequence[RatedMove], seen: Collection[int] = ()) -> list[RatedMove]:
    """Return the moves of equal value that set the hardest problem. `rated` are all moves, best first.

    A win is played by the shortest way. In a drawn or lost position, all moves with the best outcome and score are
    equal. The share of replies that lose ground decides among them, then depth: the slowest loss, the longest draw.
    """
    best = rated[0].value
    assert best is not None
    if best.outcome is Outcome.WIN:
        quickest = [each for each in rated if each.value == best]
        ending = [each for each in quickest if game.status(each.child) is not Status.ONGOING]
        return ending or quickest  # with a table of outcomes, all winning moves have the same value
    equal = [each for each in rated if each.value is not None and _ground(each.value) == _ground(best)]
    fresh = [each for each in equal if each.child not in seen]
    difficulty: dict[int, tuple[bool, float, float]] = {}  # by group, because symmetric moves set the same problem
    for each in fresh or equal:
        if each.group not in difficulty:
            difficulty[each.group] = _difficulty(game, table, each)
    hardest = max(difficulty.values())
    return [each for each in fresh or equal if difficulty[each.group] == hardest]


def _ground(value: Value) -> tuple[Outcome, int]:
    return value.outcome, value.score


def _difficulty(game: Game, table: Table, move: RatedMove) -> tuple[bool, float, float]:
    """Return how hard a move is to answer: no win at once, the share of replies that lose ground, and depth.

    Only replies that look best to a player of little sight count, because players rarely fall into an obvious trap. The
    share is the mean for two sights, because the other player's is unknown.
    """
    assert move.value is not None
    plies = move.value.remoteness
    depth = float("inf") if plies is None else plies
    replies = [each for each in rate_each_move(game, table, move.child) if each.value is not None]
    if not replies or replies[0].value is None:
        return False, 0.0, depth
    best = replies[0].value
    shares = []
    for sight in (Strength.CASUAL.sight, Strength.STRONG.sight):
        plausible = overlook(game, replies, sight)
        losing = sum(each.value is not None and _ground(each.value) < _ground(best) for each in plausible)
        shares.append(losing / len(plausible))
    return not (best.outcome is Outcome.WIN and best.remoteness == 1), sum(shares) / len(shares), depth


# ---- slips ----


def overlook(game: Game, rated: Sequence[RatedMove], sight: int) -> list[RatedMove]:
    """Return the moves that look best to a player who sees wins and losses only within `sight` plies.

    Everything else looks equal. Without distances, as in a table of outcomes, only an immediate end is seen.
    """

    def looks(each: RatedMove) -> tuple[int, int]:
        value = each.value
        assert value is not None
        plies = value.remoteness
        if value.outcome_only:
            plies = 1 if sight and game.status(each.child) is not Status.ONGOING else None
        if plies is None or plies > sight or value.outcome is Outcome.DRAW:
            return 0, 0
        return int(value.outcome), -plies if value.outcome is Outcome.WIN else plies

    appearance = [looks(each) for each in rated]
    best = max(appearance, default=(0, 0))
    return [each for each, look in zip(rated, appearance, strict=True) if look == best]
