"""Draws a board as SVG, with the look of the page: for notebooks, files and links.

The picture shows everything that distinguishes two positions: pieces by shape and size, covered pieces in the corner of
their cell, reserves, coordinates, zones, a winning line, and who is to move. Colours are fixed, so it can be embedded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

from perfectplay.errors import UsageError
from perfectplay.game.board import Board, Cell, Piece, headings, player_colours

UNIT = 100
"""The side of a cell in the picture's coordinates."""
DEFAULT_CELL_PIXELS = 56
"""The side of a cell in pixels, unless a size is given."""
MAX_SEEDS = 30
"""A pit with more seeds shows this many, and their number."""

_MARGIN, _COORDINATES, _TRAY, _CAPTION = 12, 34, 64, 40
_WOOD, _WOOD_EDGE, _WOOD_LINE, _WOOD_INK = "#d9c3a0", "#b89a6e", "#6d5733", "#4b3c22"
_CELL, _CELL_EDGE, _ZONE = "#f4e8d3", "#8f7a55", "#c9ad80"
_HIGHLIGHT, _HIGHLIGHT_EDGE, _LAST, _ARROW = "#ffe58a", "#8a6500", "#3f63c4", "#17693f"
_CAPTION_BACK, _CAPTION_INK = "#f6f3ee", "#1d2230"

# For each colour: the fill of a piece, its edge, and the label on it. colours.css has the same fills and inks.
_PAINTS = {
    "orange": ("#e0680c", "#8b4007", "#3d1c00"),
    "blue": ("#2a62d6", "#1a3d85", "#ffffff"),
    "red": ("#c9302c", "#7d1e1b", "#ffffff"),
    "green": ("#2e8b3d", "#1d5626", "#ffffff"),
    "purple": ("#7a3fc4", "#4c277a", "#ffffff"),
    "teal": ("#0f8a8a", "#095656", "#ffffff"),
    "yellow": ("#e3b505", "#8d7003", "#2e2400"),
    "pink": ("#d8468e", "#862b58", "#2d0014"),
    "brown": ("#8a5a34", "#563820", "#ffffff"),
    "black": ("#2c303a", "#1b1e24", "#ffffff"),
    "white": ("#f4f1e8", "#979590", "#2a2720"),
    "grey": ("#868d9b", "#535760", "#14161c"),
}
_WITHOUT_LABEL = ("cross", "ring", "block")  # the shape shows what the piece is, or leaves no room


@dataclass(frozen=True, slots=True)
class Drawing:
    """Options of a picture."""

    arrows: Sequence[tuple[str | None, str | None]] = ()
    """Pairs of ids of cells or trays. A pair without a source is drawn as a ring around its target."""
    marked: Sequence[str | None] = ()
    """Ids of cells or trays to mark, such as those of the last move."""
    size: int | None = None
    """The width in pixels; by default it depends on the number of columns."""
    flipped: bool = False
    """Whether the second player is at the bottom. A board whose pieces fall down is never turned."""
    over: bool = False
    """Whether the game is over, so that no player is to move."""


def find_places(board: Board, move: int) -> tuple[str | None, str | None]:
    """Return the source and target of a move on its board; (None, None) if it has no place there."""
    return next(((click.source, click.target) for click in board.clicks if click.move == move), (None, None))


def draw_svg(board: Board, drawing: Drawing | None = None) -> str:
    """Return a picture of a board as SVG. Raises UsageError for an unknown cell or a size below 1."""
    return _Picture(board, drawing or Drawing()).draw()


def _polygon(count: int, radius: Iterable[float]) -> list[tuple[float, float]]:
    angles = [2 * math.pi * number / count - math.pi / 2 for number in range(count)]
    return [(math.cos(angle) * reach, math.sin(angle) * reach) for angle, reach in zip(angles, radius, strict=True)]


_OUTLINES = {
    "square": [(-0.84, -0.84), (0.84, -0.84), (0.84, 0.84), (-0.84, 0.84)],
    "triangle": [(0, -0.98), (1.04, 0.82), (-1.04, 0.82)],
    "diamond": [(0, -1.05), (1.05, 0), (0, 1.05), (-1.05, 0)],
    "pentagon": [(0, -1.05), (0.78, -0.55), (0.95, 0.95), (-0.95, 0.95), (-0.78, -0.55)],
    "hexagon": _polygon(6, [1.02] * 6),
    "star": _polygon(10, [1.08, 0.45] * 5),
    "cross": [
        *((0, -0.38), (0.62, -1), (1, -0.62), (0.38, 0), (1, 0.62), (0.62, 1)),
        *((0, 0.38), (-0.62, 1), (-1, 0.62), (-0.38, 0), (-1, -0.62), (-0.62, -1)),
    ],
}


