"""`solve check --show`: a random game in words, so that authors can read what their rules mean.

No law can find out whether WON and LOST were meant for the other player, or whether `mover` names the wrong one. A
reader sees it at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from perfectplay.errors import PluginError
from perfectplay.game.board_text import draw
from perfectplay.game.game import Game
from perfectplay.game.wording import counted
from perfectplay.testing.checks import name_in_subprocess, run_logged
from perfectplay.testing.sandbox import CallLog, ChildDied, Send
from perfectplay.testing.subject import GameUnderTest
from perfectplay.values import Status

MAX_PLIES = 200
"""A longer game is cut off, to keep the text readable."""


def narrate(game: Game, seed: int) -> Iterator[str]:
    """Yield the lines of `narrate_game` from a subprocess. Raises PluginError if the game crashes or hangs."""
    log = CallLog()
    subject = GameUnderTest(game, log)

    def work(send: Send) -> None:
        for line in narrate_game(game, seed):
            send(line)

    try:
        yield from run_logged(subject, log, work)
    except ChildDied as reason:
        name = partial(name_in_subprocess, subject)
        raise PluginError(f"{game.name}: {log.describe(str(reason), name=name)}") from reason


def narrate_game(game: Game, seed: int) -> Iterator[str]:
    """Yield the lines of a random game: each position, the player to move, the status and the move."""
    dice = random.Random(seed)
    position, player = game.start(), 0
    yield f"{game.identity}: a random game (--seed {seed})"
    for plies in range(MAX_PLIES):
        yield ""
        yield _position_text(game, position)
        status = game.status(position)
        moves = game.moves(position)
        yield _situation(game, position, player, len(moves))
        if status is not Status.ONGOING or not moves:
            return
        move = dice.choice(moves)
        yield f"{plies + 1}. {_name(game, player)} plays {game.format_move(position, move)}"
        child = game.apply(position, move)
        player = player if game.keeps_turn(position, child) else 1 - player
        position = child
    yield ""
    yield f"The game continues; only its first {MAX_PLIES} moves are shown."


def _position_text(game: Game, position: int) -> str:
    board = game.board(position)
    text = game.decode(position)
    if board is None:
        return text
    return draw(board, over=game.status(position) is not Status.ONGOING) + f"\n{text}"


def _situation(game: Game, position: int, player: int, moves: int) -> str:
    """Return a sentence such as "B to move, status WON, so B has won by 4"."""
    status = game.status(position)
    mover = "" if game.is_puzzle else f"{_name(game, player)} to move, "
    if status is Status.ONGOING:
        return f"{mover}status ONGOING, " + (counted(moves, "move") if moves else "but there is no move")
    score = game.score(position) if game.has_score else None
    return f"{mover}status {status.name}, so {_result(game, status, player, score)}"


def _result(game: Game, status: Status, player: int, score: int | None) -> str:
    margin = "" if not score else f" by {abs(score)}"
    if game.is_puzzle:
        result = {Status.WON: "the puzzle is solved", Status.LOST: "this is a dead end"}.get(status, "nothing is won")
        return result if score is None else f"{result}, with score {score}"
    if status is Status.DRAWN:
        return "the game is a draw"
    winner = player if status is Status.WON else 1 - player
    return f"{_name(game, winner)} has won{margin}"


def _name(game: Game, player: int) -> str:
    return game.players[player if player < len(game.players) else 0]
