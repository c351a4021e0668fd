"""Independent implementations of the same games, with other data types and a simple recursive solver.

Each game is a function from a state to its value by the rules (None for an unfinished game) and its successors, in the
order of the plugin's moves. Each successor has a flag, which is set if the same player moves again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any

Solved = tuple[int, int]
"""The score for the mover, and the number of plies."""
Rules = Callable[[Hashable], tuple[int | None, list[tuple[Hashable, bool]]]]


def solve(rules: Rules, start: Hashable) -> dict[Hashable, Solved]:
    """Return all reachable states with their values, for games without repetition."""
    sys.setrecursionlimit(10_000)
    values: dict[Hashable, Solved] = {}

    def value(state: Hashable) -> Solved:
        if state not in values:
            end, successors = rules(state)
            if end is not None:
                values[state] = (end, 0)
            else:
                options = []
                for successor, keeps_turn in successors:
                    score, plies = value(successor)
                    options.append((score if keeps_turn else -score, plies + 1))
                values[state] = max(options, key=lambda each: (each[0], each[1] if each[0] < 0 else -each[1]))
        return values[state]

    value(start)
    return values


def by_reference(reference: Any, start: Any) -> tuple[Rules, Hashable]:
    """A game of tests/games by its reference, which has `moves`, `apply`, `score` and positions with a `mover`."""

    def rules(state):
        children = [reference.apply(state, move) for move in reference.moves(state)]
        return None if children else reference.score(state), [(each, each.mover == state.mover) for each in children]

    return rules, start


def dots(rows: int, columns: int) -> tuple[Rules, Hashable]:
    """A state has the drawn edges, as pairs of dots, and the lead of the mover in boxes."""
    across = [[((y, x), (y, x + 1)) for x in range(columns)] for y in range(rows + 1)]
    down = [[((y, x), (y + 1, x)) for x in range(columns + 1)] for y in range(rows)]
    edges = [edge for y in range(rows) for edge in across[y] + down[y]] + across[rows]
    boxes = [{across[y][x], across[y + 1][x], down[y][x], down[y][x + 1]} for y in range(rows) for x in range(columns)]

    def rules(state):
        drawn, lead = state
        if len(drawn) == len(edges):
            return lead, []
        successors = []
        for edge in edges:
            if edge not in drawn:
                closed = sum(1 for box in boxes if edge in box and box - drawn == {edge})
                more = drawn | {edge}
                successors.append(((more, lead + closed), True) if closed else ((more, -lead), False))
        return None, successors

    return rules, (frozenset(), 0)


def othello(size: int) -> tuple[Rules, Hashable]:
    """A state is a text of the cells, with x for the mover. After a pass the same player moves again."""
    swap = str.maketrans("xo", "ox")
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if (a, b) != (0, 0)]

    def put(cells: str, at: int) -> str | None:
        board, turned = list(cells), False
        for a, b in steps:
            y, x, run = at // size + a, at % size + b, []
            while 0 <= y < size and 0 <= x < size and cells[y * size + x] == "o":
                run.append(y * size + x)
                y, x = y + a, x + b
            if run and 0 <= y < size and 0 <= x < size and cells[y * size + x] == "x":
                turned = True
                for each in run:
                    board[each] = "x"
        board[at] = "x"
        return "".join(board) if turned else None

    def after(cells: str) -> list[str]:
        boards = [put(cells, at) for at in range(size * size) if cells[at] == "."]
        return [each for each in boards if each is not None]

    def rules(cells):
        boards = after(cells)
        if not boards:
            return cells.count("x") - cells.count("o"), []
        passes = [bool(not after(board.translate(swap)) and after(board)) for board in boards]
        return None, [
            (board if again else board.translate(swap), again) for board, again in zip(boards, passes, strict=True)
        ]

    row = "." * (size // 2 - 1)
    start = "." * size * (size // 2 - 1) + row + "ox" + row + row + "xo" + row + "." * size * (size // 2 - 1)
    return rules, start
