"""The board that the terminal and the browser show."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from perfectplay import Board, Cell, Click, Piece, Tray
from perfectplay.game.board import Spelling, grid_template
from perfectplay_morris.notation import Notation
from perfectplay_morris.rules import MAN_LETTERS, NONE, PLAYER_NAMES, PLAYERS, Move, Parts

_MEN = tuple(Piece(player, MAN_LETTERS[player], size=0.8, name="man") for player in PLAYERS)


def draw_board(notation: Notation, position: int, moves: Iterable[int]) -> Board:
    """Return a grid with a cell for each point, a tray for each player's men in hand, and clicks for `moves`."""
    parts, geometry = Parts.of(position), notation.geometry
    names = geometry.names
    cells = []
    for number, name, row, column in notation.points():
        owner = parts.owner(number)
        cells.append(Cell(name, row, column, () if owner is None else (_MEN[owner],)))
    clicks = []
    for number in moves:
        move = Move.of(number)
        source = MAN_LETTERS[parts.side] if move.source == NONE else names[move.source]
        capture = None if move.captured == NONE else names[move.captured]
        clicks.append(Click(number, target=names[move.target], source=source, capture=capture))
    return Board(
        rows=geometry.width,
        columns=geometry.width,
        cells=tuple(cells),
        to_move=parts.side,
        players=PLAYER_NAMES,
        trays=tuple(Tray(MAN_LETTERS[player], _MEN[player], parts.in_hand[player]) for player in PLAYERS),
        clicks=tuple(clicks),
        edges=tuple((names[a], names[b]) for line in geometry.lines for a, b in pairwise(line)),
        spelling=_spelling(notation),
        highlight=() if clicks or geometry.captures else _complete_lines(notation, parts),
    )


def _spelling(notation: Notation) -> Spelling:
    names = notation.geometry.names
    first, second = PLAYER_NAMES
    hands = "-".join(f"{{{letter}}}" for letter in MAN_LETTERS)
    template = grid_template([[names[point] for point in row] for row in notation.rows])
    return Spelling(_MEN, f"{template}:{{}}:{hands}", movers=(first.lower(), second.lower()))


def _complete_lines(notation: Notation, parts: Parts) -> tuple[str, ...]:
    """Return the points of the lines of the player who has just moved, the winner of three men's morris."""
    names, own = notation.geometry.names, 1 - parts.side
    lines = [line for line in notation.geometry.lines if all(parts.owner(point) == own for point in line)]
    return tuple(sorted({names[point] for line in lines for point in line}))
