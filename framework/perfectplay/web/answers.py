"""What is said about a position, as JSON: the same words and values for programs, sessions and the page.

Positions leave as decimal strings (`id`), because a JavaScript number holds only 53 bits.
"""

from __future__ import annotations

from typing import Any

from perfectplay import wording
from perfectplay.board import Board, Piece, Spelling
from perfectplay.game import Game
from perfectplay.queries.moves import best_line as table_line
from perfectplay.queries.moves import rate_each_move
from perfectplay.values import Status, Value, value_json
from perfectplay.web.library import ServedGame

JSON = dict[str, Any]

LINE_PLIES = 200
"""A best line is cut here: drawn play need never end."""


def evaluated_moves(served: ServedGame, position: int) -> list[JSON]:
    """Every legal move with its worth for the mover and where it leads, best first."""
    format_move = served.game.rules.format_move
    return [
        {
            "move": format_move(position, each.move),
            **value_json(each.value),
            "id": str(each.child),
            "group": each.group,
            "code": each.move,
        }
        for each in rate_each_move(served.game, served.table, position)
    ]


def value_of(served: ServedGame, position: int) -> Value | None:
    """The position's value; None where there is no table, or the position is not in it."""
    return None if served.table is None else served.table.get(position)


def verdict(served: ServedGame, position: int, board: Board | None) -> str:
    """One sentence, always: also where the table does not know."""
    names = wording.player_names(board, start=position == served.start)
    value = value_of(served, position)
    if value is not None:
        return wording.verdict(value, *names)
    if (over := result(served.game, position, board)) is not None:
        return str(over["text"])
    if served.table is None:
        return "Not solved yet: there is no table of this game"
    if not served.table.complete:
        return "Not in the table: this part of the game is not solved yet"
    return "Not in the table: play from the start never leads here"


def result(game: Game, position: int, board: Board | None) -> JSON | None:
    """How the game has ended by rule; None while it goes on."""
    status = game.status(position)
    if status is Status.ONGOING:
        return None
    mover, opponent = wording.player_names(board)
    text = wording.verdict(Value.from_code({Status.LOST: 1, Status.DRAWN: 2, Status.WON: 3}[status]), mover, opponent)
    winner = {Status.LOST: opponent, Status.DRAWN: None, Status.WON: mover}[status]
    return {"winner": winner, "text": text}


def position_answer(served: ServedGame, position: int) -> JSON:
    """Everything the page shows of one position."""
    game = served.game
    board = game.board(position)
    moves = evaluated_moves(served, position)
    clicks = {click.move: click for click in board.clicks} if board else {}
    for move in moves:
        click = clicks.get(move.pop("code"))
        move["source"], move["target"] = (click.source, click.target) if click else (None, None)
    return {
        "game": game.identity,
        "id": str(position),
        "text": game.decode(position),
        "notations": game.notations(position),
        "solved": served.table is not None,
        **value_json(value_of(served, position)),
        "verdict": verdict(served, position, board),
        "result": result(game, position, board),
        "mover": wording.player_names(board, start=position == served.start)[0],
        "board": None if board is None else board_json(board),
        "moves": moves,
    }


def moves_answer(served: ServedGame, position: int) -> JSON:
    """The evaluated moves alone: the answer that programs ask for most."""
    moves = evaluated_moves(served, position)
    for move in moves:
        del move["code"]
    return {"game": served.game.identity, "id": str(position), **value_json(value_of(served, position)), "moves": moves}


def evaluation(served: ServedGame, position: int) -> JSON:
    return {
        "game": served.game.identity,
        "id": str(position),
        **value_json(value_of(served, position)),
        "verdict": verdict(served, position, served.game.board(position)),
    }


def best_move(served: ServedGame, position: int) -> JSON:
    """The evaluation, and a best move where one is known."""
    moves = moves_answer(served, position)["moves"]
    return evaluation(served, position) | {"best": moves[0] if moves and moves[0]["outcome"] else None}


def best_line(served: ServedGame, position: int) -> JSON:
    """The evaluation, and perfect play from here; empty where the table does not know."""
    steps: list[JSON] = []
    if served.table is not None and value_of(served, position) is not None:
        line = table_line(served.game, served.table, position, plies=LINE_PLIES)
        passed = [*(step.position for step in line.steps), line.end]
        for step, after in zip(line.steps, passed[1:], strict=True):
            move = served.game.format_move(step.position, step.move)
            steps.append({"move": move, **value_json(step.value), "id": str(after)})
    return evaluation(served, position) | {"line": steps}


def board_json(board: Board) -> JSON:
    return {
        "rows": board.rows,
        "columns": board.columns,
        "cells": [
            {"id": c.id, "row": c.row, "column": c.column, "stack": [_piece(p) for p in c.stack]} for c in board.cells
        ],
        "to_move": board.to_move,
        "players": list(board.players),
        "trays": [{"id": tray.id, "piece": _piece(tray.piece), "count": tray.count} for tray in board.trays],
        "blocked": board.blocked,
        "warnings": board.warnings,
        "spelling": None if board.spelling is None else _spelling(board.spelling),
    }


def _spelling(spelling: Spelling) -> JSON:
    return {
        "pieces": [_piece(piece) for piece in spelling.pieces],
        "empty": spelling.empty,
        "between_cells": spelling.between_cells,
        "between_rows": spelling.between_rows,
        "ending": list(spelling.ending),
    }


def _piece(piece: Piece) -> JSON:
    return {"owner": piece.owner, "label": piece.label, "size": piece.size, "shape": piece.shape}
