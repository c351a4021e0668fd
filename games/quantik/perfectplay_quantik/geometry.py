"""The 4×4 board as bit masks, for Python: bit i is cell i, row-major. geometry.h draws it."""

from __future__ import annotations

CELLS = 16
SHAPES = 4
PIECES_OF_A_SHAPE = 2

ROWS = (0x000F, 0x00F0, 0x0F00, 0xF000)
COLUMNS = (0x1111, 0x2222, 0x4444, 0x8888)
ZONES = (0x0033, 0x00CC, 0x3300, 0xCC00)

LINES: tuple[tuple[str, int], ...] = tuple(
    (f"{kind} {number}", mask)
    for kind, masks in (("row", ROWS), ("column", COLUMNS), ("zone", ZONES))
    for number, mask in enumerate(masks)
)
"""The twelve lines, each with its name."""

SCOPE = tuple(
    sum({1 << other for _, mask in LINES if mask >> cell & 1 for other in range(CELLS) if mask >> other & 1})
    for cell in range(CELLS)
)
"""For each cell, all cells that share a row, column or zone with it, itself included."""


def cells_of(mask: int) -> list[int]:
    """The cells of a mask, in order."""
    return [cell for cell in range(CELLS) if mask >> cell & 1]


def scope_of(mask: int) -> int:
    """All cells that share a line with any cell of `mask`."""
    scope = 0
    for cell in cells_of(mask):
        scope |= SCOPE[cell]
    return scope


def place(cell: int) -> str:
    """A cell's name in messages."""
    return f"cell {cell} (row {cell // 4}, column {cell % 4})"
