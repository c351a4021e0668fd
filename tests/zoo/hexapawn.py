"""Hexapawn: three pawns each; reach the last row, or leave the opponent without a move."""
from perfectplay import Status, hookimpl

def board_of(position): return [position // 3**cell % 3 for cell in range(9)]
def turn(position): return position // 3**9
def pack(board, turn): return sum(owner * 3**cell for cell, owner in enumerate(board)) + turn * 3**9

def has_arrived(position):
    board, opponent = board_of(position), 2 - turn(position)
    return opponent in (board[6:] if opponent == 2 else board[:3])

@hookimpl
def start(): return pack([2, 2, 2, 0, 0, 0, 1, 1, 1], 0)

@hookimpl
def moves(position):
    board, mine = board_of(position), 1 + turn(position)
    forward = -3 if mine == 1 else 3
    found = []
    for cell in [] if has_arrived(position) else range(9):
        ahead = cell + forward
        if board[cell] != mine or not 0 <= ahead < 9:
            continue
        found += [10 * cell + ahead] if board[ahead] == 0 else []
        for side in (-1, 1):
            if 0 <= cell % 3 + side < 3 and board[ahead + side] == 3 - mine:
                found.append(10 * cell + ahead + side)
    return found

@hookimpl
def apply(position, move):
    board = board_of(position)
    source, target = divmod(move, 10)
    board[target], board[source] = board[source], 0
    return pack(board, 1 - turn(position))

@hookimpl
def status(position):
    return Status.LOST if has_arrived(position) else Status.ONGOING
