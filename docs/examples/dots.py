"""Dots and boxes: players take turns to draw an edge. A player who closes a box owns it and draws again.

The edges are numbered row by row, those above a row of boxes before those beside its boxes. For 2×2 boxes:

    + 0 + 1 +
    2   3   4      position = [ mover ][ lead + boxes ][ a bit for each edge ]
    + 5 + 6 +                  1 bit    4 bits           12 bits
    7   8   9
    + 10+ 11+      `lead`: boxes of the first player minus boxes of the second
"""

from collections.abc import Mapping, Sequence
from typing import Any

from perfectplay import About, Option, Status, hookimpl
from perfectplay.authoring import Fields


class DotsAndBoxes:
    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.boxes = [self.edges_of(row, column) for row in range(rows) for column in range(columns)]
        self.edge_count = (2 * columns + 1) * rows + columns
        self.fields = Fields(edges=2**self.edge_count, lead=2 * len(self.boxes) + 1, mover=2)

    def edges_of(self, row: int, column: int) -> int:
        """Return the four edges around a box."""
        above = row * (2 * self.columns + 1) + column
        left = above + self.columns
        return 1 << above | 1 << left | 1 << left + 1 | 1 << left + self.columns + 1

    def unpack(self, position: int) -> tuple[int, int, int]:
        """Return the drawn edges, the lead of the first player, and the player to move."""
        edges, lead, mover = self.fields.unpack(position)
        return edges, lead - len(self.boxes), mover

    def pack(self, edges: int, lead: int, mover: int) -> int:
        return self.fields.pack(edges=edges, lead=lead + len(self.boxes), mover=mover)

    @hookimpl
    def start(self) -> int:
        return self.pack(edges=0, lead=0, mover=0)

    @hookimpl
    def valid(self, position: int) -> bool:
        return self.fields.fits(position)

    @hookimpl
    def moves(self, position: int) -> list[int]:
        edges, _, _ = self.unpack(position)
        return [edge for edge in range(self.edge_count) if not edges >> edge & 1]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        edges, lead, mover = self.unpack(position)
        after = edges | 1 << move
        closed = sum(1 for box in self.boxes if after & box == box != edges & box)
        if closed:
            return self.pack(after, lead + (closed if mover == 0 else -closed), mover)
        return self.pack(after, lead, 1 - mover)

    @hookimpl
    def mover(self, position: int) -> int:
        return self.unpack(position)[2]

    @hookimpl
    def score(self, position: int) -> int:
        _, lead, mover = self.unpack(position)
        return lead if mover == 0 else -lead  # by how much the player to move wins

    @hookimpl
    def status(self, position: int) -> Status:
        if self.moves(position):
            return Status.ONGOING
        score = self.score(position)
        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN

    @hookimpl
    def tier(self, position: int) -> int:
        return self.unpack(position)[0].bit_count()  # every move draws an edge

    @hookimpl
    def players(self) -> Sequence[str]:
        return ("Ann", "Bob")

    @hookimpl
    def about(self) -> About:
        return About(
            "Dots and boxes", "Draw an edge between two dots. A player who closes a box owns it and draws again."
        )


@hookimpl
def options() -> list[Option]:
    return [
        Option("rows", 2, "rows of boxes", minimum=1, maximum=3),
        Option("columns", 2, "columns of boxes", minimum=1, maximum=3),
    ]


@hookimpl
def configure(options: Mapping[str, Any]) -> DotsAndBoxes:
    return DotsAndBoxes(options["rows"], options["columns"])
