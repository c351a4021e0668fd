"""The rules of dots and boxes in plain Python, written for clarity.

The plugin is tested against this file, so it shares no code with them. An edge is a pair of dots, a
dot is its column and its row from the top, and every closed box has an owner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Dot = tuple[int, int]
Edge = frozenset[Dot]


@dataclass(frozen=True)
class Position:
    rows: int
    columns: int
    edges: frozenset[Edge] = frozenset()
    red: frozenset[Dot] = frozenset()
    """The boxes of the first player, each by its upper left dot."""
    blue: frozenset[Dot] = frozenset()
    mover: str = "Red"


def edge(one: Dot, other: Dot) -> Edge:
    return frozenset({one, other})


def all_edges(position: Position) -> list[Edge]:
    across = [edge((x, y), (x + 1, y)) for y in range(position.rows + 1) for x in range(position.columns)]
    down = [edge((x, y), (x, y + 1)) for y in range(position.rows) for x in range(position.columns + 1)]
    return across + down


def moves(position: Position) -> list[Edge]:
    return [line for line in all_edges(position) if line not in position.edges]


def closed_boxes(position: Position) -> frozenset[Dot]:
    def is_closed(x: int, y: int) -> bool:
        corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]
        return all(edge(corners[i - 1], corners[i]) in position.edges for i in range(4))

    return frozenset((x, y) for x in range(position.columns) for y in range(position.rows) if is_closed(x, y))


def apply(position: Position, line: Edge) -> Position:
    after = replace(position, edges=position.edges | {line})
    new = closed_boxes(after) - position.red - position.blue
    if not new:
        return replace(after, mover="Blue" if position.mover == "Red" else "Red")
    if position.mover == "Red":
        return replace(after, red=position.red | new)
    return replace(after, blue=position.blue | new)


def score(position: Position) -> int:
    """Return by how many boxes the mover is ahead."""
    lead = len(position.red) - len(position.blue)
    return lead if position.mover == "Red" else -lead


def images(position: Position) -> list[Position]:
    """Return the images of the edges under all symmetries of the board. The sets of boxes are not mapped."""
    ways = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1) if not c or position.rows == position.columns]

    def moved(dot: Dot, way: tuple[int, int, int]) -> Dot:
        x, y = dot
        x, y = (position.columns - x if way[0] else x), (position.rows - y if way[1] else y)
        return (y, x) if way[2] else (x, y)

    return [
        replace(position, edges=frozenset(frozenset(moved(dot, way) for dot in line) for line in position.edges))
        for way in ways
    ]


def text(position: Position) -> str:
    lines = []
    for y in range(position.rows + 1):
        across = (edge((x, y), (x + 1, y)) for x in range(position.columns))
        lines.append("".join("_" if line in position.edges else "." for line in across))
        down = (edge((x, y), (x, y + 1)) for x in range(position.columns + 1))
        lines.append("".join("|" if line in position.edges else "." for line in down))
    return "/".join(lines[:-1]) + f"/{len(position.red)}-{len(position.blue)}:{position.mover[0]}"


def move_text(position: Position, line: Edge) -> str:
    return "-".join(f"{'abcdefghijklmnopqrs'[x]}{position.rows + 1 - y}" for x, y in line)
