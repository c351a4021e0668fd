"""Games in progress: one browser's session, and a link that carries a whole game.

The page has no rules. It sends the moves, and the server decides on repetition, the end of the game and mistakes.
"""

from __future__ import annotations

import random
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any

from msgspec import Meta

from perfectplay.analysis.moves import RatedMove, judge, rate_each_move
from perfectplay.analysis.opponent import Strength, choose_move
from perfectplay.errors import NotInTable, UsageError
from perfectplay.game.board import Board
from perfectplay.game.match import REPETITIONS, Match
from perfectplay.game.wording import sides
from perfectplay.values import Value
from perfectplay.web.answers import (
    Answer,
    Count,
    DrawnBoard,
    Id,
    Owner,
    Player,
    Position,
    Result,
    Valued,
    describe_position,
    draw_board,
    find_board,
    find_drawing,
    find_result,
    find_value,
    value_fields,
    verdict,
)
from perfectplay.web.library import ServedGame

MAX_MOVES = 1000
"""Moves of one game."""
MAX_SESSIONS = 1000
MAX_GAMES = 50
"""Games of one session, because the number of variants is unlimited."""
MAX_IDLE_SECONDS = 24 * 3600.0

REPEATED = "Game over: draw by threefold repetition"

Mark = Annotated[
    str,
    Meta(
        description="?! takes longer than necessary; ? or ?? gives away a score or an outcome.",
        extra_json_schema={"enum": ["", "?!", "?", "??"]},
    ),
]


class PlayedMove(Valued):
    """A move of a game, with its value for the player who made it."""

    ply: Count
    move: str
    id: Id
    changed_outcome: bool
    mark: Mark
    comment: str


class History(Answer):
    """The moves of a session's game."""

    game: str
    start: Id
    moves: list[PlayedMove]
    undone: list[str]


class Alternative(Valued):
    """A move that was not played."""

    move: str


class TimelineEntry(Valued):
    """One position of a game, and the move that led to it."""

    id: Id
    to_move: Player
    verdict: str
    move: Annotated[str | None, Meta(description="The move that led here; null at the start.")]
    mark: Mark
    comment: str
    alternatives: list[Alternative]


class LastMove(Answer):
    """Where the last move was made on the board."""

    source: str | None
    target: str | None
    capture: str | None = None
    region: Sequence[str] = ()
    path: Sequence[str] = ()
    shifts: Sequence[Sequence[str]] = ()


class Replay(Answer):
    """A whole game, and everything about one of its positions."""

    game: str
    ply: Count
    timeline: list[TimelineEntry]
    occurrences: Annotated[Count, Meta(description="How often the position has occurred.")]
    result: Result | None
    last: LastMove | None
    owners: Annotated[dict[str, Owner], Meta(description="The players who own claimed cells, such as boxes.")]
    position: Position


class Choice(Answer):
    """The computer's move."""

    game: str
    id: Id
    move: Annotated[str | None, Meta(description="Null if the game is over.")]


class SessionGame(Answer):
    """The state of a session's game."""

    game: str
    id: Id
    text: str
    board: DrawnBoard | None
    reserves: dict[str, dict[str, Count]]
    current_player: str
    result: Result | None
    ply: Count
    can_undo: bool
    can_redo: bool


# ---- sessions ----


@dataclass(slots=True)
class _Session:
    used: float
    games: dict[str, Match] = field(default_factory=dict)


