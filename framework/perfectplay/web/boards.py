"""A board as JSON, for the page to draw. A board that cannot be drawn is left out, and why is said instead."""

from __future__ import annotations

from typing import Any

from perfectplay.board import Board, Piece, Spelling, board_fault, headings, player_colours
from perfectplay.errors import PerfectPlayError
from perfectplay.game import Game

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
    rows, columns = headings(board)
    return {
        "rows": board.rows,
        "columns": board.columns,
        "cells": [
            {"id": c.id, "row": c.row, "column": c.column, "label": c.label, "stack": [_piece(p) for p in c.stack]}
            for c in board.cells
        ],
        "to_move": board.to_move,
        "players": list(board.players),
        "colours": list(player_colours(board)),
        "trays": [{"id": tray.id, "piece": _piece(tray.piece), "count": tray.count} for tray in board.trays],
        "blocked": board.blocked,
        "warnings": board.warnings,
        "edges": board.edges,
        "zones": board.zones,
        "highlight": board.highlight,
        "row_labels": rows if any(rows) else [],
        "column_labels": columns if any(columns) else [],
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
