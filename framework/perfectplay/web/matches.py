"""A game in progress as JSON: of a browser's session, and of a link that carries a whole game.

The page has no rules of its own: it sends the moves, and what a repetition is, how a game ended and which move was a
mistake is said here.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from perfectplay.analysis.moves import judge, rate_each_move
from perfectplay.errors import UsageError
from perfectplay.game.board import Board
from perfectplay.game.match import REPETITIONS, Match
from perfectplay.game.wording import sides
from perfectplay.values import Value, value_json
from perfectplay.web import answers
from perfectplay.web.boards import board_json, drawable_board
from perfectplay.web.library import ServedGame

JSON = dict[str, Any]

MAX_MOVES = 1000

REPEATED = "Game over: a draw, this position stands for the third time"


def read_moves(match: Match, text: str) -> None:
    """Play the moves of a link: separated by spaces; a space inside a move's own text is written as `_`."""
    names = [name for name in text.split(" ") if name]  # whatever other blanks there are belong to a move
    if len(names) > MAX_MOVES:
        raise UsageError(f"a game has at most {MAX_MOVES:,} moves here")
    for ply, name in enumerate(names, start=1):
        game, position = match.game, match.position
        spelled = {game.format_move(position, move).replace(" ", "_"): move for move in game.moves(position)}
        try:
            match.play(spelled[name] if name in spelled else game.parse_move(position, name))
        except UsageError as error:
            raise UsageError(f"move {ply} of the link: {error}") from error


def history_answer(served: ServedGame, match: Match) -> JSON:
    """The moves of a match, each with its worth for the player who made it, and a mark where there was a better one."""
    ahead = Match(match.game, list(reversed(match.undone)), start=match.position, exploring=True).move_names()
    judged = _judged(served, match)
    return {"game": served.game.identity, "start": str(match.positions[0]), "moves": judged, "undone": ahead}


def _worths(served: ServedGame, match: Match) -> list[Value | None]:
    """What each move of a match was worth to who made it."""
    worths = []
    for before, after in pairwise(match.positions):
        value = answers.value_of(served, after)
        worths.append(value and value.for_parent(keeps_turn=served.game.keeps_turn(before, after)))
    return worths


def _judged(served: ServedGame, match: Match) -> list[JSON]:
    entries = []
    for ply, (name, worth) in enumerate(zip(match.move_names(), _worths(served, match), strict=True), start=1):
        before = answers.value_of(served, match.positions[ply - 1])
        mark, comment = judge(before, worth, puzzle=served.game.is_puzzle)
        entries.append(
            {
                "ply": ply,
                "move": name,
                "id": str(match.positions[ply]),
                **value_json(worth, scored=served.game.has_score),
                "changed_outcome": bool(before and worth and before.outcome is not worth.outcome),
                "mark": mark,
                "comment": comment,
            }
        )
    return entries


def replay_answer(served: ServedGame, match: Match, ply: int) -> JSON:
    """A whole game for the page, looked at after `ply` of its moves: what was played, and all about that position."""
    judged, following = [None, *_judged(served, match)], [*_worths(served, match), None]
    timeline = [
        _entry(served, position, mover, played) | {"alternatives": _alternatives(served, position, made)}
        for position, mover, played, made in zip(match.positions, match.movers, judged, following, strict=True)
    ]
    last = _click(served, match, ply)
    match.undo(len(match.moves) - ply)
    over = _result(served, match, timeline[ply]["to_move"])
    return {
        "game": served.game.identity,
        "ply": ply,
        "timeline": timeline,
        "occurrences": match.occurrences,
        "result": over,
        "last": last,
        "position": answers.position_answer(served, match.position, mover=timeline[ply]["to_move"]),
    }


def _entry(served: ServedGame, position: int, mover: int | None, played: JSON | None) -> JSON:
    value = answers.value_of(served, position)
    return {
        "id": str(position),
        "to_move": mover,
        **value_json(value, scored=served.game.has_score),
        "verdict": answers.verdict(served, position, mover, value),
        "move": played and played["move"],
        "mark": played["mark"] if played else "",
        "comment": played["comment"] if played else "",
    }


def _alternatives(served: ServedGame, position: int, made: Value | None) -> list[JSON]:
    """A move for each worth there was to choose from, best first, but for that of the move that was `made`."""
    if served.table is None:
        return []
    found: dict[Value, int] = {}
    for each in rate_each_move(served.game, served.table, position):
        if each.value is not None and each.value != made:
            found.setdefault(each.value, each.move)
    return [
        {"move": served.game.format_move(position, move), **value_json(value, scored=served.game.has_score)}
        for value, move in found.items()
    ]


def _click(served: ServedGame, match: Match, ply: int) -> JSON | None:
    """Where the move to this ply came from and went to."""
    if ply == 0:
        return None
    board, _ = drawable_board(served.game, match.positions[ply - 1])
    for click in board.clicks if board else ():
        if click.move == match.moves[ply - 1]:
            return {"source": click.source, "target": click.target}
    return {"source": None, "target": None}


def _result(served: ServedGame, match: Match, mover: int | None) -> JSON | None:
    by_rule = answers.result(served, match.position, mover)
    if by_rule is None and match.occurrences >= REPETITIONS:
        return {"winner": None, "text": REPEATED}
    return by_rule


def game_answer(served: ServedGame, match: Match) -> JSON:
    """The session's game: where it stands."""
    game, position = served.game, match.position
    board, _ = drawable_board(game, position)
    mover = match.to_move
    return {
        "game": game.identity,
        "id": str(position),
        "text": game.decode(position),
        "board": None if board is None else board_json(board),
        "reserves": _reserves(board),
        "current_player": sides(game, mover)[0],
        "result": _result(served, match, mover),
        "ply": len(match.moves),
        "can_undo": bool(match.moves),
        "can_redo": bool(match.undone),
    }


def _reserves(board: Board | None) -> dict[str, dict[str, int]]:
    reserves: dict[str, dict[str, int]] = {}
    for tray in board.trays if board else ():
        owner = "anyone" if tray.piece.owner is None or board is None else board.players[tray.piece.owner]
        reserves.setdefault(owner, {})[tray.piece.label] = tray.count
    return reserves
