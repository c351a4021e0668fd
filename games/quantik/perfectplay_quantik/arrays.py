"""The functions of `State` for numpy arrays of shape (n, 8) and type uint16, with a row for each state.

Functions that read formats check every row as `State` does. Their StateError names the first row with a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perfectplay_quantik._kernel import ffi, lib
from perfectplay_quantik.cbor import PAYLOAD_BYTES, Document, write_document
from perfectplay_quantik.rules import CELLS, LINES, PIECES, PIECES_PER_SHAPE, SHAPES, StateError, scope_of
from perfectplay_quantik.state import CANONICAL, VERSION, State

Words = npt.NDArray[np.uint16]
Bytes = npt.NDArray[np.uint8]
_Format = TypeVar("_Format", str, bytes)

_HEADER_BYTES = 2
_QFEN_LETTERS = np.frombuffer(("." + PIECES).encode(), dtype=np.uint8)
_QFEN_SLASHES = (4, 9, 14)
_QFEN_CELLS = tuple(column for column in range(19) if column not in _QFEN_SLASHES)


def _union_table(values: Sequence[int]) -> Words:
    """Return, for each of the 65,536 masks, the union of the values of its cells."""
    table = np.zeros(1, dtype=np.uint16)
    for value in values:
        table = np.concatenate((table, table | np.uint16(value)))
    return table


_SCOPE = _union_table([scope_of(1 << cell) for cell in range(CELLS)])
_LINES_TOUCHED = _union_table(
    [sum(1 << i for i, (_, line) in enumerate(LINES) if line >> cell & 1) for cell in range(CELLS)]
)


def as_states(states: npt.ArrayLike) -> Words:
    """Return the array as contiguous (n, 8) uint16 with unchecked rows. Raise ValueError for other shapes and types."""
    array = np.asarray(states)
    if array.ndim != 2 or array.shape[1] != len(PIECES) or array.dtype != np.uint16:
        raise ValueError(f"states must be an array of (n, 8) uint16, not {array.shape} {array.dtype}")
    return np.ascontiguousarray(array)


def check_states(states: npt.ArrayLike) -> None:
    """Raise StateError for the first row that is not a state."""
    words = as_states(states)
    bad = _bad_rows(words, np.zeros(len(words), dtype=np.bool_))
    if bad.any():
        row = int(np.argmax(bad))
        _raise_for_row(row, lambda: State(tuple(int(word) for word in words[row])).pack())


def _bad_rows(words: Words, either_colour: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which rows are not states. Where `either_colour` is set, colour 1 may be one piece ahead."""
    counts = np.bitwise_count(words).astype(np.int16)
    ahead = counts[:, :SHAPES].sum(axis=1) - counts[:, SHAPES:].sum(axis=1)
    overlapping = counts.sum(axis=1) != np.bitwise_count(np.bitwise_or.reduce(words, axis=1))
    too_many = (counts > PIECES_PER_SHAPE).any(axis=1)
    return np.asarray(overlapping | too_many | (ahead > 1) | (ahead < np.where(either_colour, -1, 0)))


def _raise_for_row(row: int, decode: Callable[[], object]) -> None:
    """Raise the StateError of the scalar code for a row."""
    try:
        decode()
    except StateError as error:
        raise StateError(f"row {row}: {error}") from None


def canonical_payload(states: npt.ArrayLike) -> Words:
    """Return the canonical payloads as words; `.astype("<u2").tobytes()` gives the bytes. Rows are not checked."""
    words = as_states(states)
    canonical = np.empty_like(words)
    lib.quantik_canonical_words(_pointer(words), _pointer(canonical), len(words))
    return canonical


def canonical_key(states: npt.ArrayLike) -> Bytes:
    """Return the portable keys, (n, 18) bytes."""
    return _with_header(canonical_payload(states), CANONICAL)


def pack(states: npt.ArrayLike, flags: int = 0) -> Bytes:
    """Return (n, 18) bytes: version, flags, payload. Raise StateError if the flags do not fit a state."""
    words = as_states(states)
    packed = _with_header(words, flags)
    unpack(packed)
    return packed


