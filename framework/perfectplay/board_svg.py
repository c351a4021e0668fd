"""A Board as a small SVG picture, for notebooks: cells, lines, pieces with their labels, and who is to move."""

from __future__ import annotations

from xml.sax.saxutils import escape

from perfectplay.board import Board, Cell, player_colours

_UNIT = 48
_MARGIN = 8
_NOBODY = "grey"
_LINE = "#9ca3af"


def svg(board: Board, *, over: bool = False) -> str:
    """The picture as the text of an SVG file; without who is to move where the game is over or one plays alone."""
    width, height = board.columns * _UNIT + 2 * _MARGIN, board.rows * _UNIT + 2 * _MARGIN + 24
    places = {cell.id: _middle(cell) for cell in board.cells}
    parts = [_edge(places[one], places[other]) for one, other in board.edges]
    colours = player_colours(board)
    for cell in board.cells:
        parts += _cell(cell, colours, point=bool(board.edges), highlight=cell.id in board.highlight)
    if len(board.players) > 1 and not over:
        turn = escape(f"{board.players[board.to_move]} to move")
        parts.append(f'<text x="{_MARGIN}" y="{height - 10:g}" font-size="13" fill="currentColor">{turn}</text>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif">\n{body}\n</svg>\n'
    )


def _middle(cell: Cell) -> tuple[float, float]:
    return _MARGIN + (cell.column + 0.5) * _UNIT, _MARGIN + (cell.row + 0.5) * _UNIT


def _edge(one: tuple[float, float], other: tuple[float, float]) -> str:
    return f'<line x1="{one[0]:g}" y1="{one[1]:g}" x2="{other[0]:g}" y2="{other[1]:g}" stroke="{_LINE}"/>'


def _rectangle(cell: Cell, fill: str) -> str:
    x, y = _middle(cell)
    width, height = cell.width * _UNIT, cell.height * _UNIT
    return (
        f'<rect x="{x - width / 2:g}" y="{y - height / 2:g}" width="{width:g}" height="{height:g}" '
        f'fill="{fill}" stroke="{_LINE}"/>'
    )


def _cell(cell: Cell, colours: tuple[str, str], *, point: bool, highlight: bool) -> list[str]:
    x, y = _middle(cell)
    if point:
        parts = [f'<circle cx="{x:g}" cy="{y:g}" r="4" fill="{_LINE}"/>']
    else:
        parts = [_rectangle(cell, "#fef08a" if highlight else "none")]
    for piece in cell.stack:  # from the bottom up: larger pieces below stay visible around smaller ones
        colour = _NOBODY if piece.owner is None else colours[piece.owner]
        if piece.shape == "block":
            return [*parts, _rectangle(cell, colour)]
        radius = _UNIT * 0.44 * piece.size * min(cell.width, cell.height)
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="{colour}" stroke="{_LINE}"/>')
    if cell.stack:
        owner = cell.stack[-1].owner
        ink = "black" if owner is not None and colours[owner] in ("white", "yellow") else "white"
        label = escape(cell.stack[-1].label)
        parts.append(f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" font-size="14" fill="{ink}">{label}</text>')
    return parts
