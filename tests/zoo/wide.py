"""A board of 19 by 19 for the tests: one stone each, then it is over. It is never solved, only shown."""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

SIDE = 19
NAMES = [f"{'abcdefghijklmnopqrs'[i % SIDE]}{SIDE - i // SIDE}" for i in range(SIDE * SIDE)]
# position: 0, or 1 + the first stone, or (1 + first) + 400 * (1 + second)


@hookimpl
def start():
    return 0


@hookimpl
def valid(position):
    return position < 400 * 400


@hookimpl
def moves(position):
    return [] if position >= 400 else [i for i in range(SIDE * SIDE) if i + 1 != position]


@hookimpl
def apply(position, move):
    return position + 400 * (move + 1) if position else move + 1


@hookimpl
def status(position):
    return Status.DRAWN if position >= 400 else Status.ONGOING


@hookimpl
def format_move(position, move):
    return NAMES[move]


@hookimpl
def board(position):
    stones = {position % 400 - 1: Piece(0, "●", 0.9), position // 400 - 1: Piece(1, "○", 0.9)}
    cells = tuple(Cell(name, i // SIDE, i % SIDE, (stones[i],) if i in stones else ()) for i, name in enumerate(NAMES))
    clicks = tuple(Click(move, NAMES[move]) for move in moves(position))
    return Board(SIDE, SIDE, cells, int(0 < position < 400), ("Black", "White"), clicks=clicks)
