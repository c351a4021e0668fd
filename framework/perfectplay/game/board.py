"""The description of a board: a terminal and a browser can draw any game from it, and play it by clicking.

A board has cells, each with a stack of pieces, and trays of pieces not in play. Cells are in rows and columns, or
anywhere, joined by edges (a star, a graph, hexagons). To play a move, the player clicks its source, if it has one, and
then its target. A move without a place on the board, such as a pass, is a button next to it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

MAX_SIDE = 64
"""The largest number of rows and columns."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece. `owner` is 0 for the first player, 1 for the second, None for a neutral piece."""

    owner: int | None
    label: str
    """One to three characters for a terminal and an editor, drawn on the piece unless its shape shows it."""
    size: float = 1.0
    """Relative to its cell; above 0 and at most 1."""
    shape: str = "circle"
    """One of SHAPES.

    A pentagon points away from its owner, as in shogi. A block fills its cell, or
    is a line along an oblong one. Seeds are as many as the label says.
    """
    name: str = ""
    """A word for screen readers, such as "small"; by default the label."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the board. `row` 0 is the top; `stack` is ordered from the bottom to the visible top.

    Rows and columns may be fractions. The centre of a cell is at (column + ½, row + ½) from the top left corner.
    """

    id: str
    row: float
    column: float
    stack: tuple[Piece, ...] = ()
    label: str = ""
    """A name to draw in the cell, for boards whose rows and columns have no names."""
    width: float = 1.0
    """In columns. A cell for a line is long and thin."""
    height: float = 1.0
    """In rows."""
    shape: str = "square"
    """square or round."""


@dataclass(frozen=True, slots=True)
class Tray:
    """Pieces of one kind in a player's reserve or hand."""

    id: str
    piece: Piece
    count: int


@dataclass(frozen=True, slots=True)
class Click:
    """The clicks that make a move: first `source` (the id of a cell or tray, or None), then `target`, then `capture`.

    Without a target the move is a button next to the board. The player chooses between moves with the same clicks.
    """

    move: int
    target: str | None
    source: str | None = None
    label: str = ""
    """The text of the button or choice, such as "Pass" or "to a queen"; by default that of `format_move`."""
    capture: str | None = None
    """The piece to remove, which the player clicks last if other moves share source and target."""
    region: tuple[str, ...] = ()
    """Cells that count as the target, such as a whole column. A piece falls to the target from the first of them."""
    path: tuple[str, ...] = ()
    """Cells that get a seed from the target, one after the other."""
    ends: tuple[str, ...] = ()
    """Two cells; dragging from one to the other makes the move too."""
    shifts: tuple[tuple[str, str], ...] = ()
    """Other pieces that the move displaces, each by source and target."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How to write the board as a text that `encode` reads, for an editor with which places are changed by clicks.

    `template` is the text with a field for everything that can be changed: `{a1}` is the content of a cell, the labels
    of its pieces from the bottom up or `empty`; `{a1:x}` is `x` if the cell has a piece, else `empty`; for a place in
    `counts` and a tray it is the number of pieces; `{tray:C}` is nothing, `C` or `2C`; and `{}` is the player to move.

    >>> grid_template([["a2", "b2"], ["a1", "b1"]]) + ":{}"
    '{a2}{b2}/{a1}{b1}:{}'
    """

    pieces: tuple[Piece, ...]
    """All pieces to choose from."""
    template: str
    movers: tuple[str, str] = ("", "")
    """The texts for the first and the second player to move."""
    empty: str = "."
    counts: tuple[str, ...] = ()
    """Cells with a number, such as pits with seeds. A click adds one."""
    stacks: bool = False
    """Whether a cell may have several pieces. Otherwise a piece replaces the one before."""


_FIELD = re.compile(r"\{([^:}]*)(?::([^}]*))?\}")


def grid_template(rows: Sequence[Sequence[str]], between_cells: str = "", between_rows: str = "/") -> str:
    """Return the part of a spelling's template for cells in rows, by their ids."""
    return between_rows.join(between_cells.join(f"{{{name}}}" for name in row) for row in rows)


