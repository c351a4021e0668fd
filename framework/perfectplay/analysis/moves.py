"""What a table says about the moves of a position: for every command and page that shows or picks moves."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from perfectplay.errors import PLUGIN_FAULTS, NotInTable
from perfectplay.game.engine import explain_fault
from perfectplay.game.wording import counted, plies
from perfectplay.values import NO_POSITION_CODE, Outcome, Status, Value

if TYPE_CHECKING:
    from perfectplay.game.game import Game
    from perfectplay.table.table import Table

_UNKNOWN_LAST = (9,)


class RatedMove(NamedTuple):
    """One legal move, where it leads, and what it is worth to the player who makes it."""

    move: int
    child: int
    value: Value | None
    """None where the table does not know."""
    group: int
    """Equal for moves that are the same up to symmetry."""


@dataclass(frozen=True, slots=True)
class RatedMoves:
    """Moves that are the same up to symmetry, and what they are worth to the player who makes them."""

    moves: list[int]
    value: Value


def rate_each_move(game: Game, table: Table | None, position: int) -> list[RatedMove]:
    """Every legal move of a position, the best first, those of unknown worth last; without a table all are unknown.

    A server asks this thousands of times a second: each child is made once by the bare rules, and the table is asked
    about all of them in one call. The position must be one of the game's.
    """
    rules = game.rules
    try:
        moves = list(rules.moves(position))
        children, canonical = rules.follow(position, moves)
        keeping = _turns_kept(game, position, children)
    except PLUGIN_FAULTS as error:
        raise explain_fault(game, "all", position, error) from error
    try:
        codes = [NO_POSITION_CODE] * len(moves) if table is None else table.probe_few(children)
    except (OverflowError, TypeError) as error:  # a move leads to what cannot be a position at all
        raise explain_fault(game, "all", position, error) from error
    worths, orders = zip(*map(_worth, codes, keeping), strict=True) if moves else ((), ())
    groups: dict[int, int] = {}
    same = [groups.setdefault(image, len(groups)) for image in canonical]
    rated = [*map(RatedMove._make, zip(moves, children, worths, same, strict=True))]
    return [rated[each] for each in sorted(range(len(moves)), key=orders.__getitem__)]


def rate_moves(game: Game, table: Table, position: int, *, known_only: bool = False) -> list[RatedMoves]:
    """The legal moves with their worth, the best first; those that are the same up to symmetry together.

    NotInTable where the table does not know a move's worth; with `known_only` such moves are left out.
    """
    groups: dict[int, RatedMoves] = {}
    for each in rate_each_move(game, table, position):
        if each.value is not None:
            groups.setdefault(each.group, RatedMoves([], each.value)).moves.append(each.move)
        elif not known_only:
            raise NotInTable(
                f"{game.name}: the table does not know every move of position {position}; "
                f"if it is finished, {game.advice}"
            )
    return list(groups.values())


def _turns_kept(game: Game, position: int, children: Sequence[int]) -> Iterable[bool]:
    """For each child whether it is the same player's turn there."""
    mover = game.rules.mover
    if mover is None or game.turns_alternate:
        return repeat(game.is_puzzle, len(children))
    mine = mover(position)
    return [mover(child) == mine for child in children]


@cache
def _worth(child_code: int, keeps_turn: bool) -> tuple[Value | None, tuple[int, ...]]:
    """What moving to a position with this value code is worth, and its place in the order."""
    if child_code == NO_POSITION_CODE:
        return None, _UNKNOWN_LAST
    value = Value.from_code(child_code).for_parent(keeps_turn=keeps_turn)
    return value, value.preference()


class Judgement(NamedTuple):
    """What is to be said of a move that was not the best: a mark as chess players write it, and why."""

    mark: str
    comment: str


_FLAWLESS = Judgement("", "")