class _Picture:
    """One picture. Coordinates are in hundredths of a cell, from the top left corner."""

    def __init__(self, board: Board, drawing: Drawing) -> None:
        if drawing.size is not None and drawing.size < 1:
            raise UsageError(f"the size of a picture must be at least 1 pixel, not {drawing.size}")
        self.board, self.drawing = board, drawing
        self.flipped = drawing.flipped and not board.upright
        colours = [_PAINTS[name] for name in player_colours(board)]
        self.paints = {0: colours[0], 1: colours[1], None: _PAINTS["grey"]}
        self.row_names, self.column_names = headings(board)
        self.trays = [[tray for tray in board.trays if (tray.piece.owner == 1) is second] for second in (True, False)]
        if self.flipped:
            self.trays.reverse()
        named = any(self.row_names) or any(self.column_names)
        self.left: float = _MARGIN + (_COORDINATES if named else 0)
        self.top = _MARGIN + (_TRAY if self.trays[0] else 0)
        self.field = board.columns * UNIT, board.rows * UNIT
        self.bottom = self.top + self.field[1] + (_COORDINATES if named else _MARGIN)
        needed = self.left + self.field[0] + _MARGIN
        self.width = max(needed, self._tray_width(), 3 * UNIT)
        self.left += (self.width - needed) / 2
        self.wood = self.bottom + (_TRAY if self.trays[1] else 0)
        self.height = self.wood + (_CAPTION if self.caption else 0)
        self.places = {cell.id: self._middle(cell) for cell in board.cells}
        for row, trays in enumerate(self.trays):
            y = _TRAY / 2 + 4 if row == 0 else self.bottom + _TRAY / 2 - 4
            self.places.update({tray.id: (_MARGIN + 34 + 110 * place, y) for place, tray in enumerate(trays)})
        for name in [*drawing.marked, *(end for arrow in drawing.arrows for end in arrow)]:
            if name is not None and name not in self.places:
                raise UsageError(f"there is no cell or tray {name!r} on the board")

    @property
    def caption(self) -> str:
        board = self.board
        return "" if len(board.players) == 1 or self.drawing.over else f"{board.players[board.to_move]} to move"

    def _tray_width(self) -> float:
        return _MARGIN + 110 * max(map(len, self.trays))

    def _middle(self, cell: Cell) -> tuple[float, float]:
        x, y = (cell.column + 0.5) * UNIT, (cell.row + 0.5) * UNIT
        if self.flipped:
            x, y = self.field[0] - x, self.field[1] - y
        return self.left + x, self.top + y

    def draw(self) -> str:
        pixels = self.drawing.size or round(self.width / UNIT * DEFAULT_CELL_PIXELS)
        tall = round(pixels * self.height / self.width)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{pixels}" height="{tall}" role="img" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" font-family="system-ui, sans-serif" font-weight="600">',
            f"<title>{escape(describe_board(self.board, over=self.drawing.over))}</title>",
            f'<rect width="{self.width:g}" height="{self.wood:g}" rx="16" fill="{_WOOD}" stroke="{_WOOD_EDGE}"/>',
            *self._ground(),
            *(part for cell in self.board.cells for part in self._cell(cell)),
            *self._coordinates(),
            *self._reserves(),
            *(part for arrow in self.drawing.arrows for part in self._arrow(*arrow)),
            *self._caption(),
        ]
        return "\n".join([*parts, "</svg>"]) + "\n"

    # ---- ground ----

    def _ground(self) -> Iterator[str]:
        for number, zone in enumerate(self.board.zones):
            if (number + number // 2) % 2 == 0:  # like a chessboard
                for x, y in (self.places[name] for name in zone):
                    yield f'<rect class="zone" x="{x - 50:g}" y="{y - 50:g}" width="100" height="100" fill="{_ZONE}"/>'
        for one, other in self.board.edges:
            (x1, y1), (x2, y2) = self.places[one], self.places[other]
            yield (
                f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{_WOOD_LINE}" stroke-width="5" '
                f'stroke-linecap="round"/>'
            )

    def _coordinates(self) -> Iterator[str]:
        rows, columns = [*self.row_names], [*self.column_names]
        if self.flipped:
            rows.reverse()
            columns.reverse()
        for number, name in enumerate(rows):
            if name:
                yield _text(name, self.left - _COORDINATES / 2 - 4, self.top + (number + 0.5) * UNIT, 22, _WOOD_INK)
        for number, name in enumerate(columns):
            if name:
                y = self.top + self.field[1] + _COORDINATES / 2
                yield _text(name, self.left + (number + 0.5) * UNIT, y, 22, _WOOD_INK)

    # ---- cells ----

    def _cell(self, cell: Cell) -> Iterator[str]:
        (x, y), board = self.places[cell.id], self.board
        width, height = cell.width * UNIT, cell.height * UNIT
        lit = cell.id in board.highlight or cell.id in board.claims
        stroke, thickness = (_HIGHLIGHT_EDGE, 6.0) if lit else (_CELL_EDGE, 2.0)
        if cell.id in self.drawing.marked:
            stroke, thickness = _LAST, 7.0
        fill = _HIGHLIGHT if lit else _CELL
        if board.edges:
            radius = 47 if lit or cell.id in self.drawing.marked else 15
            yield _circle(x, y, radius, fill, stroke, thickness)
        else:
            gap = 4.0
            corner = min(width / 2, height / 2, math.inf if cell.shape == "round" else 12)
            yield (
                f'<rect class="cell" x="{x - width / 2 + gap:g}" y="{y - height / 2 + gap:g}" '
                f'width="{width - 2 * gap:g}" height="{height - 2 * gap:g}" rx="{corner:g}" '
                f'fill="{fill}" stroke="{stroke}" stroke-width="{thickness:g}"/>'
            )
        if cell.stack:
            yield from self._piece(cell.stack[-1], x, y, cell)
        if cell.label and cell.shape == "round":
            yield _text(cell.label, x, y - height / 2 + 15, 16, _WOOD_INK)
        elif cell.label and not cell.stack:
            yield _text(cell.label, x, y, 22, _WOOD_INK)
        elif cell.label:
            dx, dy = (7, 10) if board.edges else (16, 18)  # pieces on points have the whole square
            yield _text(cell.label, x - width / 2 + dx, y - height / 2 + dy, 18, _WOOD_INK)
        for number, piece in enumerate(reversed(cell.stack[:-1])):
            small = replace(piece, size=0.45 + 0.5 * piece.size)
            yield from self._scaled(small, x - width / 2 + 22 + 30 * number, y + height / 2 - 22, 0.3)

    def _scaled(self, piece: Piece, x: float, y: float, scale: float) -> Iterator[str]:
        yield f'<g class="small" transform="translate({x:g} {y:g}) scale({scale:g})">'
        yield from self._piece(piece, 0, 0, None)
        yield "</g>"

    def _piece(self, piece: Piece, x: float, y: float, cell: Cell | None) -> Iterator[str]:
        fill, edge, ink = self.paints[piece.owner]
        width, height = (1.0, 1.0) if cell is None else (cell.width, cell.height)
        radius = 46 * piece.size * min(1.0, width, height)
        if piece.shape == "block":
            w, h = width * UNIT * piece.size, height * UNIT * piece.size
            place = f'x="{x - w / 2:g}" y="{y - h / 2:g}" width="{w:g}" height="{h:g}"'
            paint = f'fill="{_WOOD_LINE}"' if piece.owner is None else f'fill="{fill}" stroke="{edge}"'
            yield f'<rect {place} rx="{min(14, w / 2, h / 2):g}" {paint}/>'
            return
        if piece.shape == "seeds":
            yield from _seeds(piece, x, y, (width, height), (fill, edge))
            return
        if piece.shape == "circle":
            yield _circle(x, y, radius, fill, edge, 3)
            yield _circle(x, y, radius * 0.76, "none", edge, 1.5)
        elif piece.shape == "ring":
            yield _circle(x, y, radius * 0.76, "none", edge, radius * 0.48 + 4)
            yield _circle(x, y, radius * 0.76, "none", fill, radius * 0.48)
        elif piece.shape in _OUTLINES:
            down = piece.shape == "pentagon" and (piece.owner == 1) is not self.flipped
            points = [(px, -py if down else py) for px, py in _OUTLINES[piece.shape]]
            shown = " ".join(f"{x + px * radius * 0.9:.1f},{y + py * radius * 0.9:.1f}" for px, py in points)
            yield f'<polygon points="{shown}" fill="{fill}" stroke="{edge}" stroke-width="3" stroke-linejoin="round"/>'
        else:  # the label alone
            yield _text(piece.label, x, y, radius * 1.5 / max(1, len(piece.label) * 0.55), edge)
            return
        if piece.shape not in _WITHOUT_LABEL:
            shift = radius * 0.25 if piece.shape == "triangle" else 0
            height = max(13, radius * 0.62) / max(1, len(piece.label) * 0.55)
            yield _text(piece.label, x, y + shift, height, ink)

    # ---- around the board ----

    def _reserves(self) -> Iterator[str]:
        for trays in self.trays:
            for tray in trays:
                x, y = self.places[tray.id]
                stroke = _LAST if tray.id in self.drawing.marked else _CELL_EDGE
                yield (
                    f'<rect class="tray" x="{x - 30:g}" y="{y - 26:g}" width="100" height="52" rx="14" fill="{_CELL}" '
                    f'stroke="{stroke}" stroke-width="3" opacity="{1 if tray.count else 0.4:g}"/>'
                )
                yield from self._scaled(replace(tray.piece, size=0.4 + 0.6 * tray.piece.size), x, y, 0.5)
                yield _text(f"×{tray.count}", x + 46, y, 24, _WOOD_INK)

    def _arrow(self, source: str | None, target: str | None) -> Iterator[str]:
        if target is None:
            return
        x2, y2 = self.places[target]
        x1, y1 = (x2, y2) if source is None else self.places[source]
        length = math.hypot(x2 - x1, y2 - y1)
        if not length:
            ring = f'cx="{x2:g}" cy="{y2:g}" r="42" fill="none" stroke="{_ARROW}" stroke-width="7"'
            yield f'<circle class="arrow" {ring}/>'
            return
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - dx * 32, y2 - dy * 32
        head = [(x2 - dx * 8, y2 - dy * 8), (bx - dy * 14, by + dx * 14), (bx + dy * 14, by - dx * 14)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
        yield (
            f'<line class="arrow" x1="{x1 + dx * 20:.1f}" y1="{y1 + dy * 20:.1f}" x2="{bx:.1f}" y2="{by:.1f}" '
            f'stroke="{_ARROW}" stroke-width="9" opacity="0.85"/>'
        )
        yield f'<polygon points="{points}" fill="{_ARROW}" opacity="0.85"/>'

    def _caption(self) -> Iterator[str]:
        if self.caption:
            top = self.height - _CAPTION
            fill, edge, _ = self.paints[self.board.to_move]
            place = f'y="{top + 4:g}" width="{self.width:g}" height="{_CAPTION - 4}"'
            yield f'<rect {place} rx="8" fill="{_CAPTION_BACK}"/>'
            yield _circle(_MARGIN + 10, top + _CAPTION / 2 + 2, 9, fill, edge, 2)
            yield (
                f'<text x="{_MARGIN + 28}" y="{top + _CAPTION / 2 + 9:g}" font-size="22" fill="{_CAPTION_INK}">'
                f"{escape(self.caption)}</text>"
            )


def _circle(x: float, y: float, radius: float, fill: str, stroke: str, thickness: float) -> str:
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="{radius:.1f}" fill="{fill}" stroke="{stroke}" stroke-width="{thickness:g}"/>'
    )


def _text(text: str, x: float, y: float, height: float, fill: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{height:.1f}" text-anchor="middle" dominant-baseline="central" '
        f"fill={quoteattr(fill)}>{escape(text)}</text>"
    )


def _seeds(piece: Piece, x: float, y: float, cell: tuple[float, float], paint: tuple[str, str]) -> Iterator[str]:
    """Yield seeds in a spiral, and their number."""
    count = int(piece.label) if piece.label.isdecimal() else 0
    shown, reach = min(count, MAX_SEEDS), min(30.0, 5 + 5.5 * math.sqrt(count))
    for number in range(shown):
        distance = reach * math.sqrt((number + (0.5 if count > 1 else 0)) / shown)
        angle = number * 2.39996  # the golden angle spreads them evenly
        sx, sy = x + distance * math.cos(angle) * cell[0], y - 6 + distance * math.sin(angle) * cell[1]
        yield f'<circle class="seed" cx="{sx:.1f}" cy="{sy:.1f}" r="5.6" fill="{paint[0]}" stroke="{paint[1]}"/>'
    yield _text(piece.label, x, y + 50 * cell[1] - 18, 20, _WOOD_INK)


def describe_board(board: Board, *, over: bool = False) -> str:
    """Return a board in words, for people who cannot see the picture."""

    def name(piece: Piece) -> str:
        owner = "" if piece.owner is None else f"{board.players[piece.owner]} "
        return f"{owner}{f'{piece.label} seeds' if piece.shape == 'seeds' else piece.name or piece.label}"

    texts = [f"{cell.id}: {' over '.join(map(name, reversed(cell.stack)))}" for cell in board.cells if cell.stack]
    turn = "game over" if over else f"{board.players[board.to_move]} to move"
    return f"{turn}; {', '.join(texts) or 'the board is empty'}"
