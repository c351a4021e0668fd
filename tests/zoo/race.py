"""The plugin of race.c, which the tests install beside its compiled kernel."""

from compiled_race_kernel import ffi, lib

from perfectplay.game.board import Board, Cell, Piece
from perfectplay.game.spec import hookimpl
from perfectplay_native.kernel import Kernel


@hookimpl
def kernel():
    return Kernel(ffi, lib.race_kernel)


@hookimpl
def colour_swapped(positions):
    return positions >> 3 & 7 | (positions & 7) << 3 | (positions & 64) ^ 64


@hookimpl
def format_move(position, move):
    return ("left", "right")[move]


@hookimpl
def board(position):
    pieces = {position & 7: (Piece(0, "F"),), position >> 3 & 7: (Piece(1, "S"),)}
    cells = tuple(Cell(f"c{column}", 0, column, pieces.get(column, ())) for column in range(7))
    return Board(1, 7, cells, position >> 6 & 1)
