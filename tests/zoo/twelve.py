"""A game with scores for the tests: players take numbers from either end of a row; the difference of sums counts."""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

NUMBERS = (4, 1, 7, 2, 5)
LEFT, RIGHT = 0, 1
# position: first left (3 bits), how many are left (3 bits), the mover's lead + 32 (6 bits), who is to move (1 bit)


def unpack(position):
    return position & 7, position >> 3 & 7, (position >> 6 & 63) - 32, position >> 12 & 1


def pack(first, count, lead, mover):
    return first | count << 3 | lead + 32 << 6 | mover << 12


@hookimpl
def start():
    return pack(0, len(NUMBERS), 0, 0)


@hookimpl
def valid(position):
    first, count, lead, _ = unpack(position)
    return position < 1 << 13 and first + count <= len(NUMBERS) and abs(lead) <= sum(NUMBERS)


@hookimpl
def moves(position):
    count = unpack(position)[1]
    return [LEFT, RIGHT][: min(count, 2)]


@hookimpl
def apply(position, move):
    first, count, lead, mover = unpack(position)
    taken = NUMBERS[first if move == LEFT else first + count - 1]
    return pack(first + (move == LEFT), count - 1, -(lead + taken), 1 - mover)


@hookimpl
def status(position):
    _, count, lead, _ = unpack(position)
    if count:
        return Status.ONGOING
    return Status.WON if lead > 0 else Status.LOST if lead < 0 else Status.DRAWN


@hookimpl
def score(position):
    return unpack(position)[2]


@hookimpl
def mover(position):
    return unpack(position)[3]


@hookimpl
def format_move(position, move):
    return ("left", "right")[move]


@hookimpl
def board(position):
    first, count, _, mover = unpack(position)
    row = tuple(
        Cell(f"n{i}", 0, i, (Piece(None, str(NUMBERS[i]), 0.8, "square"),) if first <= i < first + count else ())
        for i in range(len(NUMBERS))
    )
    clicks = tuple(Click(move, None, label=("Take left", "Take right")[move]) for move in moves(position))
    return Board(1, len(NUMBERS), row, mover, clicks=clicks)
