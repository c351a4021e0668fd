"""What a board looks like: enough for a terminal and a browser to draw any game and to play it by clicking.

A board has cells, each with a stack of pieces, and trays of pieces not in play. Cells stand in rows and columns, or
anywhere, joined by edges: a star, a graph, hexagons. A move is played by clicking its target, after its source where
it has one; a move that is not on the board at all, such as a pass, is a button beside it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from xml.sax.saxutils import escape

MAX_SIDE = 64
"""The most rows and columns that can be drawn."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece. `owner` is 0 for the player who begins, 1 for the other, None for a piece of nobody's."""

    owner: int | None
    label: str
    """One to three characters for a terminal, and the accessible name in a browser."""
    size: float = 1.0
    """Relative to its cell, above 0 up to 1."""
    shape: str = "circle"
    """circle, square, triangle, diamond, pentagon, hexagon, cross, star, block or text; a browser draws `label` for any
    other.

    A pentagon points away from its owner, as the pieces of shogi do. A block fills its cell, whatever the cell's shape.
    """


@dataclass(frozen=True, slots=True)
class Cell:
    """One place on the board. `row` 0 is the top; `stack` runs from the bottom to the visible top.

    Rows and columns may be fractions: the middle of a cell is at (column + ½, row + ½) from the top left corner.
    """

    id: str
    row: float
    column: float
    stack: tuple[Piece, ...] = ()
    label: str = ""
    """The cell's name, drawn in it; not needed where rows and columns have names."""
    width: float = 1.0
    """How wide it is drawn, in columns: a line to be drawn is long and thin."""
    height: float = 1.0
    """How high it is drawn, in rows."""


@dataclass(frozen=True, slots=True)
class Tray:
    """Pieces of one kind in a player's reserve or hand."""

    id: str
    piece: Piece
    count: int


@dataclass(frozen=True, slots=True)
class Click:
    """How a move is made by hand: `source` first (a cell or tray id, None where the target says it all).

    Without a target it is a button beside the board. Where several moves share source and target, the player is asked.
    """

    move: int
    target: str | None
    source: str | None = None
    label: str = ""
    """What the button or the choice says, such as "Pass" or "to a queen"; empty for the move's own text."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the labels on a board make a text that `encode` reads, so that an editor can write it.

    Row by row from the top, cell by cell, each stack from the bottom up; `ending` is for the two players to move.
    `pieces` are all there are, to choose from.
    """

    pieces: tuple[Piece, ...]
    empty: str = "."
    between_cells: str = ""
    between_rows: str = "/"
    ending: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Board:
    """A whole position, ready to draw."""

    rows: float
    columns: float
    cells: tuple[Cell, ...]
    to_move: int
    """0 if the player who begins is to move, else 1."""
    players: tuple[str, ...] = ("First", "Second")
    """Two names, or one: a puzzle."""
    trays: tuple[Tray, ...] = ()
    clicks: tuple[Click, ...] = ()
    """One for each legal move."""
    blocked: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why not: for a source id, the target ids it may not go to, each with the reason in a few words."""
    warnings: dict[str, str] = field(default_factory=dict)
    """What taking hold of a source would bring about, in a few words; only where a player should know."""
    spelling: Spelling | None = None
    """How an editor may write the position; None where only `encode` knows."""
    edges: tuple[tuple[str, str], ...] = ()
    """Lines between cells, by their ids. With edges, cells are drawn as points on the lines, not as squares."""
    zones: tuple[tuple[str, ...], ...] = ()
    """Cells that belong together by the rules, drawn as one area, each by its ids."""
    highlight: tuple[str, ...] = ()
    """Cells to point out, such as the line that has won."""
    colours: tuple[str, ...] = ()
    """The players' colours, out of COLOURS; by default that of a player's name ("Red"), else orange and blue."""
    row_labels: tuple[str, ...] = ()
    """Names of the rows from the top; by default what the cells' ids tell."""
    column_labels: tuple[str, ...] = ()
    """Names of the columns from the left; by default what the cells' ids tell."""


COLOURS = ("orange", "blue", "red", "green", "purple", "teal", "yellow", "pink", "brown", "black", "white", "grey")
"""The colours a player may have: each is drawn so that it can be told apart on a light and on a dark page."""


def player_colours(board: Board) -> tuple[str, str]:
    """The two players' colours: those the board gives, else by the players' names, else orange and blue."""
    named = [*board.colours, *(name.lower() for name in board.players[len(board.colours) :])]
    known = [name if name in COLOURS else "" for name in named[:2]] + ["", ""]
    first = known[0] or next(name for name in ("orange", "blue") if name != known[1])
    return first, known[1] or next(name for name in ("blue", "orange") if name != first)


def headings(board: Board) -> tuple[Sequence[str], Sequence[str]]:
    """Names of rows and columns: those given, or what ids such as `b2` and `(1,1)` are made of; else empty ones."""
    rows, columns = math.ceil(board.rows), math.ceil(board.columns)
    if board.row_labels or board.column_labels:
        return _filled(board.row_labels, rows), _filled(board.column_labels, columns)
    return _told_by_ids(rows, columns, tuple((cell.id, cell.row, cell.column) for cell in board.cells))


