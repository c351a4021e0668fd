"""What is said about a position, as JSON: the same words and values for programs, sessions and the page.

Positions leave as decimal strings (`id`), because a JavaScript number holds only 53 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from perfectplay.analysis.moves import best_line as table_line
from perfectplay.analysis.moves import rate_each_move
from perfectplay.game.board import Click
from perfectplay.game.wording import game_verdict, sides
from perfectplay.values import Status, Value, value_json
from perfectplay.web.boards import board_json, drawable_board
from perfectplay.web.library import ServedGame

JSON = dict[str, Any]

LINE_PLIES = 200
"""A best line is cut here: drawn play need never end."""

_NO_CLICK = Click(0, None)


def evaluated_moves(served: ServedGame, position: int, clicks: Iterable[Click] | None = None) -> list[JSON]:
    """Moves with their worth for the mover and where they lead, best first; with `clicks`, how each is made by hand."""
    rated = rate_each_move(served.game, served.table, position)
    texts = served.game.format_moves(position, [each.move for each in rated])
    # Written out, not put together by `value_json`: that takes twice the time.
    shown: list[JSON] = [
        {
            "move": text,
            "outcome": value and value.word,
            "remoteness": value and value.remoteness,
            "id": str(child),
            "group": group,
        }
        for text, (_, child, value, group) in zip(texts, rated, strict=True)
    ]
    if clicks is not None:
        by_move = {click.move: click for click in clicks}
        for each, (move, _, _, _) in zip(shown, rated, strict=True):
            click = by_move.get(move, _NO_CLICK)
            each["source"], each["target"], each["label"] = click.source, click.target, click.label
    if served.game.has_score:
        for each, (_, _, value, _) in zip(shown, rated, strict=True):
            each |= value_json(value, scored=True)
    return shown


def value_of(served: ServedGame, position: int) -> Value | None:
    """The position's value; None where there is no table, or the position is not in it."""
    return None if served.table is None else served.table.get(position)


def verdict(served: ServedGame, position: int, mover: int | None, value: Value | None) -> str:
    """One sentence, always: also where the table does not know."""
    if value is not None:
        return game_verdict(served.game, value, mover)
    if (over := result(served, position, mover)) is not None:
        return str(over["text"])
    if served.problem is not None:
        return "Not known: the table is damaged"
    if served.table is None:
        return "Not solved yet: there is no table of this game"
    if not served.table.complete:
        return "Not in the table: this part of the game is not solved yet"
    return "Not in the table: play from the start never leads here"


def result(served: ServedGame, position: int, mover: int | None) -> JSON | None:
    """How the game has ended by rule; None while it goes on."""
    status = served.game.status(position)
    if status is Status.ONGOING:
        return None
    code = {Status.LOST: 1, Status.DRAWN: 2, Status.WON: 3}[status]
    value = Value.from_code(code)
    if served.game.has_score:
        value = replace(value, score=served.game.score(position))
    own, other = sides(served.game, mover)
    winner = {Status.LOST: other, Status.DRAWN: None, Status.WON: own}[status]
    if served.game.is_puzzle and status is not Status.WON:
        winner = None
    return {"winner": winner, "text": game_verdict(served.game, value, mover)}


def position_answer(served: ServedGame, position: int, *, mover: int | None = None) -> JSON:
    """Everything the page shows of one position; `mover` is to move, where the game that led here tells."""
    game = served.game
    board, problem = drawable_board(game, position)
    if mover is None:
        mover = game.mover(position) if board is None else board.to_move
    value = value_of(served, position)
    return {
        "game": game.identity,
        "id": str(position),
        "text": game.decode(position),
        "notations": game.notations(position),
        "solved": served.table is not None,
        **value_json(value, scored=game.has_score),
        "verdict": verdict(served, position, mover, value),
        "result": result(served, position, mover),
        "mover": sides(game, mover)[0],
        "to_move": mover,
        "players": list(game.players),
        "board": None if board is None else board_json(board),
        "board_problem": problem,
        "moves": evaluated_moves(served, position, board.clicks if board else ()),
    }


def moves_answer(served: ServedGame, position: int) -> JSON:
    """The evaluated moves alone: the answer that programs ask for most."""
    return {
        "game": served.game.identity,
        "id": str(position),
        **value_json(value_of(served, position), scored=served.game.has_score),
        "moves": evaluated_moves(served, position),
    }


def legal_moves(served: ServedGame, position: int) -> JSON:
    moves = position_answer(served, position)["moves"]
    shown = [{"move": move["move"], "from": move["source"], "to": move["target"], "id": move["id"]} for move in moves]
    return {"game": served.game.identity, "id": str(position), "moves": sorted(shown, key=lambda move: move["move"])}


def export(served: ServedGame, position: int) -> JSON:
    game = served.game
    notations = game.notations(position)
    return {"game": game.identity, "id": str(position), "text": game.decode(position), "notations": notations}


def evaluation(served: ServedGame, position: int) -> JSON:
    value = value_of(served, position)
    return {
        "game": served.game.identity,
        "id": str(position),
        **value_json(value, scored=served.game.has_score),
        "verdict": verdict(served, position, served.game.mover(position), value),
    }


def best_move(served: ServedGame, position: int) -> JSON:
    """The evaluation, and a best move where one is known."""
    moves = moves_answer(served, position)["moves"]
    return evaluation(served, position) | {"best": moves[0] if moves and moves[0]["outcome"] else None}


def best_line(served: ServedGame, position: int) -> JSON:
    """The evaluation, and perfect play from here; empty where the table does not know."""
    steps: list[JSON] = []
    if served.table is not None and value_of(served, position) is not None:
        line = table_line(served.game, served.table, position, limit=LINE_PLIES)
        passed = [*(step.position for step in line.steps), line.end]
        for step, after in zip(line.steps, passed[1:], strict=True):
            move = served.game.format_move(step.position, step.move)
            steps.append({"move": move, **value_json(step.value, scored=served.game.has_score), "id": str(after)})
    return evaluation(served, position) | {"line": steps}
