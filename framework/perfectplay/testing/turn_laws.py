"""Whose turn it is, and how much is won: the laws of `mover`, `players`, `score` and of what `board` shows of them."""

from __future__ import annotations

from perfectplay.testing.game_under_test import GameUnderTest
from perfectplay.testing.laws import Law
from perfectplay.values import Status

MOVES_TRIED = 8
"""Of a position's moves, after how many it is asked whose turn it is: drawing a board may be slow."""


def turns(subject: GameUnderTest, position: int) -> str | None:
    game, where = subject.game, subject.name(position)
    said = subject.mover_hook(position)
    drawn = game.board(position)
    shown = None if drawn is None else drawn.to_move
    for hook, player in (("mover", said), ("board", shown)):
        if player is not None and player != 0 and position == game.start():
            return f"'{hook}' says that player {player} is to move at the start: 0 is the player who begins"
        if player is not None and player != 0 and game.is_puzzle:
            return f"'{hook}' says that player {player} is to move in {where}, but 'players' names one player: say 0"
    if said is not None and shown is not None and said != shown:
        return f"'mover' says {said} in {where}, but 'board' shows to_move {shown}: both must name the player to move"
    if shown is None or said is not None or game.is_puzzle:
        return None
    return _turn_that_stays(subject, position, shown)


def _turn_that_stays(subject: GameUnderTest, position: int, shown: int) -> str | None:
    """Without `mover` every move passes the turn; a board can tell whether that is so."""
    game = subject.game
    legal = game.moves(position)
    for move in legal[:: max(1, len(legal) // MOVES_TRIED)]:
        child = game.apply(position, move)
        after = game.board(child)
        if after is not None and after.to_move == shown:
            return (
                f"move {game.format_move(position, move)} in {subject.name(position)} leads to {subject.name(child)}, "
                f"where 'board' shows the same player to move again; without 'mover' every move passes the turn. "
                f"Where a player may move again, give 'mover'; where there is one player, return one name from "
                f"'players'; else to_move of one of the boards is wrong"
            )
    return None


def score(subject: GameUnderTest, position: int) -> str | None:
    game = subject.game
    stands = game.status(position)
    if stands is Status.ONGOING:
        return None
    won = game.score(position)
    sign = {Status.LOST: -1, Status.DRAWN: 0, Status.WON: 1}[stands]
    if (won > 0) - (won < 0) != sign:
        wanted = {-1: "below 0", 0: "0", 1: "above 0"}[sign]
        return (
            f"'status' says {stands.name} in {subject.name(position)}, but 'score' says {won}: both speak of the "
            f"player to move, so the score must be {wanted} there"
        )
    return None


def _tells_turns(subject: GameUnderTest) -> bool:
    return subject.game.has_mover or subject.draws


TURN_LAWS = (
    Law("turns", "'mover' and 'board' agree on whose turn it is, and so do the moves", turns, _tells_turns),
    Law("score", "'score' agrees with 'status'", score, lambda subject: subject.game.has_score),
)
