"""Text forms of positions and moves.

A position has three notations, which `encode` recognizes by their form:

    decimal   74242                        the 64-bit encoding of `rules` in digits
    base64    AAAAAAABIgI                  its 8 big-endian bytes without padding, always 11 characters
    board     s,m,sL/.,.,./.,.,.:orange    rows separated by /, cells by commas, each stack from the bottom to the top:
                                           SML are Orange's pieces, sml Blue's, and . is an empty cell;
                                           the side to move follows the colon

The notations are disjoint. Only a board has commas. Every position is below 2^55, so its base64 begins with A and
cannot consist of digits only.
"""

from __future__ import annotations

import base64
import re
from functools import cache

from perfectplay_gobblet.rules import (
    CELLS,
    PLAYERS,
    SIZE_LETTERS,
    SIZE_NAMES,
    SIZES,
    STACKS,
    cell_name,
    check,
    piece_bits,
    side,
    side_bits,
    top,
    why_not_place,
    why_not_slide,
)

RESERVE = 15
"""The source of a placement in a move."""

_MOVER_NAMES = {"orange": 0, "o": 0, "blue": 1, "b": 1}
_MAX_QUOTED = 60
"""Longer texts are truncated in messages."""


# ---- positions ----


def piece_letter(player: int, size: int) -> str:
    """Return the letter of a piece: a capital for Orange, a small letter for Blue."""
    return SIZE_LETTERS[size] if player == 0 else SIZE_LETTERS[size].lower()


_PIECES = {piece_letter(player, size): (player, size) for player in (0, 1) for size in SIZES}


def encode(text: str) -> int:
    """Return the position that `text` describes. Raise ValueError with the reason if there is none."""
    try:
        position = _read(text.strip())
        check(position)
    except ValueError as error:
        raise ValueError(f"{_quote(text)} is not a position: {error}") from None
    return position


def decode(position: int) -> str:
    """Return the board text of a position."""
    a, b, c, d, e, f, g, h, i = [_STACK_TEXTS[position >> shift & 63] for shift in _SHIFTS]
    return f"{a},{b},{c}/{d},{e},{f}/{g},{h},{i}:{PLAYERS[side(position)].lower()}"


_SHIFTS = tuple(6 * cell for cell in CELLS)
_STACK_TEXTS = tuple("".join(piece_letter(*piece) for piece in pieces) or "." for pieces in STACKS)


def notations(position: int) -> dict[str, str]:
    """Return all notations of a position by name."""
    eight_bytes = position.to_bytes(8, "big")
    return {
        "board": decode(position),
        "decimal": str(position),
        "base64": base64.b64encode(eight_bytes).decode("ascii").rstrip("="),
    }


def _read(text: str) -> int:
    if re.fullmatch(r"[0-9]+", text):
        return _read_decimal(text)
    if "," in text:
        return _read_board(text)
    if re.fullmatch(r"[A-Za-z0-9+/]{11}=?", text):
        return _read_base64(text)
    raise ValueError("write a number, 11 characters of base64, or a board such as s,m,sL/.,.,./.,.,.:orange")


def _read_decimal(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 20:
        raise ValueError(f"a number of {len(significant)} digits is beyond 64 bits")
    return int(significant)


def _read_base64(text: str) -> int:
    characters = text.rstrip("=")
    position = int.from_bytes(base64.b64decode(characters + "="), "big")
    if notations(position)["base64"] != characters:
        raise ValueError("the last two bits of its base64 must be 0")
    return position


def _read_board(text: str) -> int:
    board, colon, mover = text.partition(":")
    name = mover.strip().lower()
    if name not in _MOVER_NAMES:
        ending = _quote(mover) if colon else "no colon"
        raise ValueError(f"a board must end with the side to move, :orange or :blue, but this has {ending}")
    position = side_bits(_MOVER_NAMES[name])
    rows = board.split("/")
    if len(rows) != 3:
        raise ValueError(f"a board must have 3 rows separated by /, but this has {len(rows)}")
    for row, row_text in enumerate(rows):
        cells = row_text.split(",")
        if len(cells) != 3:
            raise ValueError(f"row {row} must have 3 cells separated by commas, but has {len(cells)}")
        for column, cell_text in enumerate(cells):
            position |= _read_cell(cell_text.strip(), 3 * row + column)
    return position


def _read_cell(text: str, cell: int) -> int:
    if text == ".":
        return 0
    if not text:
        raise ValueError(f"cell {cell_name(cell)} is blank; write . for an empty cell")
    bits, below = 0, -1
    for letter in text:
        if letter not in _PIECES:
            raise ValueError(
                f"{_quote(letter)} at cell {cell_name(cell)} is not a piece; "
                "write S, M, L for Orange's and s, m, l for Blue's"
            )
        player, size = _PIECES[letter]
        if size <= below:
            raise ValueError(
                f"the stack {_quote(text)} at cell {cell_name(cell)} has {SIZE_NAMES[size]} on "
                f"{SIZE_NAMES[below]}; write it from the bottom up, each piece larger than the one below"
            )
        bits |= piece_bits(player, cell, size)
        below = size
    return bits


def _quote(text: str) -> str:
    return repr(text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "…")


# ---- moves ----
#
#   bits 9 8   size: 0 small, 1 medium, 2 large
#   bits 7–4   source cell, or RESERVE
#   bits 3–0   target cell

_CELL = r"\(?\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)?"
_PLACEMENT = re.compile(rf"([SML])\s*{_CELL}", re.ASCII | re.IGNORECASE)
_SLIDE = re.compile(rf"{_CELL}\s*(?:→|->|-)\s*{_CELL}", re.ASCII)


def make_move(size: int, source: int, target: int) -> int:
    return size << 8 | source << 4 | target


def format_move(position: int, move: int) -> str:
    """Return L(1,1) for a placement and (0,0)→(1,1) for a move on the board."""
    return _move_text(move)


@cache
def _move_text(move: int) -> str:
    target, source, size = move & 15, move >> 4 & 15, move >> 8
    if source == RESERVE:
        return f"{SIZE_LETTERS[size]}{cell_name(target)}"
    return f"{cell_name(source)}→{cell_name(target)}"


def parse_move(position: int, text: str) -> int:
    """Return the legal move that `text` describes. Raise ValueError with the reason if there is none."""
    stripped = text.strip()
    if placement := _PLACEMENT.fullmatch(stripped):
        letter, *coordinates = placement.groups()
        size, source, target = SIZE_LETTERS.index(letter.upper()), RESERVE, _read_coordinates(*coordinates)
        reason = why_not_place(position, size, target)
    elif slide := _SLIDE.fullmatch(stripped):
        source, target = _read_coordinates(*slide.groups()[:2]), _read_coordinates(*slide.groups()[2:])
        reason = why_not_slide(position, source, target)
        piece = top(position, source)
        size = piece[1] if piece else 0
    else:
        raise ValueError(f"{_quote(text)} is not a move: write L(1,1) to place or (0,0)->(1,1) to move a piece")
    move = make_move(size, source, target)
    if reason:
        raise ValueError(f"{format_move(position, move)} is not legal: {reason}")
    return move


def _read_coordinates(row: str, column: str) -> int:
    if row not in ("0", "1", "2") or column not in ("0", "1", "2"):
        raise ValueError(f"({row},{column}) is off the board; rows and columns run from 0 to 2")
    return 3 * int(row) + int(column)
