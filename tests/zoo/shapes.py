"""A game for the tests with names and shapes that could break a page; players fill the cells in any order."""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

NAMES = ("__proto__", "constructor", "toString", "<b>bold</b>", "a b")


@hookimpl
def start():
    return 0


@hookimpl
def valid(position):
    return position < 1 << len(NAMES)


@hookimpl
def moves(position):
    return [i for i in range(len(NAMES)) if not position >> i & 1]


@hookimpl
def apply(position, move):
    return position | 1 << move


@hookimpl
def status(position):
    return Status.ONGOING if moves(position) else Status.LOST


@hookimpl
def board(position):
    cells = tuple(
        Cell(name, 0, i, (Piece(i % 2, "<i>", 0.9, name),) if position >> i & 1 else ()) for i, name in enumerate(NAMES)
    )
    clicks = tuple(Click(move, NAMES[move], label="__proto__") for move in moves(position))
    spare = {"__proto__": {"constructor": "why not"}, "toString": {"__proto__": "no"}}
    return Board(
        1, len(NAMES), cells, position.bit_count() % 2, clicks=clicks, blocked=spare, warnings={"__proto__": "!"}
    )
