"""Rates the moves of a position by a table: for showing and judging moves, and for best lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex, TypeVar

from perfectplay.errors import PLUGIN_FAULTS, NotInTable
from perfectplay.game.engine import explain_fault
from perfectplay.game.game import Game, Move, Position
from perfectplay.game.wording import counted, html_table, plies
from perfectplay.values import NO_POSITION_CODE, Outcome, Status, Value

if TYPE_CHECKING:
    from perfectplay.table.table import Table

_SORTS_LAST = (9,)


# ---- rated moves ----


class RatedMove(NamedTuple):
    """One legal move, the position it leads to, and its value for the player who makes it."""

    move: int
    child: int
    value: Value | None
    """None if the table has no value."""
    group: int
    """Equal for moves that are equivalent by symmetry."""


@dataclass(frozen=True, slots=True, repr=False)
class RatedMoves:
    """Moves that are equivalent by symmetry, and their value for the player who makes them."""

    moves: list[Move]
    value: Value

    def __str__(self) -> str:
        return f"{self.value}: {' '.join(map(str, self.moves))}"

    def __repr__(self) -> str:
        return f"<RatedMoves, {self}>"


class RatedList(list[RatedMoves]):
    """The result of `rate_moves`: groups of moves, best first."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        rows = [(each.value, "  ".join(move.name for move in each.moves)) for each in self]
        return html_table(("value", "moves"), rows)


Rated = TypeVar("Rated", RatedMove, RatedMoves)


def rate_each_move(game: Game, table: Table | None, position: int) -> list[RatedMove]:
    """Rate every legal move of a valid position.

    Returns the moves from best to worst, then those without a value. Without a table no move has a value.
    Raises PluginError if the game's rules fail.
    """
    return [*map(RatedMove._make, rate_as_tuples(game, table, position))]


def rate_as_tuples(game: Game, table: Table | None, position: int) -> list[tuple[int, int, Value | None, int]]:
    """Rate every legal move as `rate_each_move` does, and return the fields of each `RatedMove`.

    Servers call this thousands of times per second, so each child is computed once, by the unchecked rules, and a
    single call looks all of them up.
    """
    rules = game.rules
    try:
        moves = list(rules.moves(position))
        children, canonical = rules.follow(position, moves)
        keeps_turn = _keeps_turn(game, position, children)
    except PLUGIN_FAULTS as error:
        raise explain_fault(game, "all", position, error) from error
    try:
        codes = [NO_POSITION_CODE] * len(moves) if table is None else table.probe_few(children)
    except (OverflowError, TypeError) as error:  # a move leads to something that is not a 64-bit number
        raise explain_fault(game, "all", position, error) from error
    values, sort_keys = zip(*map(_value_of_move, codes, keeps_turn), strict=True) if moves else ((), ())
    group_numbers: dict[int, int] = {}
    groups = [group_numbers.setdefault(image, len(group_numbers)) for image in canonical]
    rated = [*zip(moves, children, values, groups, strict=True)]
    return [rated[index] for index in sorted(range(len(moves)), key=sort_keys.__getitem__)]


def rate_moves(game: Game, table: Table, position: SupportsIndex, *, known_only: bool = False) -> RatedList:
    """Rate the legal moves of a position, grouped by symmetry, from best to worst.

    Raises NotInTable if the table has no value for a move. With `known_only` such moves are left out instead.
    """
    position = Position(game, position)
    groups: dict[int, RatedMoves] = {}
    for each in rate_each_move(game, table, int(position)):
        if each.value is not None:
            groups.setdefault(each.group, RatedMoves([], each.value)).moves.append(Move(position, each.move))
        elif not known_only:
            raise NotInTable(
                f"{game.name}: the table has no value for a move of position {int(position)}; "
                f"if it is finished, {game.advice}"
            )
    return RatedList(groups.values())


def best_of(rated: Sequence[Rated]) -> list[Rated]:
    """Return the moves with the highest value from a rated list, or none if no value is known."""
    return [each for each in rated if each.value is not None and each.value == rated[0].value]


def best_moves(game: Game, position: int, rated: Sequence[RatedMoves]) -> list[RatedMoves]:
    """Return the best moves for playing on.

    With a table of outcomes, all winning moves have the same value, so those that win at once are preferred.
    """
    best = best_of(rated)
    if best and best[0].value.outcome_only and best[0].value.outcome is Outcome.WIN:
        ending = [each for each in best if game.status(game.apply(position, each.moves[0])) is not Status.ONGOING]
        return ending or best
    return best


def _keeps_turn(game: Game, position: int, children: Sequence[int]) -> Iterable[bool]:
    """Return for each child whether the same player is to move there."""
    mover = game.rules.mover
    if mover is None or game.turns_alternate:
        return repeat(game.is_puzzle, len(children))
    current = mover(position)
    return [mover(child) == current for child in children]


