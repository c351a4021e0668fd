"""Subtraction with the number of stones and the end as options."""
from perfectplay.game.spec import hookimpl
from perfectplay.game.options import Option
from perfectplay.values import Status

class Variant:
    def __init__(self, stones, last):
        self.stones, self.last = stones, last
    @hookimpl
    def start(self): return self.stones
    @hookimpl
    def moves(self, position): return [taken for taken in (1, 2) if taken <= position]
    @hookimpl
    def apply(self, position, move): return position - move
    @hookimpl
    def undo(self, position, move): return position + move
    @hookimpl
    def canonicalize(self, position): return position
    @hookimpl
    def status(self, position):
        return Status.ONGOING if position else Status.LOST if self.last == "wins" else Status.WON

@hookimpl
def options():
    return [
        Option("stones", 7, "stones at the start", minimum=1, maximum=30),
        Option("last", "wins", "what taking the last stone does", choices=("wins", "loses")),
        Option("quick-end", False, "changes nothing"),
    ]

@hookimpl
def configure(options): return Variant(options["stones"], options["last"])
