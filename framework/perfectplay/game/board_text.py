"""Draws a board as text, and makes a board from the text of a position.

In a terminal each cell shows its top piece, with covered pieces below it in brackets:

    0   1   2
  ┌───┬───┬───┐
0 │ S │   │   │
  ├───┼───┼───┤
1 │   │ L │   │
  │   │(s)│   │
  └───┴───┴───┘

Cells that are not in rows and columns are drawn as points with their edges:

X───────O───────·     a point shows its top piece, an empty one its name
│ ╲     │     ╱ │
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from perfectplay.errors import PerfectPlayError, PluginError
from perfectplay.game.board import Board, Cell, Click, Piece, board_fault, headings
from perfectplay.values import Status

Paint = Callable[[str, int | None], str]
"""Returns a text in the colour of a player, 0 or 1; None for a neutral piece."""

_MARKS = ("●", "○")


def draw(board: Board, paint: Paint = lambda text, owner: text, *, over: bool = False) -> str:
    """Return the board, the reserves, and who is to move, unless the game is over or a puzzle.

    Raises PluginError for a board that cannot be drawn.
    """
    if fault := board_fault(board):
        raise PluginError(f"hook 'board' returned a board that cannot be drawn: {fault}")
    mark = _needs_marks(board)
    if _is_free(board):
        lines = graph_lines(board, lambda piece: _piece(piece, mark), paint)
    else:
        lines = _grid(board, mark, paint)
    lines = [*lines, *_reserves(board, mark, paint)]
    if len(board.players) > 1 and not over:
        lines.append(f"{_player(board, board.to_move, mark, paint)} to move")
    return "\n".join(line.rstrip() for line in lines)


def _is_free(board: Board) -> bool:
    """Return whether the cells are not in rows and columns."""
    numbers = [board.rows, board.columns, *(number for cell in board.cells for number in (cell.row, cell.column))]
    return bool(board.edges) or any(number != int(number) for number in numbers)


def _grid(board: Board, mark: bool, paint: Paint) -> list[str]:
    rows, columns = int(board.rows), int(board.columns)
    cells = {(cell.row, cell.column): cell for cell in board.cells}
    covered_shown = any(len(cell.stack) > 1 for cell in board.cells)
    texts = {place: _cell_lines(cell, mark, covered_shown) for place, cell in cells.items()}
    width = max([3, *(len(line) for lines in texts.values() for line in lines)])
    height = 2 if covered_shown else 1
    row_names, column_names = headings(board)
    margin = max(map(len, row_names))
    no_cell = ["░" * width] * height  # a hole in the board

    def rule(left: str, middle: str, right: str) -> str:
        return " " * (margin + 1) + left + middle.join(["─" * width] * columns) + right

    lines = [" " * (margin + 2) + " ".join(name.center(width) for name in column_names), rule("┌", "┬", "┐")]
    for row in range(rows):
        if row:
            lines.append(rule("├", "┼", "┤"))
        for part in range(height):
            name = row_names[row] if part == 0 else ""
            contents = [texts.get((row, column), no_cell)[part].center(width) for column in range(columns)]
            owners = [_top_owner(cells.get((row, column))) if part == 0 else None for column in range(columns)]
            lines.append(f"{name:>{margin}} │" + "│".join(map(paint, contents, owners)) + "│")
    lines.append(rule("└", "┴", "┘"))
    return lines if any(column_names) else lines[1:]


def _cell_lines(cell: Cell, mark: bool, covered_shown: bool) -> list[str]:
    top = _piece(cell.stack[-1], mark) if cell.stack else ""
    if not covered_shown:
        return [top]
    covered = " ".join(_piece(piece, mark) for piece in reversed(cell.stack[:-1]))
    return [top, f"({covered})" if covered else ""]


def _top_owner(cell: Cell | None) -> int | None:
    return cell.stack[-1].owner if cell is not None and cell.stack else None


def _reserves(board: Board, mark: bool, paint: Paint) -> list[str]:
    lines = []
    for owner in (0, 1, None):
        trays = [tray for tray in board.trays if tray.piece.owner == owner]
        if trays:
            whose = "anyone" if owner is None else _player(board, owner, mark, paint)
            left = "  ".join(f"{tray.count}×{_piece(tray.piece, mark)}" for tray in trays if tray.count)
            lines.append(f"{whose} has {left or 'nothing'} in reserve")
    return lines


def _needs_marks(board: Board) -> bool:
    """Return whether pieces of both players have the same label."""
    pieces = [piece for cell in board.cells for piece in cell.stack] + [tray.piece for tray in board.trays]
    labels = [{piece.label for piece in pieces if piece.owner == owner} for owner in (0, 1)]
    return bool(labels[0] & labels[1])


def _piece(piece: Piece, mark: bool) -> str:
    return (_MARKS[piece.owner] if mark and piece.owner is not None else "") + piece.label


def _player(board: Board, owner: int, mark: bool, paint: Paint) -> str:
    return paint(board.players[owner] + (f" ({_MARKS[owner]})" if mark else ""), owner)


# ---- points and edges ----

_ACROSS, _DOWN = 8, 4
"""Width and height of a cell in characters."""


def graph_lines(board: Board, draw_piece: Callable[[Piece], str], paint: Callable[[str, int | None], str]) -> list[str]:
    """Return the lines of a drawing with points and edges."""
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
        if (
            letter in "─│" or row not in (start[0], end[0]) or abs(down) == 1
        ):  # a diagonal is not drawn in the rows of its ends
            canvas[row, column] = letter


# ---- boards made from texts ----
#
# The page shows a game without a `board` hook in this way. A text with rows of equal length, such as `X../.O./...`, is
# a grid. A move is made by clicking the cell that it fills, after the cell that it empties if there is one.

_EMPTY = ".-_·"
_OWNERS = {"x": 0, "o": 1, "w": 0, "b": 1}
_SHAPES = {"x": "cross", "o": "ring"}
MAX_SIDE = 26
MAX_MOVES = 400
"""With more moves, finding their clicks would take too long."""
MIN_LINE = 3
"""The shortest line that is marked when it ends a game."""

Rows = tuple[str, ...]


class TextGame(Protocol):
    """The part of a `Game` that a board made from texts uses. The module of `Game` imports this one."""

    @property
    def players(self) -> tuple[str, ...]: ...
    def start(self) -> int: ...
    def decode(self, position: int) -> str: ...
    def moves(self, position: int) -> Sequence[int]: ...
    def apply(self, position: int, move: int) -> int: ...
    def status(self, position: int) -> Status: ...
    def format_move(self, position: int, move: int) -> str: ...


def make_text_board(game: TextGame, position: int, mover: int | None = None) -> Board | None:
    """Return a board for the position's text, or None if the text is not a grid. `mover` is the player to move."""
    try:
        rows = read_rows(game.decode(position))
        return None if rows is None else _make_board(game, position, rows, mover or 0)
    except PerfectPlayError:
        return None


