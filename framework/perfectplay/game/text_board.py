"""A board for a game without a `board` hook, made from the texts of its positions.

A text with rows of equal length, such as `X../.O./...`, is a grid. A move is made by clicking the cell that it fills,
after the cell that it empties if there is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from perfectplay.errors import PerfectPlayError
from perfectplay.game.board import Board, Cell, Click, Piece
from perfectplay.game.game import Game
from perfectplay.values import Status

_EMPTY = ".-_·"
_OWNERS = {"x": 0, "o": 1, "w": 0, "b": 1}
_SHAPES = {"x": "cross", "o": "ring"}
MAX_SIDE = 26
MAX_MOVES = 400
"""With more moves, finding their clicks would take too long."""
MIN_LINE = 3
"""The shortest line that is marked when it ends a game."""

Rows = tuple[str, ...]


def make_text_board(game: Game, position: int, mover: int | None = None) -> Board | None:
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


def _make_board(game: Game, position: int, rows: Rows, mover: int) -> Board:
    height, width = len(rows), len(rows[0])
    names = [[f"{chr(97 + column)}{height - row}" for column in range(width)] for row in range(height)]
    both_cases = any(letter.islower() for letter in "".join(rows)) and any(map(str.isupper, "".join(rows)))
    cells = tuple(
        Cell(names[row][column], row, column, _stack(rows[row][column], both_cases))
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
    )


def _stack(letter: str, both_cases: bool) -> tuple[Piece, ...]:
    if letter in _EMPTY:
        return ()
    if letter.isdigit():
        return (Piece(None, letter, 0.8, "text"),)
    owner = _OWNERS.get(letter.lower())
    if owner is None or (both_cases and letter.lower() not in _SHAPES):
        owner = int(letter.islower())
    return (Piece(owner, letter, 0.8, _SHAPES.get(letter.lower(), "circle")),)


def _find_click(game: Game, position: int, move: int, rows: Rows, names: list[list[str]]) -> Click:
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
