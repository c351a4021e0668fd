"""QFEN, the text people read and type: four ranks of `.ABCDabcd` joined by `/`: `.A../..b./.c../...D`.

Capitals are colour 0. This module knows letters and cells only; what makes a state is in `checks`.
"""

from __future__ import annotations

from collections.abc import Sequence

from perfectplay_quantik.checks import PIECES, StateError
from perfectplay_quantik.geometry import CELLS

EMPTY = "."
WIDTH = 4


def write_qfen(bb: Sequence[int]) -> str:
    """The QFEN of eight bitboards."""
    letters = [EMPTY] * CELLS
    for letter, word in zip(PIECES, bb, strict=True):
        for cell in range(CELLS):
            if word >> cell & 1:
                letters[cell] = letter
    return "/".join("".join(letters[start : start + WIDTH]) for start in range(0, CELLS, WIDTH))


def read_qfen(text: str) -> tuple[int, ...]:
    """The eight bitboards of a QFEN. No two can overlap, but nothing else is checked."""
    ranks = text.split("/")
    if len(ranks) != WIDTH:
        raise StateError(f"QFEN {text!r} has {len(ranks)} ranks; it must have 4, joined by '/'")
    bb = [0] * len(PIECES)
    for row, rank in enumerate(ranks):
        if len(rank) != WIDTH:
            raise StateError(f"QFEN rank {row} is {rank!r}, {len(rank)} characters long; it must have 4")
        for column, letter in enumerate(rank):
            if letter == EMPTY:
                continue
            piece = PIECES.find(letter)
            if piece < 0:
                raise StateError(f"QFEN rank {row}, column {column}: {letter!r} is none of . A B C D a b c d")
            bb[piece] |= 1 << (row * WIDTH + column)
    return tuple(bb)
