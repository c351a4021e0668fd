"""Take one or two stones, one each in turn, but after taking two a player moves again; stones taken are points."""
from perfectplay import About, Status, hookimpl

@hookimpl
def start(): return 5 << 8  # stones << 8 | first player's lead + 8 << 1 | mover

def parts(position): return position >> 8, (position >> 1 & 127) - 8 if position != 5 << 8 else 0, position & 1

@hookimpl
def moves(position): return [taken for taken in (1, 2) if taken <= position >> 8]

@hookimpl
def apply(position, move):
    stones, lead, mover = parts(position)
    lead += move if mover == 0 else -move
    return stones - move << 8 | lead + 8 << 1 | (mover if move == 2 else 1 - mover)

@hookimpl
def mover(position): return position & 1

@hookimpl
def score(position): return parts(position)[1] * (-1 if position & 1 else 1)

@hookimpl
def status(position):
    if position >> 8: return Status.ONGOING
    won = score(position)
    return Status.WON if won > 0 else Status.LOST if won < 0 else Status.DRAWN

@hookimpl
def players(): return ["Ann", "Bob"]

@hookimpl
def about(): return About("Two again", "Take stones.")
