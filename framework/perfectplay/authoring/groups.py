"""Symmetries of a board, as a group: elements that compose and have inverses, not a bag of functions.

A symmetry moves places and renames what stands there: image[i] = labels[items[places[i]]]. Both kinds commute, so
turning a board and swapping the colours is one element, and groups of either kind multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import getitem

MAX_SIZE = 10_000
"""More elements than this are no use for canonicalizing."""

_TABLE_BITS = 12
"""Positions are looked up in parts of this size, at most."""


@dataclass(frozen=True, slots=True)
class Symmetry:
    """One element: `a * b` does b first, then a; `~a` undoes a; `a(items)` is the image.

    Empty `labels` rename nothing.

    >>> turn = Symmetry((1, 2, 3, 0))
    >>> turn("abcd")
    ('b', 'c', 'd', 'a')
    >>> (turn * turn)("abcd"), (~turn * turn).is_identity
    (('c', 'd', 'a', 'b'), True)
    >>> Symmetry((0, 1), labels=(0, 2, 1))([1, 0])
    (2, 0)
    """

    places: tuple[int, ...]
    labels: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for numbers in (self.places, self.labels):
            if sorted(numbers) != list(range(len(numbers))):
                raise ValueError(f"{numbers} is not a permutation of 0 to {len(numbers) - 1}")
        if self.labels == tuple(range(len(self.labels))):
            object.__setattr__(self, "labels", ())  # one spelling only, so that equal means equal

    def __call__(self, items: Sequence[int]) -> tuple[int, ...]:
        if self.labels:
            return tuple([self.labels[items[place]] for place in self.places])
        return tuple([items[place] for place in self.places])

    def __mul__(self, first: Symmetry) -> Symmetry:
        if len(self.places) != len(first.places):
            raise ValueError(f"one moves {len(self.places)} places, the other {len(first.places)}")
        places = tuple(first.places[place] for place in self.places)
        if not self.labels or not first.labels:
            return Symmetry(places, self.labels or first.labels)
        if len(self.labels) != len(first.labels):
            raise ValueError(f"one renames {len(self.labels)} labels, the other {len(first.labels)}")
        return Symmetry(places, tuple(self.labels[label] for label in first.labels))

    def __invert__(self) -> Symmetry:
        return Symmetry(_inverse(self.places), _inverse(self.labels))

    @property
    def is_identity(self) -> bool:
        return not self.labels and self.places == tuple(range(len(self.places)))


class Group:
    """All products of some generators. `g * h` is the group that both generate together.

    >>> square = Group([Symmetry((1, 3, 0, 2)), Symmetry((1, 0, 3, 2))])  # turn and mirror a 2×2 board
    >>> len(square), square.canonical([0, 0, 1, 0])
    (8, (0, 0, 0, 1))
    """

    def __init__(self, generators: Iterable[Symmetry]) -> None:
        self.generators = tuple(generators)
        if not self.generators:
            raise ValueError("a group needs a generator; the identity will do")
        self.places = len(self.generators[0].places)
        identity = Symmetry(tuple(range(self.places)))
        found, new = {identity}, [identity]
        while new:
            new = [each for each in {g * element for g in self.generators for element in new} if each not in found]
            found.update(new)
            if len(found) > MAX_SIZE:
                raise ValueError(f"this group has more than {MAX_SIZE:,} elements")
        self.elements = tuple(sorted(found, key=lambda element: (not element.is_identity, element.places)))

    def __len__(self) -> int:
        return len(self.elements)

    def __iter__(self) -> Iterator[Symmetry]:
        return iter(self.elements)

    def __contains__(self, element: object) -> bool:
        return element in self.elements

    def __mul__(self, other: Group) -> Group:
        return Group(self.generators + other.generators)

    def beside(self, other: Group) -> Group:
        """The direct product on separate places: mine first, then the other's, each moved on its own."""
        mine, its = tuple(range(self.places)), tuple(range(self.places, self.places + other.places))
        generators = [Symmetry(each.places + its, each.labels) for each in self.generators]
        for each in other.generators:
            generators.append(Symmetry(mine + tuple(self.places + place for place in each.places), each.labels))
        return Group(generators)

    def images(self, items: Sequence[int]) -> set[tuple[int, ...]]:
        """Everything that is the same as `items` up to these symmetries."""
        return {element(items) for element in self.elements}

    def canonical(self, items: Sequence[int]) -> tuple[int, ...]:
        """The smallest image."""
        return min(element(items) for element in self.elements)

    def canonicalizer(self, *, bits: int) -> Callable[[int], int]:
        """A fast `canonicalize` for positions whose lowest bits are the places, `bits` each, place 0 lowest.

        Bits above the places stay as they are. The places are looked up several at a time in tables made now.
        """
        places_a_part = max(1, (_TABLE_BITS if len(self) <= 16 else _TABLE_BITS * 2 // 3) // bits)
        starts = range(0, self.places, places_a_part)
        tables = [
            [self._part_table(element, range(first, min(first + places_a_part, self.places)), bits) for first in starts]
            for element in self.elements
        ]
        shifts = [first * bits for first in starts]
        mask, width = (1 << places_a_part * bits) - 1, self.places * bits
        inside = (1 << width) - 1

        def canonicalize(position: int) -> int:
            board = position & inside
            parts = [(board >> shift) & mask for shift in shifts]
            # The parts' images share no bits, so their sum is their union.
            return min([sum(map(getitem, each, parts)) for each in tables]) | (position ^ board)

        return canonicalize

    @staticmethod
    def _part_table(element: Symmetry, part: range, bits: int) -> list[int]:
        """For every content of some neighbouring places, where it lands in the image."""
        goes_to = _inverse(element.places)
        table = [0]
        for place in part:
            shift = goes_to[place] * bits
            named = [element.labels[x] if x < len(element.labels) else x for x in range(1 << bits)]
            table = [entry | label << shift for label in named for entry in table]
        return table


def cyclic(points: int) -> Group:
    """The rotations of a ring: as many as it has points.

    >>> len(cyclic(6))
    6
    """
    return Group([Symmetry((*range(1, points), 0))])


def dihedral(points: int) -> Group:
    """The rotations and reflections of a ring.

    >>> len(dihedral(6))
    12
    """
    return Group([Symmetry((*range(1, points), 0)), Symmetry(tuple(range(points))[::-1])])


def relabelings(places: int, labels: int, *, among: Sequence[int]) -> Group:
    """Every way to rename the labels `among` each other, the places staying put.

    >>> shapes = relabelings(4, 4, among=(1, 2, 3))
    >>> len(shapes), shapes.canonical([3, 0, 2, 3])
    (6, (1, 0, 2, 1))
    """
    stay = tuple(range(places))
    generators = [Symmetry(stay)]
    for one, other in pairwise(among):  # swapping neighbours makes every order
        names = list(range(labels))
        names[one], names[other] = other, one
        generators.append(Symmetry(stay, tuple(names)))
    return Group(generators)


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    inverse = [0] * len(permutation)
    for i, place in enumerate(permutation):
        inverse[place] = i
    return tuple(inverse)