@cache
def _value_of_move(child_code: int, keeps_turn: bool) -> tuple[Value | None, tuple[int, ...]]:
    """Return the value of a move to a position with this value code, and its sort key."""
    if child_code == NO_POSITION_CODE:
        return None, _SORTS_LAST
    value = Value.from_code(child_code).for_parent(keeps_turn=keeps_turn)
    return value, value.preference()


# ---- judging a move ----


class Judgement(NamedTuple):
    """A mark for a move that was not the best, as in chess notation, and the reason."""

    mark: str
    comment: str


_NO_MARK = Judgement("", "")


def judge(best: Value | None, value: Value | None, *, puzzle: bool = False) -> Judgement:
    """Judge a move with this value in a position where the best move has the value `best`.

    The mark is ?? or ? if the move changed the outcome or the score, and ?! if it changed only the number of plies.

    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.LOSS, 2))
    Judgement(mark='??', comment='throws the win away: now a loss')
    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.WIN, 9))
    Judgement(mark='?!', comment='wins 4 plies later than necessary')
    >>> judge(Value(Outcome.WIN, 5), Value(Outcome.LOSS, 2), puzzle=True)
    Judgement(mark='??', comment='can no longer be solved')
    >>> judge(Value(Outcome.LOSS, 5, score=-2), Value(Outcome.LOSS, 3, score=-6), puzzle=True)
    Judgement(mark='?', comment='gives 4 away')
    """
    if best is None or value is None:
        return _NO_MARK
    if puzzle:
        return _judge_puzzle_move(best, value)
    if value.outcome < best.outcome:
        mark = "?" * (best.outcome - value.outcome)
        return Judgement(mark, f"throws the {best.outcome.name.lower()} away: now a {value.outcome.name.lower()}")
    if value.score < best.score:
        return Judgement("?", f"gives {best.score - value.score} away")
    if best.score:
        return _NO_MARK  # in a game for points only the points count
    delay = (value.remoteness or 0) - (best.remoteness or 0)
    if value.outcome is Outcome.WIN and delay > 0:
        return Judgement("?!", f"wins {plies(delay)} later than necessary")
    if value.outcome is Outcome.LOSS and delay < 0:
        return Judgement("?!", f"loses {plies(-delay)} sooner than necessary")
    return _NO_MARK


def _judge_puzzle_move(best: Value, value: Value) -> Judgement:
    """Judge a move of a puzzle, which is solved or not, or ends with a score."""
    if value.score < best.score:
        return Judgement("?" * max(1, best.outcome - value.outcome), f"gives {best.score - value.score} away")
    if best.outcome is not Outcome.WIN:
        return _NO_MARK
    if value.outcome is not Outcome.WIN:
        return Judgement("??", "can no longer be solved")
    delay = (value.remoteness or 0) - (best.remoteness or 0)
    return Judgement("?!", f"takes {counted(delay, 'move')} more than necessary") if delay > 0 else _NO_MARK


# ---- best lines ----


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One ply of a line: the position, its value, and all best moves. The line follows the first of them."""

    position: Position
    value: Value
    best: list[RatedMoves]

    @property
    def move(self) -> Move:
        return self.best[0].moves[0]

    def __repr__(self) -> str:
        return f"<Step, {self.value}: {self.move}>"


@dataclass(frozen=True, slots=True, repr=False)
class Line:
    """Best play by both sides, from a position to the end."""

    steps: list[Step]
    end: Position
    """The position after the last step."""
    end_value: Value
    repeats: int | None
    """In an endless line, the step whose position has occurred again, up to symmetry; otherwise None."""

    @property
    def moves(self) -> list[Move]:
        return [step.move for step in self.steps]

    def __str__(self) -> str:
        return " ".join(move.name for move in self.moves)

    def __repr__(self) -> str:
        value = self.steps[0].value if self.steps else self.end_value
        return f"<Line, {value}: {self}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: each move with its value and the number of equally good ones."""
        rows = [
            (number, step.move.name, step.value, sum(len(each.moves) for each in step.best) - 1)
            for number, step in enumerate(self.steps, start=1)
        ]
        return html_table(("ply", "move", "value", "equally good"), rows)


def best_line(game: Game, table: Table, position: SupportsIndex, *, limit: int | None = None) -> Line:
    """Follow best play from a position to the end of the game. An endless draw is followed until it repeats.

    The winner plays for the quickest win, the loser for the slowest loss. With a table of outcomes each move only
    preserves the outcome, so the line may repeat, or be very long. `limit` is the maximum number of plies.

    >>> from perfectplay import load_game, open_table
    >>> game = load_game("gobblet")
    >>> with open_table(game) as table:
    ...     line = best_line(game, table, game.start())
    >>> len(line.steps)
    13
    >>> line.steps[0].move, line.steps[0].position
    (<Move L(0,0)>, <Position of gobblet: .,.,./.,.,./.,.,.:orange>)
    """
    position = Position(game, position)
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
        position = position.apply(steps[-1].move)
