"""The rules in Python: the board as bit masks, and the checks that make eight bitboards a Quantik state.

Bit i of a mask is cell i, row by row; geometry.h draws the board.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfectplay_native.kernel import Kernel
from perfectplay_quantik._kernel import ffi, lib

KERNEL = Kernel(ffi, lib.quantik_kernel)

CELLS = 16
SHAPES = 4
PIECES_PER_SHAPE = 2

ROWS = (0x000F, 0x00F0, 0x0F00, 0xF000)
COLUMNS = (0x1111, 0x2222, 0x4444, 0x8888)
ZONES = (0x0033, 0x00CC, 0x3300, 0xCC00)

LINES: tuple[tuple[str, int], ...] = tuple(
    (f"{kind} {number}", mask)
    for kind, masks in (("row", ROWS), ("column", COLUMNS), ("zone", ZONES))
    for number, mask in enumerate(masks)
)
"""The twelve lines as (name, mask)."""

SCOPE = tuple(
    sum({1 << other for _, mask in LINES if mask >> cell & 1 for other in range(CELLS) if mask >> other & 1})
    for cell in range(CELLS)
)
"""For each cell, all cells that share a row, column or zone with it, including itself."""


def cells_of(mask: int) -> list[int]:
    """Return the cells of a mask in order."""
    return [cell for cell in range(CELLS) if mask >> cell & 1]


def scope_of(mask: int) -> int:
    """Return all cells that share a line with a cell of `mask`."""
    scope = 0
    for cell in cells_of(mask):
        scope |= SCOPE[cell]
    return scope


def cell_text(cell: int) -> str:
    """Return the name of a cell for messages."""
    return f"cell {cell} (row {cell // 4}, column {cell % 4})"


# ---- states ----

PIECES = "ABCDabcd"
"""The letter of each bitboard: shapes A to D, capital for colour 0."""


class StateError(ValueError):
    """The given bytes, words or letters are not a Quantik state. The message contains the fault and its place."""


def check_bitboards(bb: Sequence[int]) -> None:
    """Check for eight 16-bit words, one piece per cell, at most two pieces of a kind. Raise StateError otherwise."""
    if len(bb) != len(PIECES):
        raise StateError(f"a state has {len(PIECES)} bitboards, not {len(bb)}")
    occupied = 0
    for piece, word in enumerate(bb):
        if isinstance(word, bool) or not isinstance(word, int) or not 0 <= word < 1 << CELLS:
            raise StateError(f"bitboard {piece} ({PIECES[piece]}) is {word!r}; it must be from 0 to 65535")
        if occupied & word:
            cell = cells_of(occupied & word)[0]
            first = next(other for other in range(piece) if bb[other] >> cell & 1)
            raise StateError(f"{cell_text(cell)} holds two pieces, {PIECES[first]} and {PIECES[piece]}")
        if word.bit_count() > PIECES_PER_SHAPE:
            cells = ", ".join(map(str, cells_of(word)))
            raise StateError(
                f"{word.bit_count()} pieces {PIECES[piece]} on cells {cells}; "
                f"a player has {PIECES_PER_SHAPE} of a shape"
            )
        occupied |= word


def check_turn_order(bb: Sequence[int], *, either_colour: bool = False) -> None:
    """Check that colour 0, which moves first, has as many pieces as colour 1 or one more. Raise StateError otherwise.

    Set `either_colour` for canonical payloads, in which the colours may be swapped.
    """
    first, second = piece_counts(bb)
    if first - second in ((-1, 0, 1) if either_colour else (0, 1)):
        return
    rule = "they may differ by one" if either_colour else "colour 0 moves first and has as many or one more"
    raise StateError(f"impossible turn order: colour 0 has {first} pieces, colour 1 has {second}; {rule}")


def piece_counts(bb: Sequence[int]) -> tuple[int, int]:
    """Return the number of pieces of each colour on the board."""
    return sum(word.bit_count() for word in bb[:SHAPES]), sum(word.bit_count() for word in bb[SHAPES:])


def finished_lines(bb: Sequence[int]) -> list[tuple[str, int]]:
    """Return the lines that contain all four shapes, as (name, mask)."""
    unions = [bb[shape] | bb[shape + SHAPES] for shape in range(SHAPES)]
    return [(name, line) for name, line in LINES if all(union & line for union in unions)]


def check_reachable(bb: Sequence[int]) -> None:
    """Check that play can reach a state that passes the other two checks. Raise StateError otherwise.

    Pieces that do not clash can have been placed in any order. If lines are finished, the last move must have finished
    all of them, so one piece of the player who moved last must be on each of them.
    """
    for shape in range(SHAPES):
        for cell in cells_of(bb[shape]):
            for name, line in LINES:
                if line >> cell & 1 and line & bb[shape + SHAPES]:
                    other = cells_of(line & bb[shape + SHAPES])[0]
                    letter = PIECES[shape]
                    raise StateError(
                        f"{letter} on cell {cell} and {letter.lower()} on cell {other} share {name}; "
                        "a shape may not be in line with the same shape of the other colour"
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
            f"all four shapes are in {names}, but no single move of colour {last_colour} finishes them all"
        )
