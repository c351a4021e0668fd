"""What makes eight bitboards a Quantik state: the checks that every decoder applies, and their error."""

from __future__ import annotations

from collections.abc import Sequence

from perfectplay_quantik.geometry import CELLS, LINES, PIECES_OF_A_SHAPE, SHAPES, cells_of, place

PIECES = "ABCDabcd"
"""The letter of each bitboard: shapes A to D, capital for colour 0."""


class StateError(ValueError):
    """These bytes, words or letters are not a Quantik state; the message says what is wrong and where."""


def check_bitboards(bb: Sequence[int]) -> None:
    """Eight 16-bit words, no two pieces on one cell, at most two pieces of a kind."""
    if len(bb) != len(PIECES):
        raise StateError(f"a state has {len(PIECES)} bitboards, not {len(bb)}")
    taken = 0
    for piece, word in enumerate(bb):
        if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 1 << CELLS:
            raise StateError(f"bitboard {piece} ({PIECES[piece]}) is {word!r}; it must be from 0 to 65535")
        if taken & word:
            cell = cells_of(taken & word)[0]
            first = next(other for other in range(piece) if bb[other] >> cell & 1)
            raise StateError(f"{place(cell)} holds two pieces, {PIECES[first]} and {PIECES[piece]}")
        if word.bit_count() > PIECES_OF_A_SHAPE:
            cells = ", ".join(map(str, cells_of(word)))
            raise StateError(
                f"{word.bit_count()} pieces {PIECES[piece]} on cells {cells}; "
                f"a player has {PIECES_OF_A_SHAPE} of a shape"
            )
        taken |= word


def check_turn_order(bb: Sequence[int], *, either_colour: bool = False) -> None:
    """Colour 0 begins, so it has as many pieces as colour 1 or one more.

    `either_colour` is for canonical payloads, in which the colours may have been swapped.
    """
    first, second = piece_counts(bb)
    if first - second in ((-1, 0, 1) if either_colour else (0, 1)):
        return
    rule = "they may differ by one" if either_colour else "colour 0 begins: it has as many or one more"
    raise StateError(f"impossible turn order: colour 0 has {first} pieces, colour 1 has {second}; {rule}")


def piece_counts(bb: Sequence[int]) -> tuple[int, int]:
    """How many pieces each colour has on the board."""
    return sum(word.bit_count() for word in bb[:SHAPES]), sum(word.bit_count() for word in bb[SHAPES:])


def finished_lines(bb: Sequence[int]) -> list[tuple[str, int]]:
    """The lines that hold all four shapes, with their names."""
    unions = [bb[shape] | bb[shape + SHAPES] for shape in range(SHAPES)]
    return [(name, line) for name, line in LINES if all(union & line for union in unions)]


def check_reachable(bb: Sequence[int]) -> None:
    """Raise unless play can reach the state. The other two checks are taken as passed.

    Pieces that do not clash can have been put in any order, so only finished lines need more thought: one
    piece of the player who moved last must stand on all of them.
    """
    for shape in range(SHAPES):
        for cell in cells_of(bb[shape]):
            for name, line in LINES:
                if line >> cell & 1 and line & bb[shape + SHAPES]:
                    other = cells_of(line & bb[shape + SHAPES])[0]
                    letter = PIECES[shape]
                    raise StateError(
                        f"{letter} on cell {cell} and {letter.lower()} on cell {other} share {name}; "
                        "no player may put a shape in line with the same shape of the other"
                    )
    first, second = piece_counts(bb)
    last_colour = 0 if first > second else 1
    last = 0
    for word in bb[last_colour * SHAPES : (last_colour + 1) * SHAPES]:
        last |= word
    finished = finished_lines(bb)
    for _, line in finished:
        last &= line
    if finished and not last:
        names = ", ".join(name for name, _ in finished)
        raise StateError(
            f"all four shapes are in {names}, but no single last move of colour {last_colour} finishes that"
        )