@lru_cache(maxsize=200)  # all boards of a game have the same places
def _told_by_ids(
    rows: int, columns: int, places: tuple[tuple[str, float, float], ...]
) -> tuple[Sequence[str], Sequence[str]]:
    nothing = [""] * rows, [""] * columns
    by_number = {name: (int(row), int(column)) for name, row, column in places}
    if not places or any((row, column) != by_number[name] for name, row, column in places):
        return nothing
    if all(name == f"({row},{column})" for name, (row, column) in by_number.items()):
        return [str(row) for row in range(rows)], [str(column) for column in range(columns)]
    row_of = {row: name[1:] for name, (row, _) in by_number.items()}
    column_of = {column: name[:1] for name, (_, column) in by_number.items()}
    chess_like = all(re.fullmatch(r"[A-Za-z][0-9]+", name) for name in by_number)
    if chess_like and all(name == column_of[column] + row_of[row] for name, (row, column) in by_number.items()):
        return [row_of.get(row, "") for row in range(rows)], [column_of.get(column, "") for column in range(columns)]
    return nothing


def _filled(labels: Sequence[str], count: int) -> list[str]:
    return [*labels[:count], *[""] * (count - len(labels))]


def board_fault(board: Board) -> str | None:
    """Why a board cannot be drawn or clicked, in a few words; None if it can.

    Types are not promises: whatever a plugin puts into a board, either it can be drawn or this says why not.
    """
    try:
        return next(_faults(board), None)
    except (TypeError, ValueError, AttributeError) as error:
        return f"its parts are not what they should be: {error}"


def _faults(board: Board) -> Iterator[str]:
    for name, side in (("rows", board.rows), ("columns", board.columns)):
        if not _is_number(side) or not 0 < side <= MAX_SIDE:
            yield f"{name} is {side!r}: a number above 0 up to {MAX_SIDE} was expected"
    if board.to_move not in range(len(board.players)) or len(board.players) not in (1, 2):
        yield f"to_move is {board.to_move!r} among {len(board.players)} players"
    ids = [cell.id for cell in board.cells] + [tray.id for tray in board.trays]
    known = set(ids)
    if len(known) != len(ids):
        yield from (f"there are {count} places {name!r}" for name, count in Counter(ids).items() if count > 1)
    last_row, last_column = board.rows - 0.5, board.columns - 0.5
    yield from _odd_numbers(board.cells)
    for cell in board.cells:
        if not (-1 < cell.row <= last_row and -1 < cell.column <= last_column):
            yield f"cell {cell.id!r} at row {cell.row}, column {cell.column} is outside the board"
        if not (0 < cell.width <= board.columns and 0 < cell.height <= board.rows):
            yield f"cell {cell.id!r} is {cell.width} wide and {cell.height} high: the board has no room for it"
    for tray in board.trays:
        if not isinstance(tray.count, int) or tray.count < 0:
            yield f"tray {tray.id!r} holds {tray.count!r} pieces"
    pieces = [piece for cell in board.cells for piece in cell.stack] + [tray.piece for tray in board.trays]
    for piece in {id(piece): piece for piece in pieces}.values():  # many are the same object
        if fault := _piece_fault(piece):
            yield fault
    named = {click.target for click in board.clicks} | {click.source for click in board.clicks}
    named = named.union(board.highlight, *board.edges, *board.zones) - known - {None}
    yield from (f"there is no place {name!r}" for name in named)
    yield from (f"edge {edge!r} does not join two cells" for edge in board.edges if len(edge) != 2)
    texts = [*ids, *board.players, *board.row_labels, *board.column_labels, *board.colours]
    texts += {click.label for click in board.clicks} | {cell.label for cell in board.cells}
    texts += [*board.warnings, *board.warnings.values()]
    for refused in board.blocked.values():
        texts += refused
        texts += refused.values()
    if {*map(type, texts)} != {str}:
        yield from (f"{text!r} is not a text" for text in texts if not isinstance(text, str))


def _odd_numbers(cells: Sequence[Cell]) -> Iterator[str]:
    """Which cells are not where numbers say, if any: all are looked at together first, for they hardly ever are."""
    numbers = [(cell.row, cell.column, cell.width, cell.height) for cell in cells]
    if not {*map(type, chain.from_iterable(numbers))} <= {int, float}:
        for cell, own in zip(cells, numbers, strict=True):
            if not all(map(_is_number, own)):
                yield f"cell {cell.id!r} has row, column, width and height {own!r}: numbers were expected"


def _piece_fault(piece: Piece) -> str | None:
    if piece.owner not in (0, 1, None) or not isinstance(piece.label, str) or not isinstance(piece.shape, str):
        return f"{piece!r} is not a piece that can be drawn"
    if not _is_number(piece.size) or not 0 < piece.size <= 1:
        return f"a piece's size is {piece.size!r}: a number above 0 up to 1 was expected"
    return None


def _is_number(thing: object) -> bool:
    return isinstance(thing, (int, float)) and not isinstance(thing, bool) and math.isfinite(thing)


# A Board as a small SVG picture, for notebooks: cells, lines, pieces with their labels, and who is to move.

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
