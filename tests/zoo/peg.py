"""A puzzle for the tests: peg solitaire in a row. A peg jumps over its neighbour and removes it; one peg is left."""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

HOLES = 6
START = 0b001101  # holes 1, 3 and 4, counted from 1
JUMPS = [(a, a + d, a + 2 * d) for a in range(HOLES) for d in (1, -1) if 0 <= a + 2 * d < HOLES]


@hookimpl
def players():
    return ("You",)


@hookimpl
def start():
    return START


@hookimpl
def valid(position):
    return 0 < position < 1 << HOLES


@hookimpl
def moves(position):
    if position.bit_count() == 1:
        return []
    return [i for i, (a, b, c) in enumerate(JUMPS) if position >> a & 1 and position >> b & 1 and not position >> c & 1]


@hookimpl
def apply(position, move):
    a, b, c = JUMPS[move]
    return position ^ (1 << a | 1 << b | 1 << c)


@hookimpl
def status(position):
    if position.bit_count() == 1:
        return Status.WON
    return Status.ONGOING if moves(position) else Status.LOST


@hookimpl
def format_move(position, move):
    a, _, c = JUMPS[move]
    return f"{a + 1}-{c + 1}"


@hookimpl
def board(position):
    peg = (Piece(None, "●", 0.7),)
    cells = tuple(Cell(str(i + 1), 0, i, peg if position >> i & 1 else (), label=str(i + 1)) for i in range(HOLES))
    clicks = tuple(Click(move, str(JUMPS[move][2] + 1), str(JUMPS[move][0] + 1)) for move in moves(position))
    return Board(1, HOLES, cells, 0, ("You",), clicks=clicks)
