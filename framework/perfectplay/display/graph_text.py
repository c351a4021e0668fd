"""Draws a board whose cells stand anywhere as text: points where the cells are, and the edges between them.

X───────O───────·     a point shows its top piece, an empty one its name
│ ╲     │     ╱ │
"""

from __future__ import annotations

from collections.abc import Callable

from perfectplay.board import Board, Cell, Piece

_ACROSS, _DOWN = 8, 4
"""Characters for the width and the height of a cell."""


def graph_lines(board: Board, draw_piece: Callable[[Piece], str], paint: Callable[[str, int | None], str]) -> list[str]:
    """The lines of the drawing."""
    canvas: dict[tuple[int, int], str] = {}
    places = {cell.id: (round(cell.row * _DOWN), round(cell.column * _ACROSS)) for cell in board.cells}
    for first, second in board.edges:
        _draw_edge(canvas, places[first], places[second])
    for cell in board.cells:
        row, column = places[cell.id]
        text = _text(cell, draw_piece)
        owner = cell.stack[-1].owner if cell.stack else None
        for offset, letter in enumerate(text):
            canvas[row, column - len(text) // 2 + offset] = paint(letter, owner)
    top, left = min(row for row, _ in canvas), min(column for _, column in canvas)
    lines: list[str] = []
    for row in range(top, max(row for row, _ in canvas) + 1):
        columns = [column for at, column in canvas if at == row]
        lines.append("".join(canvas.get((row, column), " ") for column in range(left, max(columns, default=left) + 1)))
    return [f"  {line}" for line in lines]


def _text(cell: Cell, draw_piece: Callable[[Piece], str]) -> str:
    if not cell.stack:
        return cell.label or cell.id
    top, *covered = [draw_piece(piece) for piece in reversed(cell.stack)]
    return f"{top}({' '.join(covered)})" if covered else f"[{top}]"


def _draw_edge(canvas: dict[tuple[int, int], str], start: tuple[int, int], end: tuple[int, int]) -> None:
    down, across = end[0] - start[0], end[1] - start[1]
    steps = max(abs(down), abs(across))
    if abs(down) * 4 < abs(across):
        letter = "─"
    elif abs(across) * 2 < abs(down):
        letter = "│"
    else:
        letter = "╲" if (down > 0) == (across > 0) else "╱"
    for step in range(1, steps):
        row, column = start[0] + round(down * step / steps), start[1] + round(across * step / steps)
        if letter in "─│" or row not in (start[0], end[0]) or abs(down) == 1:  # a slope leaves its ends' rows to others
            canvas[row, column] = letter