class Sessions:
    """The games of every browser, identified by a random cookie. The oldest sessions are dropped first."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._sessions: OrderedDict[str, _Session] = OrderedDict()  # the least recently used first

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, token: str | None) -> dict[str, Match] | None:
        """Return a session's games by identity; None if there is no such session."""
        self._drop_idle()
        session = self._sessions.get(token) if token else None
        if session is None or token is None:
            return None
        session.used = self._clock()
        self._sessions.move_to_end(token)
        return session.games

    def save(self, token: str | None, match: Match) -> str:
        """Store a match in a session, which is created if necessary. Returns the session's token."""
        games = self.find(token)
        if games is None or token is None:
            while len(self._sessions) >= MAX_SESSIONS:
                self._sessions.popitem(last=False)
            token = secrets.token_urlsafe(18)
            games = self._sessions.setdefault(token, _Session(self._clock())).games
        games.pop(match.game.identity, None)
        games[match.game.identity] = match
        if len(games) > MAX_GAMES:
            del games[next(iter(games))]  # the least recently played
        return token

    def _drop_idle(self) -> None:
        oldest_allowed = self._clock() - MAX_IDLE_SECONDS
        while self._sessions and next(iter(self._sessions.values())).used < oldest_allowed:
            self._sessions.popitem(last=False)


# ---- a game's history ----


