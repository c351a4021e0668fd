"""A puzzle: from 0 the exit is open. The first move leads back and forth at the other end of the corridor."""
from perfectplay import Status, hookimpl

@hookimpl
def players(): return ["You"]

@hookimpl
def start(): return 5

@hookimpl
def valid(position): return position <= 6

@hookimpl
def moves(position): return [] if position == 6 else [1, 0] if position < 5 else [0]

@hookimpl
def apply(position, move):
    if move: return position + 1
    return position - 1 if position else 6

@hookimpl
def status(position): return Status.WON if position == 6 else Status.ONGOING
