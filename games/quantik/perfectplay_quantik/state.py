"""A Quantik state: eight bitboards, with the rules and every portable format.

>>> state = State.from_qfen(".A../..b./.c../...D")
>>> state.canonical_key().hex()
'010200000000000108000004200000000000'
>>> State.start().play(0, 5).to_qfen()
'..../.A../..../....'
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.cbor import PAYLOAD_BYTES, Document, read_document, write_document
from perfectplay_quantik.rules import (
    CELLS,
    PIECES,
    PIECES_PER_SHAPE,
    SHAPES,
    StateError,
    cell_text,
    cells_of,
    check_bitboards,
    check_turn_order,
    finished_lines,
    piece_counts,
    scope_of,
)

VERSION = 1
CANONICAL = 2
"""The flag of `pack` for a canonical payload. All other flags are reserved."""

_EMPTY = "."
_WIDTH = 4
_WORDS = struct.Struct("<8H")
_KEY_HEADER = bytes((VERSION, CANONICAL))
_PACKED_BYTES = len(_KEY_HEADER) + PAYLOAD_BYTES


@dataclass(frozen=True, slots=True)
class State:
    """An immutable state, which any thread may use.

    `bb` is C0S0 C0S1 C0S2 C0S3 C1S0 C1S1 C1S2 C1S3, with bit i for cell i. The constructor checks that no two pieces
    share a cell, that no player has three of a shape, and that the colours take turns. In a state read from canonical
    bytes the colours may be swapped, with colour 1 one piece ahead; `colours_swapped` restores them.
    """

    bb: tuple[int, ...]

    def __post_init__(self) -> None:
        check_bitboards(self.bb)
        check_turn_order(self.bb, either_colour=True)

    @classmethod
    def start(cls) -> State:
        """Return the empty board."""
        return cls((0,) * len(PIECES))

    # ---- rules ----

    @property
    def piece_count(self) -> int:
        """The number of pieces on the board, which is the number of moves made."""
        return sum(piece_counts(self.bb))

    @property
    def to_move(self) -> int:
        """The colour to move: the one with fewer pieces, or colour 0 if both have the same number."""
        first, second = piece_counts(self.bb)
        return 1 if first > second else 0

    @property
    def occupied(self) -> int:
        """The occupied cells as a mask."""
        return sum(self.bb)

    def finished_lines(self) -> list[str]:
        """Return the names of the lines with all four shapes. If there are any, the player who moved last has won."""
        return [name for name, _ in finished_lines(self.bb)]

    def legal_cells(self, shape: int) -> int:
        """Return the cells where the mover may place `shape` (0 to 3) as a mask."""
        own, opposing = self._boards_of(shape)
        if own.bit_count() == PIECES_PER_SHAPE or finished_lines(self.bb):
            return 0
        return ~(self.occupied | scope_of(opposing)) & 0xFFFF

    def moves(self) -> list[tuple[int, int]]:
        """Return all legal moves as (shape, cell). Without any, the game is over or the mover is stuck and loses."""
        return [(shape, cell) for shape in range(SHAPES) for cell in cells_of(self.legal_cells(shape))]

    def why_not(self, shape: int, cell: int) -> str | None:
        """Return why the mover may not place `shape` on `cell`, or None if it is legal."""
        if lines := self.finished_lines():
            return f"the game is over: {lines[0]} holds all four shapes"
        own, opposing = self._boards_of(shape)
        for letter, word in zip(PIECES, self.bb, strict=True):
            if word >> cell & 1:
                return f"{cell_text(cell)} is taken by {letter}"
        if own.bit_count() == PIECES_PER_SHAPE:
            return f"both pieces {PIECES[self.to_move * SHAPES + shape]} are on the board"
        for other in cells_of(opposing):
            if scope_of(1 << other) >> cell & 1:
                letter = PIECES[(1 - self.to_move) * SHAPES + shape]
                return f"{cell_text(cell)} is in line with {letter} on cell {other}"
        return None

    def play(self, shape: int, cell: int) -> State:
        """Return the state after the mover places `shape` on `cell`. Raise ValueError if that is not legal."""
        if not 0 <= shape < SHAPES or not 0 <= cell < CELLS:
            raise ValueError(f"shape {shape}, cell {cell}: shapes are 0 to 3 and cells 0 to 15")
        if reason := self.why_not(shape, cell):
            raise ValueError(reason)
        bb = list(self.bb)
        bb[self.to_move * SHAPES + shape] |= 1 << cell
        return State(tuple(bb))

    def colours_swapped(self) -> State:
        """Return the board with the colours exchanged."""
        return State(self.bb[SHAPES:] + self.bb[:SHAPES])

    def _boards_of(self, shape: int) -> tuple[int, int]:
        boards = self.bb[shape], self.bb[shape + SHAPES]
        return boards if self.to_move == 0 else boards[::-1]

    # ---- bytes ----

    def payload(self) -> bytes:
        """Return the 16 bytes of the bitboards, each word with its low byte first."""
        return _WORDS.pack(*self.bb)

    def canonical_payload(self) -> bytes:
        """Return the smallest payload of the 384 images. It is not suitable for solving (docs/quantik.md)."""
        canonical = ffi.new("uint8_t[16]")
        lib.quantik_canonical_payload(_WORDS.pack(*self.bb), canonical)
        return bytes(canonical)

    def canonical_key(self) -> bytes:
        """Return the portable key, 18 bytes: version, canonical flag, canonical payload."""
        return _KEY_HEADER + self.canonical_payload()

    def pack(self, flags: int = 0) -> bytes:
        """Return 18 bytes: version, flags, payload. Raise StateError if the flags do not fit the state."""
        _check_flags(flags)
        self._check_claim(canonical=bool(flags & CANONICAL))
        return bytes((VERSION, flags)) + self.payload()

    @classmethod
    def unpack(cls, data: bytes) -> tuple[State, int]:
        """Return the state and the flags that `pack` wrote. Raise StateError if the bytes are not a packed state."""
        if len(data) != _PACKED_BYTES:
            raise StateError(f"{len(data)} bytes; a packed state has {_PACKED_BYTES}")
        if data[0] != VERSION:
            raise StateError(f"byte 0: version {data[0]}; this program reads version {VERSION}")
        flags = data[1]
        _check_flags(flags)
        state = cls(_WORDS.unpack(data[2:]))
        state._check_claim(canonical=bool(flags & CANONICAL))
        return state, flags

    def _check_claim(self, *, canonical: bool) -> None:
        if not canonical:
            check_turn_order(self.bb)
        elif self.payload() != self.canonical_payload():
            raise StateError(
                f"marked canonical, but payload {self.payload().hex()} is not; the canonical payload is "
                f"{self.canonical_payload().hex()}"
            )

    # ---- text and documents ----

    def to_qfen(self) -> str:
        """Return the QFEN: four ranks of `.ABCDabcd` joined by `/`."""
        return _write_qfen(self.bb)

    @classmethod
    def from_qfen(cls, text: str) -> State:
        """Return the state of a QFEN. Raise StateError if it has a fault."""
        state = cls(_read_qfen(text))
        check_turn_order(state.bb)
        return state

    def to_cbor(self, canon: bool = False, mc: int | None = None, meta: Mapping[str, Any] | None = None) -> bytes:
        """Return a CBOR document of this state, or of its canonical payload if `canon`. `mc` is the move count."""
        if not canon:
            check_turn_order(self.bb)
        self._check_move_count(mc)
        payload = self.canonical_payload() if canon else self.payload()
        return write_document(Document(payload, canon, mc, meta))

    @classmethod
    def from_cbor(cls, data: bytes) -> State:
        """Return the state of a CBOR document. Raise StateError if it has a fault."""
        document = read_document(data)
        state = cls(_WORDS.unpack(document.payload))
        state._check_claim(canonical=document.canonical)
        state._check_move_count(document.move_count)
        return state

    def _check_move_count(self, move_count: int | None) -> None:
        if move_count is not None and move_count != self.piece_count:
            raise StateError(f"move count {move_count}, but {self.piece_count} pieces are on the board")


def _check_flags(flags: int) -> None:
    if flags not in (0, CANONICAL):
        raise StateError(f"byte 1: flags {flags:#04x}; only bit 1 (canonical) may be set")


def _write_qfen(bb: Sequence[int]) -> str:
    """Return the QFEN of eight bitboards."""
    letters = [_EMPTY] * CELLS
    for letter, word in zip(PIECES, bb, strict=True):
        for cell in range(CELLS):
            if word >> cell & 1:
                letters[cell] = letter
    return "/".join("".join(letters[start : start + _WIDTH]) for start in range(0, CELLS, _WIDTH))


def _read_qfen(text: str) -> tuple[int, ...]:
    """Return the eight bitboards of a QFEN, which cannot overlap. Nothing else is checked."""
    ranks = text.split("/")
    if len(ranks) != _WIDTH:
        raise StateError(f"QFEN {text!r} has {len(ranks)} ranks; it must have 4, joined by '/'")
    bb = [0] * len(PIECES)
    for row, rank in enumerate(ranks):
        if len(rank) != _WIDTH:
            raise StateError(f"QFEN rank {row} is {rank!r}, {len(rank)} characters long; it must have 4")
        for column, letter in enumerate(rank):
            if letter == _EMPTY:
                continue
            piece = PIECES.find(letter)
            if piece < 0:
                raise StateError(f"QFEN rank {row}, column {column}: {letter!r} is not one of . A B C D a b c d")
            bb[piece] |= 1 << (row * _WIDTH + column)
    return tuple(bb)