def judge(before: Value | None, worth: Value | None, *, puzzle: bool = False) -> Judgement:
    """A move of this worth, made where the best was `before`: ?? or ? if it changed the outcome, ?! if only the length.

    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.LOSS, 2))
    Judgement(mark='??', comment='throws the win away: now a loss')
    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.WIN, 9))
    Judgement(mark='?!', comment='wins 4 plies later than necessary')
    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.LOSS, 2), puzzle=True)
    Judgement(mark='??', comment='can no longer be solved')
    >>> judge(Value(Outcome.LOSS, 5, score=-2), Value(Outcome.LOSS, 3, score=-6), puzzle=True)
    Judgement(mark='?', comment='gives 4 away')
    """
    if before is None or worth is None:
        return _FLAWLESS
    if puzzle:
        return _judge_alone(before, worth)
    if worth.outcome < before.outcome:
        mark = "?" * (before.outcome - worth.outcome)
        return Judgement(mark, f"throws the {before.outcome.name.lower()} away: now a {worth.outcome.name.lower()}")
    if worth.score < before.score:
        return Judgement("?", f"gives {before.score - worth.score} away")
    lost = (worth.remoteness or 0) - (before.remoteness or 0)
    if worth.outcome is Outcome.WIN and lost > 0:
        return Judgement("?!", f"wins {plies(lost)} later than necessary")
    if worth.outcome is Outcome.LOSS and lost < 0:
        return Judgement("?!", f"loses {plies(-lost)} sooner than necessary")
    return _FLAWLESS


def _judge_alone(before: Value, worth: Value) -> Judgement:
    """The same of a puzzle, which is solved or not, or ends with a score."""
    if worth.score < before.score:
        return Judgement("?" * max(1, before.outcome - worth.outcome), f"gives {before.score - worth.score} away")
    if before.outcome is not Outcome.WIN:
        return _FLAWLESS
    if worth.outcome is not Outcome.WIN:
        return Judgement("??", "can no longer be solved")
    longer = (worth.remoteness or 0) - (before.remoteness or 0)
    return Judgement("?!", f"takes {counted(longer, 'move')} more than necessary") if longer > 0 else _FLAWLESS


def best_moves(game: Game, position: int, rated: Sequence[RatedMoves]) -> list[RatedMoves]:
    """Those of equal worth with the first. Where only outcomes are known, moves that end the game with a win alone."""
    best = [each for each in rated if each.value == rated[0].value]
    if best and best[0].value.outcome_only and best[0].value.outcome is Outcome.WIN:
        ending = [each for each in best if game.status(game.apply(position, each.moves[0])) is not Status.ONGOING]
        return ending or best
    return best


@dataclass(frozen=True, slots=True)
class Step:
    """One ply of a line: where it is played, what that is worth, and every best move; the line follows the first."""

    position: int
    value: Value
    best: list[RatedMoves]

    @property
    def move(self) -> int:
        return self.best[0].moves[0]


@dataclass(frozen=True, slots=True)
class Line:
    """Best play by both sides, from a position to the end."""

    steps: list[Step]
    end: int
    """The position after the last step."""
    end_value: Value
    repeats: int | None
    """Where play is endless, the step whose position has come again, up to symmetry; else None."""


def best_line(game: Game, table: Table, position: int, *, limit: int | None = None) -> Line:
    """Best play from a position: the winner hurries, the loser resists; an endless draw is followed until it repeats.

    With `limit` the line ends after so many plies at the latest. Of a table of outcomes it keeps the outcome and need
    not come to an end: then it repeats, or should be limited.

    >>> from perfectplay import load_game, open_table
    >>> game = load_game("gobblet")
    >>> with open_table(game) as table:
    ...     line = best_line(game, table, game.start())
    >>> len(line.steps)
    13
    """
    steps: list[Step] = []
    seen: dict[int, int] = {}
    while True:
        value = table.probe(position)
        canonical = game.canonicalize(position)
        rated = rate_moves(game, table, position)
        if canonical in seen or not rated or len(steps) == limit:
            return Line(steps, position, value, seen.get(canonical))
        seen[canonical] = len(steps)
        steps.append(Step(position, value, best_moves(game, position, rated)))
        position = game.apply(position, steps[-1].move)


# An opponent that plays from a table: perfectly, or with slips.


class Strength(StrEnum):
    """How well an opponent plays: how often it makes any move at all instead of a best one."""

    PERFECT = "perfect"
    STRONG = "strong"
    CASUAL = "casual"
    RANDOM = "random"

    @property
    def slips(self) -> float:
        """The chance of a move at random."""
        return {"perfect": 0.0, "strong": 0.1, "casual": 0.35, "random": 1.0}[self.value]


def choose_move(game: Game, table: Table, position: int, strength: Strength, chance: random.Random) -> int:
    """A move of an opponent of this strength: one of the best, or a slip; among equals chance decides."""
    if chance.random() < strength.slips:
        return chance.choice(game.moves(position))
    rated = rate_moves(game, table, position)
    return chance.choice([move for each in best_moves(game, position, rated) for move in each.moves])
