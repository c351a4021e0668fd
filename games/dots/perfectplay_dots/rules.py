"""Dots and boxes on one board size, in plain Python.

Dots, edges and boxes form a grid of (2 × rows + 1) × (2 × columns + 1) places. Counted row by row, every second place,
beginning with the second, is an edge. For 2×2:

    + 0 + 1 +
    2   3   4      position = [ mover ][ lead + boxes ][ a bit for each edge ]
    + 5 + 6 +                   1 bit     6 bits          as many as there are
    7   8   9
    + 10+ 11+      `lead`: Red's boxes minus Blue's

A move is the number of an edge.
"""

from __future__ import annotations

import re

from perfectplay import About, Board, Cell, Click, Piece, Status, hookimpl
from perfectplay.authoring import Group, Symmetry
from perfectplay.game.board import Spelling

PLAYERS = ("Red", "Blue")
MAX_EDGES = 56
LEAD_BITS = 6
_COUNT = re.compile(r"(\d+)-(\d+):([RB])", re.IGNORECASE)
_MOVE = re.compile(r"([a-z]\d+)[\s-]*([a-z]\d+)", re.IGNORECASE)
_DOT = Piece(None, "+", shape="block", name="dot")
_EDGES = tuple(Piece(None, label, shape="block", name="edge") for label in "—|")
_CLOSED = Piece(None, "■", size=0.8, shape="block", name="box")
_THIN, _LONG = 0.4, 1.6
"""The sizes of dots and edges. Two columns from dot to dot are half a dot, an edge and half a dot."""

_RULES = """
Draw an edge between two neighbouring dots. A player who draws the fourth edge of a box owns it and must draw again.
When all edges are drawn, the player with more boxes wins by the difference.
"""