def read_moves(match: Match, text: str) -> None:
    """Play the moves of a link. They are separated by spaces; a space inside a move's name is written as `_`."""
    names = [name for name in text.split(" ") if name]  # other white space may be part of a name
    if len(names) > MAX_MOVES:
        raise UsageError(f"a game has at most {MAX_MOVES:,} moves here")
    for ply, name in enumerate(names, start=1):
        game, position = match.game, match.position
        by_name = {game.format_move(position, move).replace(" ", "_"): move for move in game.moves(position)}
        try:
            match.play(by_name[name] if name in by_name else game.parse_move(position, name))
        except UsageError as error:
            raise UsageError(f"move {ply}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Evaluation:
    """The values of a match's positions, and of its moves for the players who made them; None where unknown."""

    positions: list[Value | None]
    moves: list[Value | None]


def _evaluate(served: ServedGame, match: Match) -> _Evaluation:
    values = [find_value(served, position) for position in match.positions]
    moves = []
    for (before, after), value in zip(pairwise(match.positions), values[1:], strict=True):
        keeps_turn = value is not None and served.game.keeps_turn(before, after)
        moves.append(value and value.for_parent(keeps_turn=keeps_turn))
    return _Evaluation(values, moves)


def _judge_moves(served: ServedGame, match: Match, values: _Evaluation) -> list[PlayedMove]:
    played = []
    for ply, (name, worth) in enumerate(zip(match.move_names(), values.moves, strict=True), start=1):
        best = values.positions[ply - 1]
        mark, comment = judge(best, worth, puzzle=served.game.is_puzzle)
        played.append(
            PlayedMove(
                ply=ply,
                move=name,
                id=str(int(match.positions[ply])),
                changed_outcome=bool(best and worth and best.outcome is not worth.outcome),
                mark=mark,
                comment=comment,
                **value_fields(served, worth),
            )
        )
    return played


def answer_history(served: ServedGame, match: Match) -> History:
    """Return the moves of a match, with a mark where a better move existed."""
    ahead = Match(match.game, list(reversed(match.undone)), start=match.position, exploring=True).move_names()
    played = _judge_moves(served, match, _evaluate(served, match))
    return History(served.game.identity, str(int(match.positions[0])), played, ahead)


def answer_replay(served: ServedGame, match: Match, ply: int) -> Replay:
    """Return a whole game, and everything about its position after `ply` moves."""
    values = _evaluate(served, match)
    played = [None, *_judge_moves(served, match, values)]
    movers = match.movers
    rated = [
        rate_each_move(served.game, served.table, position) if served.table is not None or index == ply else []
        for index, position in enumerate(match.positions)
    ]
    timeline = []
    for index, position in enumerate(match.positions):
        move, value = played[index], values.positions[index]
        chosen = values.moves[index] if index < len(values.moves) else None
        timeline.append(
            TimelineEntry(
                id=str(int(position)),
                to_move=movers[index],
                verdict=verdict(served, position, movers[index], value),
                move=move.move if move else None,
                mark=move.mark if move else "",
                comment=move.comment if move else "",
                alternatives=_list_alternatives(served, position, rated[index], chosen),
                **value_fields(served, value),
            )
        )
    last = _find_last_move(served, match, ply)
    owners = _find_owners(served, match.positions[: ply + 1], movers)
    match.undo(len(match.moves) - ply)
    mover = movers[ply]
    return Replay(
        game=served.game.identity,
        ply=ply,
        timeline=timeline,
        occurrences=match.occurrences,
        result=_find_result(served, match, mover),
        last=last,
        owners=owners,
        position=describe_position(served, match.position, values.positions[ply], rated[ply], mover=mover),
    )


def answer_choice(served: ServedGame, match: Match, strength: Strength, seed: int | None) -> Choice:
    """Return the move of an opponent of this strength; a random one where the table has no values."""
    game, position, rng = served.game, match.position, random.Random(seed)
    moves = position.moves
    move = rng.choice(moves) if moves else None
    if moves and served.table is not None:
        with suppress(NotInTable):  # an unfinished table
            move = choose_move(game, served.table, position, strength, rng, seen=match.positions)
    return Choice(game.identity, str(int(position)), None if move is None else move.name)


def _list_alternatives(
    served: ServedGame, position: int, rated: Sequence[RatedMove], chosen: Value | None
) -> list[Alternative]:
    """Return one move for each value except that of the chosen move, best first."""
    by_value: dict[Value, int] = {}
    for each in rated:
        if each.value is not None and each.value != chosen:
            by_value.setdefault(each.value, each.move)
    return [
        Alternative(move=served.game.format_move(position, move), **value_fields(served, value))
        for value, move in by_value.items()
    ]


def _find_last_move(served: ServedGame, match: Match, ply: int) -> LastMove | None:
    if ply == 0:
        return None
    board = find_drawing(served.game, match.positions[ply - 1])
    for click in board.clicks if board else ():
        if click.move == match.moves[ply - 1]:
            return LastMove(click.source, click.target, click.capture, click.region, click.path, click.shifts)
    return LastMove(None, None)


def _find_owners(served: ServedGame, positions: Sequence[int], movers: Sequence[int | None]) -> dict[str, int]:
    """Return the owner of each claimed cell: the player after whose move it was claimed first."""
    board, _ = find_board(served.game, positions[-1])
    if board is None or not board.claims:
        return {}
    owners: dict[str, int] = {}
    claimed: set[str] = set()
    for ply, position in enumerate(positions):
        board, _ = find_board(served.game, position)
        claims = set() if board is None else set(board.claims)
        mover = movers[ply - 1] if ply else None
        if mover is not None:
            owners |= dict.fromkeys(claims - claimed, mover)
        claimed |= claims
    return owners


def _find_result(served: ServedGame, match: Match, mover: int | None) -> Result | None:
    by_rule = find_result(served, match.position, mover)
    if by_rule is None and match.occurrences >= REPETITIONS:
        return Result(None, REPEATED)
    return by_rule


def answer_game(served: ServedGame, match: Match) -> SessionGame:
    game, position = served.game, match.position
    board, _ = find_board(game, position)
    mover = match.to_move
    return SessionGame(
        game=game.identity,
        id=str(int(position)),
        text=game.decode(position),
        board=None if board is None else draw_board(board),
        reserves={} if board is None else _list_reserves(board),
        current_player=sides(game, mover)[0],
        result=_find_result(served, match, mover),
        ply=len(match.moves),
        can_undo=bool(match.moves),
        can_redo=bool(match.undone),
    )


def _list_reserves(board: Board) -> dict[str, Any]:
    reserves: dict[str, dict[str, int]] = {}
    for tray in board.trays:
        owner = "anyone" if tray.piece.owner is None else board.players[tray.piece.owner]
        reserves.setdefault(owner, {})[tray.piece.label] = tray.count
    return reserves
