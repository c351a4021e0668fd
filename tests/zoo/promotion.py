"""A game for the tests: pawns race across four rows and become a knight or a queen; players may pass.

Two files, one pawn each, X going up from row 4 and O down from row 1. A move steps one row up its own file; a pass is
allowed three times in total. A queen wins at once; after a knight the game continues without that pawn.
"""

from perfectplay import Board, Cell, Click, Piece, Status, hookimpl

ROWS = 4
QUEEN, KNIGHT, STEP, PASS = 0, 1, 2, 3
# position: to_move (1 bit), passes (2 bits), X's steps (3 bits: 0-2 on the way, 3 knight, 4 queen), O's steps (3 bits)


def unpack(position):
    return position & 1, position >> 1 & 3, [position >> 3 & 7, position >> 6 & 7]


def pack(mover, passes, steps):
    return mover | passes << 1 | steps[0] << 3 | steps[1] << 6


@hookimpl
def start():
    return pack(0, 0, [0, 0])


@hookimpl
def valid(position):
    _, _, steps = unpack(position)
    return position < 1 << 9 and max(steps) <= 4


@hookimpl
def status(position):
    mover, _, steps = unpack(position)
    if steps[1 - mover] == 4:
        return Status.LOST
    return Status.ONGOING if moves(position) else Status.DRAWN


@hookimpl
def moves(position):
    mover, passes, steps = unpack(position)
    if 4 in steps:
        return []
    found = [STEP] if steps[mover] < 2 else [QUEEN, KNIGHT] if steps[mover] == 2 else []
    return [*found, PASS] if passes < 3 and found else found


@hookimpl
def apply(position, move):
    mover, passes, steps = unpack(position)
    if move == PASS:
        passes += 1
    else:
        steps[mover] = steps[mover] + 1 if move == STEP else 4 if move == QUEEN else 3
    return pack(1 - mover, passes, steps)


@hookimpl
def undo(position, move):
    mover, passes, steps = unpack(position)
    mover = 1 - mover
    if move == PASS:
        passes -= 1
    else:
        steps[mover] = steps[mover] - 1 if move == STEP else 2
    return pack(mover, passes, steps)


@hookimpl
def canonicalize(position):
    return position


@hookimpl
def format_move(position, move):
    return ("queen", "knight", "step", "pass")[move]


@hookimpl
def board(position):
    mover, _, steps = unpack(position)

    def row_of(player):
        row = min(steps[player], 3)
        return ROWS - 1 - row if player == 0 else row

    def stack(row, player):
        if row_of(player) != row:
            return ()
        label = {3: "N", 4: "Q"}.get(steps[player], "P")
        return (Piece(player, label, 0.8, "pentagon"),)

    cells = tuple(
        Cell(f"{'ab'[file]}{ROWS - row}", row, file, stack(row, file)) for row in range(ROWS) for file in (0, 1)
    )
    here = f"{'ab'[mover]}{ROWS - row_of(mover)}"
    ahead = f"{'ab'[mover]}{ROWS - row_of(mover) + (1 if mover == 0 else -1)}"
    labels = {QUEEN: "to a queen", KNIGHT: "to a knight", STEP: "", PASS: "Pass"}
    clicks = [
        Click(move, None if move == PASS else ahead, None if move == PASS else here, labels[move])
        for move in moves(position)
    ]
    return Board(ROWS, 2, cells, mover, ("Red", "Black"), clicks=tuple(clicks))
