"""A board as JSON, for the page to draw. A board that cannot be drawn is left out, and why is said instead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from perfectplay.errors import PerfectPlayError
from perfectplay.game.board import Board, Cell, Spelling, Tray, board_fault, headings, player_colours
from perfectplay.game.game import Game

JSON = dict[str, Any]


def drawable_board(game: Game, position: int) -> tuple[Board | None, str | None]:
    """The board of a position, or why it cannot be drawn; neither where the game has no drawing."""
    try:
        board = game.board(position)
    except PerfectPlayError as error:
        return None, str(error)
    fault = None if board is None else board_fault(board)
    return (None, f"{game.name}: the board cannot be drawn: {fault}") if fault else (board, None)


def board_json(board: Board) -> JSON:
    """What the page draws."""
    rows, columns = headings(board)
    return {
        "rows": board.rows,
        "columns": board.columns,
        "cells": _parts(board.cells),
        "to_move": board.to_move,
        "players": board.players,
        "colours": player_colours(board),
        "trays": _parts(board.trays),
        "blocked": board.blocked,
        "warnings": board.warnings,
        "edges": board.edges,
        "zones": board.zones,
        "highlight": board.highlight,
        "row_labels": rows if any(rows) else [],
        "column_labels": columns if any(columns) else [],
        "spelling": board.spelling and _parts((board.spelling,))[0],
    }


def _parts(parts: Sequence[Cell | Tray | Spelling]) -> Sequence[Any]:
    """Parts of a board, for the encoder of answers, which writes a dataclass as an object."""
    try:
        return [*map(_written, parts)]
    except TypeError:  # one holds a list where a tuple should be, or half a surrogate pair
        return parts


@lru_cache(maxsize=10_000)
def _written(part: Cell | Tray | Spelling) -> orjson.Fragment:
    """The same as JSON. The parts of a game's boards are few, and come again on board after board."""
    return orjson.Fragment(orjson.dumps(part))
