"""A puzzle: measure four litres with jugs of five and three."""
from perfectplay import Status, hookimpl

@hookimpl
def start(): return 0

def poured(position, move):
    five, three = divmod(position, 4)
    across = min(five, 3 - three) if move == 4 else -min(three, 5 - five)
    return [(5, three), (five, 3), (0, three), (five, 0), (five - across, three + across)][min(move, 4)]

@hookimpl
def moves(position):
    return [] if position // 4 == 4 else [move for move in range(6) if apply(position, move) != position]

@hookimpl
def apply(position, move):
    five, three = poured(position, move)
    return 4 * five + three

@hookimpl
def status(position): return Status.WON if position // 4 == 4 else Status.ONGOING