def read_rows(text: str) -> Rows | None:
    """Return the rows of a grid; None if the text has no rows of equal length.

    >>> read_rows("X../.O./...:x")
    ('X..', '.O.', '...')
    >>> read_rows("7") is None, read_rows("3,3/3,3/0-0") is None
    (True, True)
    """
    body = re.split(r"[:\s]+(?=\S*$)", text.strip())[0] if "/" in text else text.strip("\n")
    rows = tuple(re.split(r"[/\n]", body))
    widths = {len(row) for row in rows}
    if len(rows) < 2 or len(rows) > MAX_SIDE or len(widths) != 1 or not 2 <= len(rows[0]) <= MAX_SIDE:
        return None
    if not all(letter.isalnum() or letter in _EMPTY for row in rows for letter in row):
        return None
    return rows


def _make_board(game: TextGame, position: int, rows: Rows, mover: int) -> Board:
    height, width = len(rows), len(rows[0])
    names, are_used = _cell_names(game, height, width)
    are_numbers = names[0][0].isdigit()
    both_cases = any(letter.islower() for letter in "".join(rows)) and any(map(str.isupper, "".join(rows)))
    cells = tuple(
        Cell(
            names[row][column],
            row,
            column,
            _stack(rows[row][column], both_cases),
            label=names[row][column] if are_numbers else "",
        )
        for row in range(height)
        for column in range(width)
    )
    moves = game.moves(position)
    clicks = tuple(_find_click(game, position, move, rows, names) for move in moves) if len(moves) <= MAX_MOVES else ()
    is_won = not moves and game.status(position) in (Status.LOST, Status.WON)
    return Board(
        rows=height,
        columns=width,
        cells=cells,
        to_move=mover if len(game.players) == 2 else 0,
        players=game.players,
        clicks=clicks,
        highlight=tuple(names[row][column] for row, column in _longest_lines(rows)) if is_won else (),
        row_labels=() if are_used else ("",) * height,
    )