def unpack(packed: npt.ArrayLike) -> tuple[Words, Bytes]:
    """Return the states and the flags of (n, 18) bytes. Raise StateError for the first row with a fault."""
    data = np.asarray(packed)
    if data.ndim != 2 or data.shape[1] != _HEADER_BYTES + 2 * len(PIECES) or data.dtype != np.uint8:
        raise ValueError(f"packed states must be an array of (n, 18) uint8, not {data.shape} {data.dtype}")
    words = np.ascontiguousarray(data[:, _HEADER_BYTES:]).view("<u2").astype(np.uint16)
    flags = data[:, 1].copy()
    marked = flags == CANONICAL
    bad = (data[:, 0] != VERSION) | (~marked & (flags != 0)) | _bad_rows(words, marked)
    bad[marked] |= (canonical_payload(words[marked]) != words[marked]).any(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        _raise_for_row(row, lambda: State.unpack(data[row].tobytes()))
    return words, flags


def to_qfen(states: npt.ArrayLike) -> npt.NDArray[np.bytes_]:
    """Return the QFENs as an array of 19-byte strings."""
    words = as_states(states)
    pieces = np.zeros((len(words), CELLS), dtype=np.uint8)
    for piece in range(len(PIECES)):
        for cell in range(CELLS):
            pieces[:, cell] += (words[:, piece] >> cell & 1).astype(np.uint8) * np.uint8(piece + 1)
    text = np.full((len(words), 19), ord("/"), dtype=np.uint8)
    text[:, _QFEN_CELLS] = _QFEN_LETTERS[pieces]
    return text.view("S19").reshape(len(words))


def from_qfen(texts: npt.ArrayLike) -> Words:
    """Return the states of QFENs (strings or bytes). Raise StateError for the first row with a fault."""
    rows = [
        text.decode("ascii", "replace") if isinstance(text, bytes) else str(text)
        for text in np.asarray(texts).ravel().tolist()
    ]
    return _decode_rows(rows, State.from_qfen)


def to_cbor(states: npt.ArrayLike, canon: bool = False) -> Bytes:
    """Return the CBOR documents, which all have the same length, with canonical payloads if `canon`."""
    words = as_states(states)
    check_states(words)
    payload = canonical_payload(words) if canon else words
    prefix = write_document(Document(bytes(PAYLOAD_BYTES), canon))[:-PAYLOAD_BYTES]
    documents = np.empty((len(words), len(prefix) + PAYLOAD_BYTES), dtype=np.uint8)
    documents[:, : len(prefix)] = np.frombuffer(prefix, dtype=np.uint8)
    documents[:, len(prefix) :] = payload.astype("<u2").view(np.uint8)
    return documents


def from_cbor(documents: Iterable[bytes | Bytes]) -> Words:
    """Return the states of CBOR documents. Raise StateError for the first with a fault."""
    return _decode_rows([bytes(document) for document in documents], State.from_cbor)


def _decode_rows(rows: Sequence[_Format], decode: Callable[[_Format], State]) -> Words:
    states = np.zeros((len(rows), len(PIECES)), dtype=np.uint16)
    for row, data in enumerate(rows):
        try:
            states[row] = decode(data).bb
        except StateError as error:
            raise StateError(f"row {row}: {error}") from None
    return states


def to_move(states: npt.ArrayLike) -> Bytes:
    """Return the colour to move in each state."""
    counts = np.bitwise_count(as_states(states)).astype(np.int16)
    return np.asarray(counts[:, :SHAPES].sum(axis=1) > counts[:, SHAPES:].sum(axis=1), dtype=np.uint8)


def finished(states: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Return which states have a line with all four shapes."""
    words = as_states(states)
    touched = _LINES_TOUCHED[words[:, :SHAPES] | words[:, SHAPES:]]
    return np.asarray(np.bitwise_and.reduce(touched, axis=1) != 0)


def legal_cells(states: npt.ArrayLike) -> Words:
    """Return (n, 4) masks of the cells where the mover may place each shape."""
    words = as_states(states)
    second = to_move(words)[:, None] == 1
    own = np.where(second, words[:, SHAPES:], words[:, :SHAPES])
    opposing = np.where(second, words[:, :SHAPES], words[:, SHAPES:])
    occupied = np.bitwise_or.reduce(words, axis=1)[:, None]
    legal: Words = ~(occupied | _SCOPE[opposing])
    legal[(np.bitwise_count(own) >= PIECES_PER_SHAPE) | finished(words)[:, None]] = 0
    return legal


def _with_header(words: Words, flags: int) -> Bytes:
    packed = np.empty((len(words), _HEADER_BYTES + 2 * len(PIECES)), dtype=np.uint8)
    packed[:, 0] = VERSION
    packed[:, 1] = flags
    packed[:, _HEADER_BYTES:] = words.astype("<u2").view(np.uint8)
    return packed


def _pointer(words: Words) -> Any:
    return ffi.from_buffer("uint16_t[]", words)