class DotsAndBoxes:
    """The game on one board. Dots, edges and boxes form a grid in which every second place is an edge."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.boxes = rows * columns
        self.width, self.height = 2 * columns + 1, 2 * rows + 1
        self.edge_count = self.width * self.height // 2
        if self.edge_count > MAX_EDGES:
            raise ValueError(
                f"{rows}×{columns} boxes have {self.edge_count} edges, but a position has room for {MAX_EDGES}"
            )
        self.names = [self._name(edge) for edge in range(self.edge_count)]
        lines = [
            "".join(f"{{{name}:{'_|'[y % 2]}}}" for edge, name in enumerate(self.names) if self._place(edge)[0] == y)
            for y in range(self.height)
        ]
        self._spelling = Spelling(
            (Piece(None, "—", shape="block", name="edge"),),
            f"{'/'.join(lines)}/{{red}}-{{blue}}:{{}}",
            movers=("R", "B"),
            counts=("red", "blue"),
        )
        self.all_edges = (1 << self.edge_count) - 1
        self.one_box = 1 << self.edge_count  # in the field of the lead
        self.turn = 1 << self.edge_count + LEAD_BITS
        self.box_edges = [self._edges_of_box(y, x) for y, x in self._box_places()]
        self.boxes_beside = [[box for box in self.box_edges if box >> edge & 1] for edge in range(self.edge_count)]
        self._canonicalize = self._symmetries().canonicalizer(bits=1)

    def _box_places(self) -> list[tuple[int, int]]:
        return [(y, x) for y in range(1, self.height, 2) for x in range(1, self.width, 2)]

    def _edges_of_box(self, y: int, x: int) -> int:
        return sum(1 << self._edge(*side) for side in ((y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)))

    def _symmetries(self) -> Group:
        """Return the symmetries of the board as permutations of its edges."""
        places = [self._place(edge) for edge in range(self.edge_count)]
        images = [[(self.height - 1 - y, x) for y, x in places], [(y, self.width - 1 - x) for y, x in places]]
        if self.rows == self.columns:
            images.append([(x, y) for y, x in places])
        return Group(Symmetry(tuple(self._edge(y, x) for y, x in image)) for image in images)

    def _edge(self, y: int, x: int) -> int:
        return (y * self.width + x) // 2

    def _place(self, edge: int) -> tuple[int, int]:
        return divmod(2 * edge + 1, self.width)

    def _dot(self, y: int, x: int) -> str:
        return f"{chr(ord('a') + x // 2)}{self.rows - y // 2 + 1}"

    def _name(self, edge: int) -> str:
        """Return the two dots of an edge, from left to right or upwards."""
        y, x = self._place(edge)
        return (
            f"{self._dot(y, x - 1)}-{self._dot(y, x + 1)}"
            if y % 2 == 0
            else f"{self._dot(y + 1, x)}-{self._dot(y - 1, x)}"
        )

    @hookimpl
    def about(self) -> About:
        return About(f"Dots and boxes {self.rows}×{self.columns}", _RULES)

    @hookimpl
    def players(self) -> tuple[str, str]:
        return PLAYERS

    # ---- rules ----

    def lead(self, position: int) -> int:
        """Return by how many boxes Red is ahead."""
        return (position >> self.edge_count & (1 << LEAD_BITS) - 1) - self.boxes

    def gain(self, position: int, edge: int) -> int:
        """Return what a drawn edge has added to the position for the boxes that it closes; 0 if it closes none."""
        closed = sum(1 for box in self.boxes_beside[edge] if position & box == box)
        return -closed * self.one_box if position & self.turn else closed * self.one_box

    @hookimpl
    def start(self) -> int:
        return self.boxes * self.one_box

    @hookimpl
    def valid(self, position: int) -> bool:
        """Return whether the lead is possible with the closed boxes, each of which belongs to one of the players."""
        closed = sum(1 for box in self.box_edges if position & box == box)
        lead = self.lead(position)
        return self.mover(position) <= 1 and abs(lead) <= closed and (closed - lead) % 2 == 0

    @hookimpl
    def moves(self, position: int) -> list[int]:
        return [edge for edge in range(self.edge_count) if not position >> edge & 1]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        after = position | 1 << move
        gain = self.gain(after, move)
        return after + gain if gain else after ^ self.turn

    @hookimpl
    def undo(self, position: int, move: int) -> int:
        before = position ^ 1 << move
        gain = self.gain(position, move)
        return before - gain if gain else before ^ self.turn

    @hookimpl
    def canonicalize(self, position: int) -> int:
        return self._canonicalize(position)

    @hookimpl
    def mover(self, position: int) -> int:
        return position >> self.edge_count + LEAD_BITS

    @hookimpl
    def score(self, position: int) -> int:
        lead = self.lead(position)
        return -lead if self.mover(position) else lead

    @hookimpl
    def status(self, position: int) -> Status:
        if position & self.all_edges != self.all_edges:
            return Status.ONGOING
        score = self.score(position)
        return Status.WON if score > 0 else Status.LOST if score < 0 else Status.DRAWN

    @hookimpl
    def tier(self, position: int) -> int:
        return (position & self.all_edges).bit_count()  # every move draws an edge

    # ---- texts ----

    def _is_drawn(self, position: int, y: int, x: int) -> bool:
        return bool(position >> self._edge(y, x) & 1)

    def _closed_boxes(self, position: int) -> list[tuple[int, int]]:
        return [place for place, box in zip(self._box_places(), self.box_edges, strict=True) if position & box == box]

    def _box_counts(self, position: int) -> tuple[int, int]:
        """Return the numbers of boxes of both players."""
        closed = len(self._closed_boxes(position))
        lead = self.lead(position)
        return (closed + lead) // 2, (closed - lead) // 2

    @hookimpl
    def decode(self, position: int) -> str:
        rows = []
        for y in range(self.height):
            edges = (self._is_drawn(position, y, x) for x in range(1 - y % 2, self.width, 2))
            rows.append("".join("_|"[y % 2] if drawn else "." for drawn in edges))
        red, blue = self._box_counts(position)
        return f"{'/'.join(rows)}/{red}-{blue}:{PLAYERS[self.mover(position)][0]}"

    @hookimpl
    def encode(self, text: str) -> int:
        """Return the position of a text like `_./.../../.|./../0-0:B`. Raise ValueError if it has a fault."""
        *rows, ending = "".join(text.split()).split("/")
        match = _COUNT.fullmatch(ending)
        widths = [self.columns + y % 2 for y in range(self.height)]
        if match is None or [len(row) for row in rows] != widths:
            example = self.decode(self.start())
            raise ValueError(f"write the rows of edges, the boxes of both players and the side to move, like {example}")
        for y, row in enumerate(rows):
            if unknown := set(row) - {".", "_|"[y % 2]}:
                raise ValueError(f"{min(unknown)!r} in row {y + 1} is neither . nor {'_|'[y % 2]}")
        drawn = sum(1 << edge for edge, mark in enumerate("".join(rows)) if mark != ".")
        red, blue = (int(count) for count in match.group(1, 2))
        closed = len(self._closed_boxes(drawn))
        if red + blue != closed:
            raise ValueError(f"{closed} boxes are closed, but the players have {red} and {blue}")
        mover = "RB".index(match.group(3).upper())
        return (mover << LEAD_BITS | red - blue + self.boxes) << self.edge_count | drawn

    # ---- moves ----

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        return self.names[move]

    @hookimpl
    def parse_move(self, position: int, text: str) -> int:
        """Return the edge of a text like `a1-b1` or `b1-a1`. Raise ValueError with the reason if it is not legal."""
        match = _MOVE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not a move: write two dots, like {self.names[0]}")
        one, other = (dot.lower() for dot in match.groups())
        for name in (f"{one}-{other}", f"{other}-{one}"):
            if name in self.names:
                move = self.names.index(name)
                if position >> move & 1:
                    raise ValueError(f"{name} is not legal: the edge is already drawn")
                return move
        raise ValueError(f"{one} and {other} are not neighbouring dots of this board")

    # ---- the board ----

    @hookimpl
    def board(self, position: int) -> Board:
        """Return the board with a click for each edge.

        A position stores only how many boxes each player has, so the moves decide who owns which box.
        """
        dots = ((y, x) for y in range(0, self.height, 2) for x in range(0, self.width, 2))
        cells = [_cell(self._dot(y, x), y, x, _DOT) for y, x in dots]
        for edge, name in enumerate(self.names):
            y, x = self._place(edge)
            cells.append(_cell(name, y, x, _EDGES[y % 2] if position >> edge & 1 else None))
        boxes = [_cell(f"box-{y}-{x}", y, x, _CLOSED) for y, x in self._closed_boxes(position)]
        cells += boxes
        for owner, (player, count) in enumerate(zip(PLAYERS, self._box_counts(position), strict=True)):
            number = Piece(
                owner, str(count), size=0.8, shape="text", name=f"{count} box" if count == 1 else f"{count} boxes"
            )
            cells.append(Cell(player.lower(), (1 - owner) * (self.height - 1), self.width, (number,)))
        return Board(
            rows=self.height,
            columns=self.width + 1,
            cells=tuple(cells),
            to_move=self.mover(position),
            players=PLAYERS,
            clicks=tuple(
                Click(move, self.names[move], ends=tuple(self.names[move].split("-"))) for move in self.moves(position)
            ),
            row_labels=tuple("" if y % 2 else str(self.rows - y // 2 + 1) for y in range(self.height)),
            column_labels=(*("" if x % 2 else chr(ord("a") + x // 2) for x in range(self.width)), ""),
            upright=True,
            claims=tuple(box.id for box in boxes),
            spelling=self._spelling,
        )


def _cell(name: str, y: int, x: int, piece: Piece | None) -> Cell:
    """Return the cell of a dot, an edge or a box, with the size of its place in the grid."""
    width, height = (_LONG if place % 2 else _THIN for place in (x, y))
    return Cell(name, y, x, (piece,) if piece else (), width=width, height=height)
