"""Quantik as a perfectplay game: its kernel, its notations and its board.

A position text is a QFEN (`.A../..b./.c../...D`), a portable key in hex (with or without its `0102`), or the
solver's own number in decimal. A move is `A@5`, shape and cell 0 to 15, or `A(1,1)` by row and column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from perfectplay.about import About
from perfectplay.board import Board, Cell, Click, Piece, Spelling, Tray
from perfectplay.hookspecs import hookimpl
from perfectplay_native.kernel import Kernel
from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.checks import PIECES, check_reachable, check_turn_order, piece_counts
from perfectplay_quantik.geometry import CELLS, LINES, PIECES_OF_A_SHAPE, SHAPES, ZONES, cells_of
from perfectplay_quantik.state import CANONICAL, State

_KERNEL = Kernel(ffi, lib.quantik_kernel)
_NO_POSITION = 2**64 - 1
_CELL_BITS = 4
_SHAPE_NAMES = ("circle", "square", "triangle", "diamond")
_RULES = """
Each player has two pieces of each of four shapes. A turn puts one of them on an empty cell, but never in a row, column
or quarter of the board that holds an opposing piece of the same shape.

Whoever completes a row, a column or a quarter with all four shapes, in whatever colours, wins. A player who cannot move
loses.
"""
_MOVE = re.compile(r"([A-D])\s*(?:@\s*(\d+)|\(\s*(\d+)\s*,\s*(\d+)\s*\))", re.IGNORECASE)


@hookimpl
def kernel() -> Kernel:
    return _KERNEL


@hookimpl
def about() -> About:
    return About("Quantik", _RULES)


@hookimpl
def encode(text: str) -> int:
    """The position of a QFEN, a portable key in hex or a decimal encoding; ValueError says what is wrong."""
    text = text.strip()
    if "/" in text:
        return position_of(State.from_qfen(text))
    if re.fullmatch(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{36}", text):
        return _position_of_key(bytes.fromhex(text if len(text) == 36 else "0102" + text))
    if re.fullmatch(r"[0-9]{1,20}", text):
        position = int(text)
        if not _KERNEL.valid(position):
            raise ValueError(f"{position} is not a position of Quantik")
        return position
    raise ValueError(
        f"{text!r} is not a position: write a QFEN such as .A../..b./.c../...D, a key of 32 or 36 hex digits, "
        "or the decimal encoding"
    )


def _position_of_key(packed: bytes) -> int:
    """A key stands for up to 384 states, some with swapped colours: read it as one that play can reach."""
    state, flags = State.unpack(packed)
    if flags & CANONICAL and lib.quantik_position(list(state.bb)) == _NO_POSITION:
        first, second = piece_counts(state.bb)
        swapped = state.colours_swapped()
        if second > first or lib.quantik_position(list(swapped.bb)) != _NO_POSITION:
            state = swapped
    return position_of(state)


def position_of(state: State) -> int:
    """The solver's position of a state; ValueError says why play cannot reach it."""
    check_turn_order(state.bb)
    check_reachable(state.bb)
    return int(lib.quantik_position(list(state.bb)))


def state_of(position: int) -> State:
    """The state of a solver's position."""
    words = ffi.new("uint16_t[8]")
    lib.quantik_state(position, words)
    return State(tuple(words))


@hookimpl
def decode(position: int) -> str:
    return state_of(position).to_qfen()


@hookimpl
def notations(position: int) -> Mapping[str, str]:
    state = state_of(position)
    return {"qfen": state.to_qfen(), "key": state.canonical_key().hex(), "encoding": str(position)}


@hookimpl
def format_move(position: int, move: int) -> str:
    return f"{PIECES[move >> _CELL_BITS]}@{move & CELLS - 1}"


@hookimpl
def parse_move(position: int, text: str) -> int:
    """The move `A@5` or `A(1,1)`; ValueError says why it is none or not legal here."""
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
    return shape << _CELL_BITS | cell


_ZONES = tuple(tuple(map(str, cells_of(mask))) for mask in ZONES)


def _piece(number: int) -> Piece:
    return Piece(owner=number // SHAPES, label=PIECES[number], size=0.8, shape=_SHAPE_NAMES[number % SHAPES])


@hookimpl
def board(position: int) -> Board:
    """A tray for each colour and shape, named by its letter; cells are named by their numbers."""
    state = state_of(position)
    on_cell = {cell: number for number, word in enumerate(state.bb) for cell in cells_of(word)}
    cells = tuple(
        Cell(str(cell), cell // 4, cell % 4, (_piece(on_cell[cell]),) if cell in on_cell else (), label=str(cell))
        for cell in range(CELLS)
    )
    trays = tuple(
        Tray(PIECES[number], _piece(number), PIECES_OF_A_SHAPE - word.bit_count())
        for number, word in enumerate(state.bb)
    )
    clicks: list[Click] = []
    blocked: dict[str, dict[str, str]] = {}
    for shape in range(SHAPES):
        tray = PIECES[state.to_move * SHAPES + shape]
        blocked[tray] = {}
        for cell in range(CELLS):
            if reason := state.why_not(shape, cell):
                blocked[tray][str(cell)] = reason
            else:
                clicks.append(Click(shape << _CELL_BITS | cell, target=str(cell), source=tray))
    return Board(
        rows=4,
        columns=4,
        cells=cells,
        to_move=state.to_move,
        trays=trays,
        clicks=tuple(clicks),
        blocked=blocked,
        spelling=Spelling(tuple(map(_piece, range(2 * SHAPES)))),
        zones=_ZONES,
        highlight=_finished_lines(on_cell),
    )


def _finished_lines(on_cell: Mapping[int, int]) -> tuple[str, ...]:
    """The cells of the lines that hold all four shapes."""
    lines = (cells_of(mask) for _, mask in LINES)
    full = [line for line in lines if len({on_cell[cell] % SHAPES for cell in line if cell in on_cell}) == SHAPES]
    return tuple(sorted({str(cell) for line in full for cell in line}))


@hookimpl
def benchmarks() -> Iterator[tuple[str, float, str]]:
    from perfectplay_quantik import bench

    return bench.benchmarks()
