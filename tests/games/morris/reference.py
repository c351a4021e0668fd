"""The rules of Morris in plain Python, written for clarity.

The C kernel and the plugin are tested against this file, so it shares no code with them. Boards are written out line by
line, a position is sets of point names, and symmetries are found by search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise

WHITE, BLACK = 0, 1

THREE = """
    a3 b3 c3, a2 b2 c2, a1 b1 c1,
    a3 a2 a1, b3 b2 b1, c3 c2 c1,
    a3 b2 c1, a1 b2 c3
"""
SIX = """
    a5 c5 e5, b4 c4 d4, b2 c2 d2, a1 c1 e1,
    a5 a3 a1, b4 b3 b2, d4 d3 d2, e5 e3 e1,
    c5 c4, a3 b3, d3 e3, c2 c1
"""
NINE = """
    a7 d7 g7, b6 d6 f6, c5 d5 e5, a4 b4 c4, e4 f4 g4, c3 d3 e3, b2 d2 f2, a1 d1 g1,
    a7 a4 a1, b6 b4 b2, c5 c4 c3, d7 d6 d5, d3 d2 d1, e5 e4 e3, f6 f4 f2, g7 g4 g1
"""


@dataclass(frozen=True)
class Variant:
    """A board and its rules."""

    men: int
    board: str
    captures: bool
    flying: bool

    @cached_property
    def lines(self) -> list[list[str]]:
        return [line.split() for line in self.board.split(",")]

    @cached_property
    def mills(self) -> list[set[str]]:
        return [set(line) for line in self.lines if len(line) == 3]

    @cached_property
    def points(self) -> list[str]:
        """The names of all points in reading order."""
        names = {name for line in self.lines for name in line}
        return sorted(names, key=lambda name: (-int(name[1]), name[0]))

    @cached_property
    def neighbours(self) -> set[tuple[str, str]]:
        pairs = {pair for line in self.lines for pair in pairwise(line)}
        return pairs | {(other, one) for one, other in pairs}


VARIANTS = {
    (name, flying): Variant(men, board, captures, flying)
    for name, men, board, captures in (("three", 3, THREE, False), ("six", 6, SIX, True), ("nine", 9, NINE, True))
    for flying in (False, True)
}


@dataclass(frozen=True)
class Position:
    variant: Variant
    men: tuple[frozenset[str], frozenset[str]]
    in_hand: tuple[int, int]
    mover: int

    @property
    def opponent(self) -> int:
        return 1 - self.mover

    def total(self, player: int) -> int:
        return len(self.men[player]) + self.in_hand[player]

    def has_mill(self, player: int) -> bool:
        return any(mill <= self.men[player] for mill in self.variant.mills)

    @property
    def empty(self) -> list[str]:
        return [point for point in self.variant.points if point not in self.men[WHITE] | self.men[BLACK]]


@dataclass(frozen=True)
class Move:
    source: str | None
    target: str
    captured: str | None


def start(variant: Variant) -> Position:
    return Position(variant, (frozenset(), frozenset()), (variant.men, variant.men), WHITE)


# ---- moves ----


def is_over(position: Position) -> bool:
    """Return whether the last move has won, by leaving two men, or by a mill where mills win."""
    if position.variant.captures:
        return position.total(position.mover) < 3
    return position.has_mill(position.opponent)


def steps(position: Position) -> Iterator[tuple[str | None, str]]:
    """Yield source and target of all moves; the source is None for a placement."""
    mine, variant = position.men[position.mover], position.variant
    for target in position.empty:
        if position.in_hand[position.mover]:
            yield None, target
            continue
        for source in mine:
            if (variant.flying and len(mine) == 3) or (source, target) in variant.neighbours:
                yield source, target


def moves(position: Position) -> list[Move]:
    if is_over(position):
        return []
    result = []
    for source, target in steps(position):
        mine = position.men[position.mover] - {source} | {target}
        closed = any(target in mill and mill <= mine for mill in position.variant.mills)
        if not closed or not position.variant.captures:
            result.append(Move(source, target, None))
            continue
        theirs = position.men[position.opponent]
        protected = {man for mill in position.variant.mills if mill <= theirs for man in mill}
        result += [Move(source, target, man) for man in theirs - protected or theirs]
    return result


def status(position: Position) -> str:
    """Return LOST if the game is over or the mover cannot move. The rules end no position as won or drawn."""
    return "ONGOING" if moves(position) else "LOST"


def apply(position: Position, move: Move) -> Position:
    men, in_hand = list(position.men), list(position.in_hand)
    if move.source is None:
        in_hand[position.mover] -= 1
    men[position.mover] = men[position.mover] - {move.source} | {move.target}
    men[position.opponent] = men[position.opponent] - {move.captured}
    return Position(position.variant, (men[0], men[1]), (in_hand[0], in_hand[1]), position.opponent)


# ---- the 64-bit encoding ----


def encode(position: Position) -> int:
    points = position.variant.points
    white, black = (sum(2 ** points.index(man) for man in men) for men in position.men)
    return white + black * 2**24 + sum(position.in_hand) * 2**48 + position.mover * 2**53


def decode(variant: Variant, code: int) -> Position:
    men = [
        frozenset(point for i, point in enumerate(variant.points) if code // 2**first // 2**i % 2) for first in (0, 24)
    ]
    both, mover = code // 2**48 % 32, code // 2**53
    hands = [both // 2, both // 2]
    hands[mover] += both % 2
    return Position(variant, (men[0], men[1]), (hands[0], hands[1]), mover)


def encode_move(variant: Variant, move: Move) -> int:
    target, source, captured = (
        31 if point is None else variant.points.index(point) for point in (move.target, move.source, move.captured)
    )
    return target + source * 2**5 + captured * 2**10


# ---- symmetry ----


@cache
def symmetries(variant: Variant, keep_neighbours: bool = True) -> list[dict[str, str]]:
    """Return all permutations of the points that preserve mills and, unless disabled, neighbours."""
    points = variant.points
    mills = {frozenset(mill) for mill in variant.mills}
    result: list[dict[str, str]] = []

    def fits(image: dict[str, str], point: str) -> bool:
        for mill in mills:
            if point in mill and all(p in image for p in mill) and frozenset(image[p] for p in mill) not in mills:
                return False
        if not keep_neighbours:
            return True
        near = variant.neighbours
        return all(((point, p) in near) == ((image[point], image[p]) in near) for p in image if p != point)

    def extend(image: dict[str, str]) -> None:
        if len(image) == len(points):
            result.append(image)
            return
        point = order[len(image)]
        for target in points:
            if target not in image.values():
                longer = {**image, point: target}
                if fits(longer, point):
                    extend(longer)

    order = _connected_order(variant)
    extend({})
    return result


def _connected_order(variant: Variant) -> list[str]:
    """Order the points line by line, each line touching earlier ones, so that the search fails early."""
    order: list[str] = []
    lines = [set(line) for line in variant.lines]
    while lines:
        line = next((line for line in lines if line & set(order)), lines[0])
        lines.remove(line)
        order += sorted(line - set(order))
    return order


def image(position: Position, symmetry: dict[str, str]) -> Position:
    white, black = (frozenset(symmetry[man] for man in men) for men in position.men)
    return Position(position.variant, (white, black), position.in_hand, position.mover)
