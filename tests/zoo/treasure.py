"""A puzzle with scores for the tests: walk along a row in steps of one or two, and score each cell."""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

NUMBERS = (0, 3, -4, -2, 5, -6, 1)
LAST = len(NUMBERS) - 1
MIDDLE = 32
# position: the current cell (3 bits), the sum so far + 32 (6 bits)


def unpack(position):
    return position & 7, (position >> 3) - MIDDLE


@hookimpl
def players():
    return ("You",)


@hookimpl
def start():
    return MIDDLE << 3


@hookimpl
def valid(position):
    return position & 7 <= LAST and position < 64 << 3


@hookimpl
def moves(position):
    place, _ = unpack(position)
    return [step for step in (1, 2) if place + step <= LAST]


@hookimpl
def apply(position, move):
    place, total = unpack(position)
    return place + move | total + NUMBERS[place + move] + MIDDLE << 3


@hookimpl
def status(position):
    place, total = unpack(position)
    if place < LAST:
        return Status.ONGOING
    return Status.WON if total > 0 else Status.LOST if total < 0 else Status.DRAWN


@hookimpl
def score(position):
    return unpack(position)[1]


@hookimpl
def format_move(position, move):
    return f"step {move}"


@hookimpl
def board(position):
    place, total = unpack(position)
    cells = [Cell(f"n{i}", 0, i, (Piece(None, f"{number:+}", 0.8, "text"),)) for i, number in enumerate(NUMBERS)]
    cells[place] = Cell(f"n{place}", 0, place, (Piece(0, f"{total:+}"),))
    clicks = tuple(Click(move, f"n{place + move}") for move in moves(position))
    return Board(1, len(NUMBERS), tuple(cells), 0, ("You",), clicks=clicks)
