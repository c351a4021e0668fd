"""Take one or two stones; a player who cannot move has lost."""
from perfectplay.game.spec import hookimpl
from perfectplay.values import Status

@hookimpl
def start(): return 7

@hookimpl
def valid(position): return position <= 7

@hookimpl
def moves(position): return [taken for taken in (1, 2) if taken <= position]

@hookimpl
def apply(position, move): return position - move

@hookimpl
def undo(position, move): return position + move

@hookimpl
def canonicalize(position): return position

@hookimpl
def status(position): return Status.ONGOING if position else Status.LOST
