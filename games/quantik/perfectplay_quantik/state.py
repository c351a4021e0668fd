"""A Quantik state: eight bitboards, with the rules and every portable format.

>>> state = State.from_qfen(".A../..b./.c../...D")
>>> state.canonical_key().hex()
'010200000000000108000004200000000000'
>>> State.start().play(0, 5).to_qfen()
'..../.A../..../....'
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.cbor import PAYLOAD_BYTES, Document, read_document, write_document
from perfectplay_quantik.checks import (
    PIECES,
    StateError,
    check_bitboards,
    check_turn_order,
    finished_lines,
    piece_counts,
)
from perfectplay_quantik.geometry import CELLS, PIECES_OF_A_SHAPE, SHAPES, cells_of, place, scope_of
from perfectplay_quantik.qfen import read_qfen, write_qfen

VERSION = 1
CANONICAL = 2
"""The flag of `pack` that says: this payload is canonical. All other flags are reserved."""

_WORDS = struct.Struct("<8H")
_KEY_HEADER = bytes((VERSION, CANONICAL))
_PACKED_BYTES = len(_KEY_HEADER) + PAYLOAD_BYTES


@dataclass(frozen=True, slots=True)
class State:
    """Immutable, so any thread may use it.

    `bb` is C0S0 C0S1 C0S2 C0S3 C1S0 C1S1 C1S2 C1S3, bit i of each for cell i. Making a State checks that no
    two pieces share a cell, that nobody has three of a shape, and that the colours take turns. A state read
    from canonical bytes may have its colours swapped, colour 1 a piece ahead: `colours_swapped` mends that.
    """

    bb: tuple[int, ...]

    def __post_init__(self) -> None:
        check_bitboards(self.bb)
        check_turn_order(self.bb, either_colour=True)

    @classmethod
    def start(cls) -> State:
        """The empty board."""
        return cls((0,) * len(PIECES))

    # ---- rules ----

    @property
    def piece_count(self) -> int:
        """How many pieces are on the board, which is how many moves were made."""
        return sum(piece_counts(self.bb))

    @property
    def to_move(self) -> int:
        """The colour whose turn it is: the one with fewer pieces, colour 0 if they have as many."""
        first, second = piece_counts(self.bb)
        return 1 if first > second else 0

    @property
    def occupied(self) -> int:
        """All taken cells, as a mask."""
        return sum(self.bb)

    def finished_lines(self) -> list[str]:
        """The names of the lines that hold all four shapes. If any, the player who moved last has won."""
        return [name for name, _ in finished_lines(self.bb)]

    def legal_cells(self, shape: int) -> int:
        """Where the mover may put a piece of `shape` (0 to 3), as a mask."""
        own, opposing = self._boards_of(shape)
        if own.bit_count() == PIECES_OF_A_SHAPE or finished_lines(self.bb):
            return 0
        return ~(self.occupied | scope_of(opposing)) & 0xFFFF

    def moves(self) -> list[tuple[int, int]]:
        """All legal moves as (shape, cell). None: the game is over, or the mover is stuck and loses."""
        return [(shape, cell) for shape in range(SHAPES) for cell in cells_of(self.legal_cells(shape))]

    def why_not(self, shape: int, cell: int) -> str | None:
        """Why the mover may not put `shape` on `cell`, in a few words; None if it may."""
        if lines := self.finished_lines():
            return f"the game is over: {lines[0]} holds all four shapes"
        own, opposing = self._boards_of(shape)
        for letter, word in zip(PIECES, self.bb, strict=True):
            if word >> cell & 1:
                return f"{place(cell)} is taken by {letter}"
        if own.bit_count() == PIECES_OF_A_SHAPE:
            return f"both pieces {PIECES[self.to_move * SHAPES + shape]} are on the board"
        for other in cells_of(opposing):
            if scope_of(1 << other) >> cell & 1:
                letter = PIECES[(1 - self.to_move) * SHAPES + shape]
                return f"{place(cell)} is in line with {letter} on cell {other}"
        return None

    def play(self, shape: int, cell: int) -> State:
        """The state after the mover has put `shape` on `cell`; ValueError says why it may not."""
        if not 0 <= shape < SHAPES or not 0 <= cell < CELLS:
            raise ValueError(f"shape {shape}, cell {cell}: shapes are 0 to 3 and cells 0 to 15")
        if reason := self.why_not(shape, cell):
            raise ValueError(reason)
        bb = list(self.bb)
        bb[self.to_move * SHAPES + shape] |= 1 << cell
        return State(tuple(bb))

    def colours_swapped(self) -> State:
        """The same board with the colours exchanged."""
        return State(self.bb[SHAPES:] + self.bb[:SHAPES])

    def _boards_of(self, shape: int) -> tuple[int, int]:
        boards = self.bb[shape], self.bb[shape + SHAPES]
        return boards if self.to_move == 0 else boards[::-1]

    # ---- bytes ----

    def payload(self) -> bytes:
        """The 16 bytes of the bitboards, each word with its low byte first."""
        return _WORDS.pack(*self.bb)

    def canonical_payload(self) -> bytes:
        """The smallest payload of the 384 images, the same for all. Not for solving (docs/quantik.md)."""
        canonical = ffi.new("uint8_t[16]")
        lib.quantik_canonical_payload(_WORDS.pack(*self.bb), canonical)
        return bytes(canonical)

    def canonical_key(self) -> bytes:
        """The portable key, 18 bytes: version, canonical flag, canonical payload."""
        return _KEY_HEADER + self.canonical_payload()

    def pack(self, flags: int = 0) -> bytes:
        """18 bytes: version, flags, payload. ValueError if the flags do not fit the state."""
        _check_flags(flags)
        self._check_claim(canonical=bool(flags & CANONICAL))
        return bytes((VERSION, flags)) + self.payload()

    @classmethod
    def unpack(cls, data: bytes) -> tuple[State, int]:
        """The state and the flags that `pack` wrote; StateError if the bytes are not one."""
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
                f"marked canonical, but payload {self.payload().hex()} is not: that would be "
                f"{self.canonical_payload().hex()}"
            )

    # ---- text and documents ----

    def to_qfen(self) -> str:
        """Four ranks of `.ABCDabcd` joined by `/`."""
        return write_qfen(self.bb)

    @classmethod
    def from_qfen(cls, text: str) -> State:
        """The state of a QFEN; StateError says what is wrong and where."""
        state = cls(read_qfen(text))
        check_turn_order(state.bb)
        return state

    def to_cbor(self, canon: bool = False, mc: int | None = None, meta: Mapping[str, Any] | None = None) -> bytes:
        """A CBOR document of this state, or (`canon`) of its canonical payload; `mc` counts the moves."""
        if not canon:
            check_turn_order(self.bb)
        self._check_move_count(mc)
        payload = self.canonical_payload() if canon else self.payload()
        return write_document(Document(payload, canon, mc, meta))

    @classmethod
    def from_cbor(cls, data: bytes) -> State:
        """The state of a CBOR document; StateError if there is anything wrong with it."""
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
