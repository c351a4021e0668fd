"""Draws a Board as text: what a terminal shows where a browser shows pictures.

    0   1   2
  ┌───┬───┬───┐
0 │ S │   │   │     each cell shows its top piece; pieces underneath stand below it in brackets
  ├───┼───┼───┤
1 │   │ L │   │
  │   │(s)│   │
  └───┴───┴───┘
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perfectplay.board import Board, Cell, Piece

_MARKS = ("●", "○")


def draw(board: Board) -> str:
    """The whole position: grid, reserves, and who is to move. Lines end without spaces."""
    mark = _needs_marks(board)
    lines = [*_grid(board, mark), *_reserves(board, mark)]
    lines.append(f"{_player(board, board.to_move, mark)} to move")
    return "\n".join(line.rstrip() for line in lines)


def _grid(board: Board, mark: bool) -> list[str]:
    cells = {(cell.row, cell.column): cell for cell in board.cells}
    covered_shown = any(len(cell.stack) > 1 for cell in board.cells)
    texts = {place: _cell_lines(cell, mark, covered_shown) for place, cell in cells.items()}
    width = max([3, *(len(line) for lines in texts.values() for line in lines)])
    height = 2 if covered_shown else 1
    row_names, column_names = _headings(board)
    margin = max(map(len, row_names))
    no_cell = ["░" * width] * height  # a hole in the board

    def rule(left: str, middle: str, right: str) -> str:
        return " " * (margin + 1) + left + middle.join(["─" * width] * board.columns) + right

    lines = [" " * (margin + 2) + " ".join(name.center(width) for name in column_names), rule("┌", "┬", "┐")]
    for row in range(board.rows):
        if row:
            lines.append(rule("├", "┼", "┤"))
        for part in range(height):
            name = row_names[row] if part == 0 else ""
            contents = (texts.get((row, column), no_cell)[part].center(width) for column in range(board.columns))
            lines.append(f"{name:>{margin}} │" + "│".join(contents) + "│")
    lines.append(rule("└", "┴", "┘"))
    return lines if any(column_names) else lines[1:]


def _cell_lines(cell: Cell, mark: bool, covered_shown: bool) -> list[str]:
    top = _piece(cell.stack[-1], mark) if cell.stack else ""
    if not covered_shown:
        return [top]
    covered = " ".join(_piece(piece, mark) for piece in reversed(cell.stack[:-1]))
    return [top, f"({covered})" if covered else ""]


def _headings(board: Board) -> tuple[Sequence[str], Sequence[str]]:
    """Names of rows and columns, where the cells' ids are made of them: `b2`, or `(1,1)`."""
    by_number = {cell.id: (str(cell.row), str(cell.column)) for cell in board.cells}
    if all(name == f"({row},{column})" for name, (row, column) in by_number.items()):
        return [str(row) for row in range(board.rows)], [str(column) for column in range(board.columns)]
    rows = {cell.row: cell.id[1:] for cell in board.cells}
    columns = {cell.column: cell.id[:1] for cell in board.cells}
    chess_like = all(re.fullmatch(r"[A-Za-z][0-9]+", cell.id) for cell in board.cells)
    if chess_like and all(cell.id == columns[cell.column] + rows[cell.row] for cell in board.cells):
        row_names = [rows.get(row, "") for row in range(board.rows)]
        return row_names, [columns.get(column, "") for column in range(board.columns)]
    return [""] * board.rows, [""] * board.columns


def _reserves(board: Board, mark: bool) -> list[str]:
    lines = []
    for owner in (0, 1, None):
        trays = [tray for tray in board.trays if tray.piece.owner == owner]
        if trays:
            whose = "anyone" if owner is None else _player(board, owner, mark)
            left = "  ".join(f"{tray.count}×{_piece(tray.piece, mark)}" for tray in trays if tray.count)
            lines.append(f"{whose} has {left or 'nothing'} in reserve")
    return lines


def _needs_marks(board: Board) -> bool:
    """Whether labels alone leave open whose a piece is."""
    pieces = [piece for cell in board.cells for piece in cell.stack] + [tray.piece for tray in board.trays]
    labels = [{piece.label for piece in pieces if piece.owner == owner} for owner in (0, 1)]
    return bool(labels[0] & labels[1])


def _piece(piece: Piece, mark: bool) -> str:
    return (_MARKS[piece.owner] if mark and piece.owner is not None else "") + piece.label


def _player(board: Board, owner: int, mark: bool) -> str:
    return board.players[owner] + (f" ({_MARKS[owner]})" if mark else "")