def spell_board(board: Board) -> str:
    """Return the text of a board with a spelling. static/editor.js does the same after each click."""
    spelling = board.spelling
    assert spelling is not None
    trays = {tray.id: tray.count for tray in board.trays}
    stacks = {cell.id: [piece.label for piece in cell.stack] for cell in board.cells}

    def spell(field: re.Match[str]) -> str:
        name, text = field.groups()
        if not name:
            return spelling.movers[board.to_move]
        if name in trays and text is not None:
            return "" if not trays[name] else text if trays[name] == 1 else f"{trays[name]}{text}"
        if name in trays:
            return str(trays[name])
        if name in spelling.counts:
            return "".join(stacks[name]) or "0"
        if text is not None:
            return text if stacks[name] else spelling.empty
        return "".join(stacks[name]) or spelling.empty

    return _FIELD.sub(spell, spelling.template)


@dataclass(frozen=True, slots=True)
class Board:
    """A position, ready to draw."""

    rows: float
    columns: float
    cells: tuple[Cell, ...]
    to_move: int
    """0 for the first player, 1 for the second."""
    players: tuple[str, ...] = ("First", "Second")
    """Two names, or one for a puzzle."""
    trays: tuple[Tray, ...] = ()
    clicks: tuple[Click, ...] = ()
    """One for each legal move."""
    blocked: dict[str, dict[str, str]] = field(default_factory=dict)
    """Short reasons why a move is illegal, by source id and target id."""
    warnings: dict[str, str] = field(default_factory=dict)
    """Short warnings to show when a source is selected, by its id."""
    spelling: Spelling | None = None
    """How an editor writes the position; None for a board that cannot be edited."""
    edges: tuple[tuple[str, str], ...] = ()
    """Lines between cells, by their ids. With edges, cells are drawn as points, not as squares."""
    zones: tuple[tuple[str, ...], ...] = ()
    """Groups of cells to draw as one area, by their ids."""
    highlight: tuple[str, ...] = ()
    """Cells to highlight, such as a winning line."""
    colours: tuple[str, ...] = ()
    """The players' colours, from COLOURS; by default those of the players' names ("Red"), else orange and blue."""
    row_labels: tuple[str, ...] = ()
    """Names of the rows from the top; by default derived from the ids of the cells."""
    column_labels: tuple[str, ...] = ()
    """Names of the columns from the left; by default derived from the ids of the cells."""
    upright: bool = False
    """Whether the board is never turned around, because its pieces fall down."""
    claims: tuple[str, ...] = ()
    """Cells that belong to the player after whose move they first appear here, such as closed boxes."""


SHAPES = (
    *("circle", "square", "triangle", "diamond", "pentagon", "hexagon", "cross", "ring", "star"),
    *("block", "seeds", "text"),
)
"""The shapes of pieces. A browser draws the label of any other shape."""
CELL_SHAPES = ("square", "round")


COLOURS = ("orange", "blue", "red", "green", "purple", "teal", "yellow", "pink", "brown", "black", "white", "grey")
"""The possible colours of a player; each is readable on a light and on a dark page."""


def player_colours(board: Board) -> tuple[str, str]:
    """Return the two players' colours: those of the board, else of the players' names, else orange and blue."""
    names = [*board.colours, *(name.lower() for name in board.players[len(board.colours) :])]
    colours = [name if name in COLOURS else "" for name in names[:2]] + ["", ""]
    first = colours[0] or next(name for name in ("orange", "blue") if name != colours[1])
    return first, colours[1] or next(name for name in ("blue", "orange") if name != first)


def headings(board: Board) -> tuple[Sequence[str], Sequence[str]]:
    """Return the names of rows and columns: those of the board, else the parts of ids such as `b2` and `(1,1)`."""
    rows, columns = math.ceil(board.rows), math.ceil(board.columns)
    if board.row_labels or board.column_labels:
        return _filled(board.row_labels, rows), _filled(board.column_labels, columns)
    return _headings_from_ids(rows, columns, tuple((cell.id, cell.row, cell.column) for cell in board.cells))


@lru_cache(maxsize=200)  # all boards of a game have the same cells
def _headings_from_ids(
    rows: int, columns: int, places: tuple[tuple[str, float, float], ...]
) -> tuple[Sequence[str], Sequence[str]]:
    empty = [""] * rows, [""] * columns
    by_number = {name: (int(row), int(column)) for name, row, column in places}
    if not places or any((row, column) != by_number[name] for name, row, column in places):
        return empty
    if all(name == f"({row},{column})" for name, (row, column) in by_number.items()):
        return [str(row) for row in range(rows)], [str(column) for column in range(columns)]
    row_of = {row: name[1:] for name, (row, _) in by_number.items()}
    column_of = {column: name[:1] for name, (_, column) in by_number.items()}
    chess_like = all(re.fullmatch(r"[A-Za-z][0-9]+", name) for name in by_number)
    if chess_like and all(name == column_of[column] + row_of[row] for name, (row, column) in by_number.items()):
        return [row_of.get(row, "") for row in range(rows)], [column_of.get(column, "") for column in range(columns)]
    return empty


