"""Tic-tac-toe: nine digits in base 3, the first cell lowest."""
from perfectplay.game.board import Board, Cell, Click, Piece
from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
TURN = [6, 3, 0, 7, 4, 1, 8, 5, 2]
MIRROR = [2, 1, 0, 5, 4, 3, 8, 7, 6]
NAMES = [column + row for row in "321" for column in "abc"]

def cells(position): return [position // 3**cell % 3 for cell in range(9)]
def pack(cells): return sum(owner * 3**cell for cell, owner in enumerate(cells))
def turn(position): return cells(position).count(1) - cells(position).count(2)

@hookimpl
def start(): return 0

@hookimpl
def valid(position): return position < 3**9 and turn(position) in (0, 1)

@hookimpl
def encode(text):
    if len(text) != 9 or set(text) - set(".XO"):
        raise ValueError("nine of . X O were expected")
    return pack([".XO".index(letter) for letter in text])

@hookimpl
def decode(position): return "".join(".XO"[owner] for owner in cells(position))

@hookimpl
def status(position):
    board = cells(position)
    if any(board[a] == board[b] == board[c] != 0 for a, b, c in LINES):
        return Status.LOST
    return Status.ONGOING if 0 in board else Status.DRAWN

@hookimpl
def moves(position):
    if status(position) is not Status.ONGOING:
        return []
    return [cell for cell, owner in enumerate(cells(position)) if owner == 0]

@hookimpl
def apply(position, move): return position + (1 + turn(position)) * 3**move

@hookimpl
def undo(position, move): return position - position // 3**move % 3 * 3**move

@hookimpl
def canonicalize(position):
    images, board = [], cells(position)
    for step in range(8):
        board = [board[cell] for cell in (MIRROR if step == 4 else TURN)]
        images.append(pack(board))
    return min(images)

@hookimpl
def format_move(position, move): return NAMES[move]

@hookimpl
def board(position):
    pieces = [(), (Piece(0, "X"),), (Piece(1, "O"),)]
    places = [Cell(NAMES[i], *divmod(i, 3), pieces[owner]) for i, owner in enumerate(cells(position))]
    clicks = tuple(Click(move, NAMES[move]) for move in moves(position))
    return Board(3, 3, tuple(places), turn(position), clicks=clicks)
