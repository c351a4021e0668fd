"""Text forms of positions and moves.

A position is a QFEN (`.A../..b./.c../...D`), a portable key in hex (with or without its `0102`), or the solver's number
in decimal. A move is `A@5`, shape and cell 0 to 15, or `A(1,1)` with row and column.
"""

from __future__ import annotations

import re

from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.rules import CELLS, KERNEL, PIECES, check_reachable, check_turn_order, piece_counts
from perfectplay_quantik.state import CANONICAL, State

_NO_POSITION = 2**64 - 1
_CELL_BITS = 4
_MOVE = re.compile(r"([A-D])\s*(?:@\s*(\d+)|\(\s*(\d+)\s*,\s*(\d+)\s*\))", re.IGNORECASE)


def make_move(shape: int, cell: int) -> int:
    return shape << _CELL_BITS | cell


def encode(text: str) -> int:
    """Return the position of a QFEN, a portable key in hex or a decimal encoding. Raise ValueError for other texts."""
    text = text.strip()
    if "/" in text:
        return position_of(State.from_qfen(text))
    if re.fullmatch(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{36}", text):
        return _position_of_key(bytes.fromhex(text if len(text) == 36 else "0102" + text))
    if re.fullmatch(r"[0-9]{1,20}", text):
        position = int(text)
        if not KERNEL.valid(position):
            raise ValueError(f"{position} is not a position of Quantik")
        return position
    raise ValueError(
        f"{text!r} is not a position: write a QFEN such as .A../..b./.c../...D, a key of 32 or 36 hex digits, "
        "or the decimal encoding"
    )


def _position_of_key(packed: bytes) -> int:
    """Return a reachable position of a key, which denotes up to 384 states, some with swapped colours."""
    state, flags = State.unpack(packed)
    if flags & CANONICAL and lib.quantik_position(list(state.bb)) == _NO_POSITION:
        first, second = piece_counts(state.bb)
        swapped = state.colours_swapped()
        if second > first or lib.quantik_position(list(swapped.bb)) != _NO_POSITION:
            state = swapped
    return position_of(state)


def position_of(state: State) -> int:
    """Return the solver's position of a state. Raise ValueError if play cannot reach it."""
    check_turn_order(state.bb)
    check_reachable(state.bb)
    return int(lib.quantik_position(list(state.bb)))


def state_of(position: int) -> State:
    """Return the state of a solver's position."""
    words = ffi.new("uint16_t[8]")
    lib.quantik_state(position, words)
    return State(tuple(words))


def decode(position: int) -> str:
    return state_of(position).to_qfen()


def notations(position: int) -> dict[str, str]:
    state = state_of(position)
    return {"qfen": state.to_qfen(), "key": state.canonical_key().hex(), "encoding": str(position)}


def format_move(position: int, move: int) -> str:
    return f"{PIECES[move >> _CELL_BITS]}@{move & CELLS - 1}"


def parse_move(position: int, text: str) -> int:
    """Return the legal move of a text like `A@5` or `A(1,1)`. Raise ValueError with the reason if there is none."""
    match = _MOVE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a move: write a shape A to D and a cell, A@5 or A(1,1)")
    shape = PIECES.index(match[1].upper())
    if match[2] is not None:
        cell = int(match[2])
        if cell >= CELLS:
            raise ValueError(f"{text!r}: there is no cell {cell}; cells are 0 to 15")
    else:
        row, column = int(match[3]), int(match[4])
        if row > 3 or column > 3:
            raise ValueError(f"{text!r}: there is no cell ({row},{column}); rows and columns are 0 to 3")
        cell = row * 4 + column
    if reason := state_of(position).why_not(shape, cell):
        raise ValueError(f"{text.strip()} is not legal: {reason}")
    return make_move(shape, cell)