def _cell_names(game: TextGame, height: int, width: int) -> tuple[list[list[str]], bool]:
    """Return the cells' names by row and column, and whether the first move of the start position contains its cell's.

    Games name cells `b2`, `(1,1)` or `4`. Coordinates that no move uses would only confuse, so they are not shown.
    """
    places = [[(row, column) for column in range(width)] for row in range(height)]
    styles = [
        [[f"{chr(97 + column)}{height - row}" for row, column in line] for line in places],
        [[f"({row},{column})" for row, column in line] for line in places],
        [[f"{row * width + column}" for row, column in line] for line in places],
    ]
    start = game.start()
    rows = read_rows(game.decode(start)) or ()
    if len(rows) == height and len(rows[0]) == width and (moves := game.moves(start)):
        text = re.findall(r"\([^()]*\)|[a-z]?\d+", game.format_move(start, moves[0]))
        for names in styles:
            if _find_click(game, start, moves[0], rows, names).target in text:
                return names, True
    return styles[0], False


def _stack(letter: str, both_cases: bool) -> tuple[Piece, ...]:
    if letter in _EMPTY:
        return ()
    if letter.isdigit():
        return (Piece(None, letter, 0.8, "text"),)
    owner = _OWNERS.get(letter.lower())
    if owner is None or (both_cases and letter.lower() not in _SHAPES):
        owner = int(letter.islower())
    return (Piece(owner, letter, 0.8, _SHAPES.get(letter.lower(), "circle")),)


def _find_click(game: TextGame, position: int, move: int, rows: Rows, names: list[list[str]]) -> Click:
    """Return the click of a move: on a cell that it fills, after the cell that it empties; a button otherwise."""
    after = read_rows(game.decode(game.apply(position, move)))
    if after is None or len(after) != len(rows) or len(after[0]) != len(rows[0]):
        return Click(move, None)
    filled: list[tuple[str, str, str]] = []
    emptied: list[tuple[str, str, str]] = []
    for row, (old_row, new_row) in enumerate(zip(rows, after, strict=True)):
        for column, (old, new) in enumerate(zip(old_row, new_row, strict=True)):
            if old != new:
                (emptied if new in _EMPTY else filled).append((names[row][column], old, new))
    if len(filled) == 1 and not emptied:
        return Click(move, filled[0][0])
    if len(filled) != 1:
        return Click(move, None)
    target, _, piece = filled[0]
    sources = [name for name, old, _ in emptied if old == piece] or [emptied[0][0]] * (len(emptied) == 1)
    return Click(move, target, sources[0]) if len(sources) == 1 else Click(move, None)


def _longest_lines(rows: Rows) -> set[tuple[int, int]]:
    """Return the places of the longest straight lines of one letter, of at least three."""
    letters = {(y, x): letter for y, row in enumerate(rows) for x, letter in enumerate(row) if letter not in _EMPTY}
    lines = [
        [*_follow(letters, place, down, right)]
        for place in letters
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
    ]
    longest = max(map(len, lines), default=0)
    return {place for line in lines if len(line) == longest for place in line} if longest >= MIN_LINE else set()


def _follow(
    letters: dict[tuple[int, int], str], place: tuple[int, int], down: int, right: int
) -> Iterator[tuple[int, int]]:
    """Yield the places from here in one direction that have the same letter."""
    letter = letters[place]
    while letters.get(place) == letter:
        yield place
        place = (place[0] + down, place[1] + right)
