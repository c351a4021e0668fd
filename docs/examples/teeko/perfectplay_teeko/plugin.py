"""Teeko (John Scarne, 1937): four men each are placed in turn and then moved; four in a line or a square win.

A position has a bit for each cell in either half. The halves change places with every move, so values need no colours:

    bits    2n-1 .. n            n-1 .. 0
           [the opponent's men] [the mover's men]        for n cells; in texts, X is the player to move
"""

from collections.abc import Mapping
from typing import Any

from perfectplay import About, Option, Status, hookimpl
from perfectplay.authoring import Grid, Index

MEN = 4


class Teeko:
    def __init__(self, size: int, advanced: bool) -> None:
        self.grid = grid = Grid(size, size, values=3)
        self.cells, self.half = grid.size, (1 << grid.size) - 1
        shapes = list(grid.lines(4))
        for side in range(1, size if advanced else 2):
            corners = [row * size + column for row in range(size - side) for column in range(size - side)]
            shapes += [(c, c + side, c + side * size, c + side * size + side) for c in corners]
        self.shapes = [sum(1 << cell for cell in shape) for shape in shapes]
        places = [divmod(cell, size) for cell in range(self.cells)]
        self.near = [[i for i, (a, b) in enumerate(places) if max(abs(a - r), abs(b - c)) == 1] for r, c in places]

    @hookimpl
    def index(self) -> Index:
        cells = [(cell, self.cells + cell) for cell in range(self.cells)]
        return Index(cells, {1: (0, MEN), 2: (0, MEN)}, self.grid.d4())

    @hookimpl
    def start(self) -> int:
        return 0

    @hookimpl
    def valid(self, position: int) -> bool:
        mine, theirs = position & self.half, position >> self.cells
        lead = theirs.bit_count() - mine.bit_count()
        if theirs > self.half or mine & theirs or theirs.bit_count() > MEN or lead not in (0, 1):
            return False
        return not self.has_shape(mine)

    def has_shape(self, men: int) -> bool:
        return any(men & shape == shape for shape in self.shapes)

    @hookimpl
    def moves(self, position: int) -> list[int]:
        mine, theirs = position & self.half, position >> self.cells
        if self.has_shape(theirs):
            return []
        taken = mine | theirs
        if mine.bit_count() < MEN:  # a move is to + from * cells, and from is `cells` for a new man
            return [to + self.cells * self.cells for to in range(self.cells) if not taken >> to & 1]
        men = [cell for cell in range(self.cells) if mine >> cell & 1]
        return [to + man * self.cells for man in men for to in self.near[man] if not taken >> to & 1]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        mine, theirs = position & self.half, position >> self.cells
        man, to = divmod(move, self.cells)
        return (mine & ~(1 << man) | 1 << to) << self.cells | theirs

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.ONGOING if self.moves(position) else Status.LOST

    def cell_values(self, position: int) -> int:
        men = [(position >> cell & 1) + 2 * (position >> self.cells + cell & 1) for cell in range(self.cells)]
        return self.grid.pack(men)

    @hookimpl
    def encode(self, text: str) -> int:
        cells = self.grid.unpack(self.grid.read(text, ".XO"))
        return sum(1 << cell + self.cells * (man - 1) for cell, man in enumerate(cells) if man)

    @hookimpl
    def decode(self, position: int) -> str:
        return self.grid.write(self.cell_values(position), ".XO")

    @hookimpl
    def format_move(self, position: int, move: int) -> str:
        man, to = divmod(move, self.cells)
        return self.grid.names[to] if man == self.cells else f"{self.grid.names[man]}-{self.grid.names[to]}"

    @hookimpl
    def about(self) -> About:
        return About("Teeko", RULES)


RULES = (
    "Place four men each in turn, then move one man at a time to a neighbouring free cell. Four in a line or in a "
    "square win. In Advanced Teeko the square may be larger."
)


@hookimpl
def options() -> list[Option]:
    sizes = Option("size", 5, "rows and columns", minimum=4, maximum=5)
    return [sizes, Option("advanced", False, "squares of any size win")]


@hookimpl
def configure(options: Mapping[str, Any]) -> Teeko:
    return Teeko(options["size"], options["advanced"])
