"""Quantik in plain Python, written for clarity: the rules and both canonical forms by brute force.

It shares no code with the C code or with `perfectplay_quantik`, which are tested against it. A position is its 16
letters: `.` for empty, A to D for colour 0, a to d for colour 1.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

Position = str
Permutation = tuple[int, ...]

START: Position = "." * 16
SHAPES = "ABCD"
PIECES = "ABCDabcd"
CELLS = range(16)

LINES: list[set[int]] = [
    *({4 * row + column for column in range(4)} for row in range(4)),
    *({4 * row + column for row in range(4)} for column in range(4)),
    *({top + left, top + left + 1, top + left + 4, top + left + 5} for top in (0, 8) for left in (0, 2)),
]


class Move(NamedTuple):
    shape: str
    cell: int


# ---- rules ----


def pieces(position: Position, colour: int) -> int:
    """Return the number of pieces of a colour on the board."""
    return sum(letter != "." and letter.islower() == bool(colour) for letter in position)


def mover(position: Position) -> int:
    """Return the colour to move; 0 moves first."""
    return 0 if pieces(position, 0) == pieces(position, 1) else 1


def letter_of(shape: str, colour: int) -> str:
    return shape.lower() if colour else shape


def finished(position: Position) -> bool:
    """Return whether a line has all four shapes, in any colours."""
    return any({position[cell].upper() for cell in line} == set(SHAPES) for line in LINES)


def clashes(position: Position, shape: str, cell: int, colour: int) -> bool:
    """Return whether an opposing piece of this shape shares a line with the cell."""
    opposing = letter_of(shape, 1 - colour)
    return any(position[other] == opposing for line in LINES if cell in line for other in line)


def moves(position: Position) -> list[Move]:
    if finished(position):
        return []
    colour = mover(position)
    return [
        Move(shape, cell)
        for shape in SHAPES
        for cell in CELLS
        if position[cell] == "."
        and position.count(letter_of(shape, colour)) < 2
        and not clashes(position, shape, cell, colour)
    ]


def apply(position: Position, move: Move) -> Position:
    letter = letter_of(move.shape, mover(position))
    return position[: move.cell] + letter + position[move.cell + 1 :]


def over(position: Position) -> bool:
    """Return whether the side to move has lost, because a line is finished or it cannot move."""
    return not moves(position)


def reachable(position: Position) -> bool:
    """Return whether play from the start can lead here."""
    first, second = pieces(position, 0), pieces(position, 1)
    if first - second not in (0, 1) or any(position.count(letter) > 2 for letter in PIECES):
        return False
    for cell in CELLS:
        letter = position[cell]
        if letter != "." and clashes(position, letter.upper(), cell, int(letter.islower())):
            return False
    if not finished(position):
        return True  # without clashes any order of the moves is legal, and none of them ended the game
    last_colour = 1 - mover(position)
    return any(
        position[cell] != "."
        and position[cell].islower() == bool(last_colour)
        and not finished(position[:cell] + "." + position[cell + 1 :])
        for cell in CELLS
    )


def perft(position: Position, depth: int) -> tuple[int, int]:
    """Return the number of sequences of `depth` moves, and how many of them end the game with the last."""
    if depth == 0:
        return 1, int(over(position))
    counts = [perft(apply(position, move), depth - 1) for move in moves(position)]
    return sum(count for count, _ in counts), sum(ended for _, ended in counts)


# ---- symmetries ----


def compose(first: Permutation, then: Permutation) -> Permutation:
    return tuple(then[first[cell]] for cell in CELLS)


def closure(generators: list[Permutation]) -> set[Permutation]:
    """Return the group that these permutations of the cells generate."""
    group = {tuple(CELLS)}
    frontier = group
    while frontier:
        frontier = {compose(element, generator) for element in frontier for generator in generators} - group
        group = group | frontier
    return group


def by_coordinates(rows: tuple[int, ...], columns: tuple[int, ...]) -> Permutation:
    return tuple(4 * rows[cell // 4] + columns[cell % 4] for cell in CELLS)


SAME = (0, 1, 2, 3)
TRANSPOSED: Permutation = tuple(4 * (cell % 4) + cell // 4 for cell in CELLS)
ROTATIONS_AND_REFLECTIONS = sorted(closure([TRANSPOSED, by_coordinates((3, 2, 1, 0), SAME)]))
BOARD_SYMMETRIES = sorted(closure([TRANSPOSED, by_coordinates((1, 0, 2, 3), SAME), by_coordinates((2, 3, 0, 1), SAME)]))


def apply_symmetry(position: Position, symmetry: Permutation) -> Position:
    letters = ["."] * 16
    for cell in CELLS:
        letters[symmetry[cell]] = position[cell]
    return "".join(letters)


def relabel(position: Position, names: tuple[str, ...]) -> Position:
    new = "".join(names)
    return position.translate(str.maketrans(PIECES, new + new.lower()))


def images(position: Position, symmetries: list[Permutation]) -> set[Position]:
    """Return all images under board symmetries and relabelings of the shapes, without exchanging colours."""
    return {
        relabel(apply_symmetry(position, symmetry), names) for symmetry in symmetries for names in permutations(SHAPES)
    }


# ---- the portable key ----


def payload(position: Position) -> bytes:
    """8 × 16 bits, low byte first: the cells of each piece."""
    words = [sum(1 << cell for cell in CELLS if position[cell] == letter) for letter in PIECES]
    return b"".join(word.to_bytes(2, "little") for word in words)


def images_384(position: Position) -> set[Position]:
    same_colours = images(position, ROTATIONS_AND_REFLECTIONS)
    return same_colours | {image.swapcase() for image in same_colours}


def canonical_payload(position: Position) -> bytes:
    return min(payload(image) for image in images_384(position))


def canonical_192(position: Position) -> bytes:
    """Return the smallest payload under rotations, reflections and relabelings, without exchanging colours."""
    return min(payload(image) for image in images(position, ROTATIONS_AND_REFLECTIONS))


# ---- the solver's canonical form ----

Pair = tuple[frozenset[int], frozenset[int]]


@cache
def pair_numbers() -> dict[Pair, int]:
    """Return the numbers of (the mover's cells, the other's cells) of one shape, as defined in pairs.h."""
    sets = [frozenset(cells) for size in range(3) for cells in combinations(CELLS, size)]
    pairs = [(own, other) for own in sets for other in sets if not any(line & own and line & other for line in LINES)]

    def key(pair: Pair) -> tuple[int, int, int]:
        fixed_by = sum(pair_image(pair, symmetry) == pair for symmetry in BOARD_SYMMETRIES)
        return -fixed_by, mask(pair[0]), mask(pair[1])

    return {pair: number for number, pair in enumerate(sorted(pairs, key=key))}


def pair_image(pair: Pair, symmetry: Permutation) -> Pair:
    return frozenset(symmetry[cell] for cell in pair[0]), frozenset(symmetry[cell] for cell in pair[1])


def mask(cells: frozenset[int]) -> int:
    return sum(1 << cell for cell in cells)


def encode(position: Position) -> int:
    """Return the solver's number of a position: four pair numbers of 11 bits, with shape A highest."""
    colour = mover(position)
    number = 0
    for shape in SHAPES:
        own = frozenset(cell for cell in CELLS if position[cell] == letter_of(shape, colour))
        other = frozenset(cell for cell in CELLS if position[cell] == letter_of(shape, 1 - colour))
        number = number << 11 | pair_numbers()[own, other]
    return number


def canonical_3072(position: Position) -> int:
    """Return the greatest number of all images under 128 board symmetries and 24 relabelings."""
    return max(encode(image) for image in images(position, BOARD_SYMMETRIES))
