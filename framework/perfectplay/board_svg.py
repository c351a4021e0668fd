"""A Board as a small SVG picture, for notebooks and documents: cells, pieces with their labels, who is to move."""

from __future__ import annotations

from xml.sax.saxutils import escape

from perfectplay.board import Board, Cell

_UNIT = 48
_MARGIN = 8
_COLOURS = ("#d97706", "#2563eb")
_NOBODY = "#6b7280"


def svg(board: Board) -> str:
    """The picture as the text of an SVG file."""
    width, height = board.columns * _UNIT + 2 * _MARGIN, board.rows * _UNIT + 2 * _MARGIN + 24
    parts = [part for cell in board.cells for part in _cell(cell)]
    turn = escape(f"{board.players[board.to_move]} to move")
    parts.append(f'<text x="{_MARGIN}" y="{height - 10}" font-size="13" fill="currentColor">{turn}</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif">\n{body}\n</svg>\n'
    )


def _cell(cell: Cell) -> list[str]:
    x, y = _MARGIN + cell.column * _UNIT, _MARGIN + cell.row * _UNIT
    parts = [f'<rect x="{x}" y="{y}" width="{_UNIT}" height="{_UNIT}" fill="none" stroke="#9ca3af"/>']
    middle_x, middle_y = x + _UNIT / 2, y + _UNIT / 2
    for piece in cell.stack:  # from the bottom up: larger pieces below stay visible around smaller ones
        colour = _NOBODY if piece.owner is None else _COLOURS[piece.owner]
        radius = _UNIT * 0.44 * piece.size
        parts.append(f'<circle cx="{middle_x}" cy="{middle_y}" r="{radius:.1f}" fill="{colour}" stroke="white"/>')
    if cell.stack:
        parts.append(
            f'<text x="{middle_x}" y="{middle_y + 5}" text-anchor="middle" font-size="14" fill="white">'
            f"{escape(cell.stack[-1].label)}</text>"
        )
    return parts
