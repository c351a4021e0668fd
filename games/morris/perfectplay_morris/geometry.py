"""The geometry of the three boards: points, lines and symmetries.

A board is one, two or three nested squares, with a point at each corner and in the middle of each side. Men move
between neighbouring points on a line, and three points on a line are a mill.

    nine men's                six men's         three men's

    7 o-----o-----o           5 o---o---o       3 o-o-o
    6 | o---o---o |           4 | o-o-o |         |\\|/|
    5 | | o-o-o | |           3 o-o   o-o       2 o-o-o
    4 o-o-o   o-o-o           2 | o-o-o |         |/|\\|
    3 | | o-o-o | |           1 o---o---o       1 o-o-o
    2 | o---o---o |             a b c d e         a b c
    1 o-----o-----o
      a b c d e f g

Points are numbered in reading order and named by column and row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from perfectplay.authoring import Group, Symmetry

MILL = 3
"""Men in a mill."""

Place = tuple[int, int]
"""(row, column) relative to the centre of the board."""

_CORNERS: tuple[Place, ...] = ((-1, -1), (-1, 1), (1, 1), (1, -1))
_MIDDLES: tuple[Place, ...] = ((-1, 0), (0, 1), (1, 0), (0, -1))


@dataclass(frozen=True)
class Geometry:
    """A board of nested squares for a number of men per player. A single square also has a centre point."""

    men: int
    squares: int
    captures: bool
    """Whether a mill captures a man; otherwise it wins the game."""

    @property
    def width(self) -> int:
        """The number of rows and of columns of the grid that contains the points."""
        return 2 * self.squares + 1

    @cached_property
    def places(self) -> list[Place]:
        return sorted({place for line in self._lines_of_places() for place in line})

    @cached_property
    def names(self) -> list[str]:
        return [f"{chr(ord('a') + self.squares + column)}{self.squares + 1 - row}" for row, column in self.places]

    @cached_property
    def lines(self) -> list[list[int]]:
        """The numbers of the points on each line, from end to end."""
        return [[self.places.index(place) for place in line] for line in self._lines_of_places()]

    @property
    def mills(self) -> list[int]:
        """The mills as masks."""
        return [sum(1 << point for point in line) for line in self.lines if len(line) == MILL]

    @property
    def neighbours(self) -> list[int]:
        """The neighbours of each point as a mask."""
        masks = [0] * len(self.places)
        for line in self.lines:
            for one, other in pairwise(line):
                masks[one] |= 1 << other
                masks[other] |= 1 << one
        return masks

    @property
    def symmetries(self) -> Group:
        """Rotations, reflections, and the exchange of the outer and the inner square."""
        return Group(
            [
                self._symmetry({(row, column): (column, -row) for row, column in self.places}),
                self._symmetry({(row, column): (row, -column) for row, column in self.places}),
                self._symmetry({place: self._inside_out(place) for place in self.places}),
            ]
        )

    def _lines_of_places(self) -> list[list[Place]]:
        rings = range(1, self.squares + 1)
        sides = []
        for (row, column), (next_row, next_column) in zip(_CORNERS, _CORNERS[1:] + _CORNERS[:1], strict=True):
            side = ((row, column), ((row + next_row) // 2, (column + next_column) // 2), (next_row, next_column))
            sides += [[(ring * r, ring * c) for r, c in side] for ring in rings]
        if self.squares > 1:
            return sides + [[(ring * row, ring * column) for ring in rings] for row, column in _MIDDLES]
        across = (*_CORNERS[:2], *_MIDDLES[:2])
        return sides + [[(row, column), (0, 0), (-row, -column)] for row, column in across]

    def _inside_out(self, place: Place) -> Place:
        ring = max(map(abs, place))
        if ring == 0:
            return place
        row, column = place
        other = self.squares + 1 - ring
        return row * other // ring, column * other // ring

    def _symmetry(self, images: dict[Place, Place]) -> Symmetry:
        return Symmetry(tuple(self.places.index(images[place]) for place in self.places))


GEOMETRIES = {
    "three": Geometry(3, 1, captures=False),
    "six": Geometry(6, 2, captures=True),
    "nine": Geometry(9, 3, captures=True),
}