def _filled(labels: Sequence[str], count: int) -> list[str]:
    return [*labels[:count], *[""] * (count - len(labels))]


def board_fault(board: Board) -> str | None:
    """Return why a board cannot be drawn or clicked, or None.

    Annotations are not enforced, so a plugin may put anything into a board.
    """
    try:
        return next(_faults(board), None)
    except (TypeError, ValueError, AttributeError) as error:
        return f"it contains values of the wrong type: {error}"


def _faults(board: Board) -> Iterator[str]:
    for name, side in (("rows", board.rows), ("columns", board.columns)):
        if not _is_number(side) or not 0 < side <= MAX_SIDE:
            yield f"{name} is {side!r}; expected a number above 0, at most {MAX_SIDE}"
    if board.to_move not in range(len(board.players)) or len(board.players) not in (1, 2):
        yield f"to_move is {board.to_move!r} among {len(board.players)} players"
    ids = [cell.id for cell in board.cells] + [tray.id for tray in board.trays]
    yield from (f"{count} cells or trays have the id {name!r}" for name, count in Counter(ids).items() if count > 1)
    last_row, last_column = board.rows - 0.5, board.columns - 0.5
    yield from _odd_numbers(board.cells)
    for cell in board.cells:
        if not (-1 < cell.row <= last_row and -1 < cell.column <= last_column):
            yield f"cell {cell.id!r} at row {cell.row}, column {cell.column} is outside the board"
        if not (0 < cell.width <= board.columns and 0 < cell.height <= board.rows):
            yield f"cell {cell.id!r} is {cell.width} wide and {cell.height} high, which exceeds the board"
    for tray in board.trays:
        if not isinstance(tray.count, int) or tray.count < 0:
            yield f"tray {tray.id!r} has {tray.count!r} pieces"
    pieces = [piece for cell in board.cells for piece in cell.stack] + [tray.piece for tray in board.trays]
    for piece in {id(piece): piece for piece in pieces}.values():  # many cells share one object
        if fault := _piece_fault(piece):
            yield fault
    used = {click.target for click in board.clicks} | {click.source for click in board.clicks}
    used |= {click.capture for click in board.clicks}
    extra = [
        places for click in board.clicks for places in (click.region, click.path, click.ends, *click.shifts) if places
    ]
    if board.spelling is not None:
        used.update(name for name, _ in _FIELD.findall(board.spelling.template) if name)
        used.update(board.spelling.counts)
    unknown = used.union(board.highlight, board.claims, *extra, *board.edges, *board.zones) - {*ids, None}
    yield from (f"there is no cell or tray with the id {name!r}" for name in unknown)
    yield from (f"a click's ends {click.ends!r} are not two cells" for click in board.clicks if len(click.ends) % 2)
    yield from (f"edge {edge!r} does not join two cells" for edge in board.edges if len(edge) != 2)
    texts = [*ids, *board.players, *board.row_labels, *board.column_labels, *board.colours]
    texts += {click.label for click in board.clicks} | {cell.label for cell in board.cells}
    texts += {cell.shape for cell in board.cells}
    texts += [*board.warnings, *board.warnings.values()]
    for reasons in board.blocked.values():
        texts += [*reasons, *reasons.values()]
    if {*map(type, texts)} != {str}:
        yield from (f"{text!r} is not a str" for text in texts if not isinstance(text, str))


def _odd_numbers(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the cells whose place or size is not a number. All are checked together first, which is faster."""
    numbers = [(cell.row, cell.column, cell.width, cell.height) for cell in cells]
    if not {*map(type, chain.from_iterable(numbers))} <= {int, float}:
        for cell, own in zip(cells, numbers, strict=True):
            if not all(map(_is_number, own)):
                yield f"cell {cell.id!r} has row, column, width and height {own!r}; expected numbers"


def _piece_fault(piece: Piece) -> str | None:
    texts = (piece.label, piece.shape, piece.name)
    if piece.owner not in (0, 1, None) or not all(isinstance(text, str) for text in texts):
        return f"{piece!r} has an owner, label, shape or name of the wrong type"
    if not _is_number(piece.size) or not 0 < piece.size <= 1:
        return f"the size of a piece is {piece.size!r}; expected a number above 0, at most 1"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
