"""The self-describing CBOR document of a state: a map with the keys v, canon, bb and the optional keys mc and meta.

This module handles the document only. `State` checks the payload.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from perfectplay.errors import needs_extra
from perfectplay_quantik.rules import StateError

VERSION = 1
REQUIRED = ("v", "canon", "bb")
KEYS = (*REQUIRED, "mc", "meta")
PAYLOAD_BYTES = 16
_DEFINITE_MAP = 0xA0


@dataclass(frozen=True, slots=True)
class Document:
    """The content of a document: the payload, whether it is canonical, the number of moves, and metadata."""

    payload: bytes
    canonical: bool = False
    move_count: int | None = None
    meta: Mapping[str, Any] | None = field(default=None)


def write_document(document: Document) -> bytes:
    """Return the CBOR of a document with its keys in the fixed order."""
    fields: dict[str, Any] = {"v": VERSION, "canon": document.canonical, "bb": document.payload}
    if document.move_count is not None:
        fields["mc"] = document.move_count
    if document.meta is not None:
        fields["meta"] = dict(document.meta)
    with needs_extra("cbor", "a CBOR document"):
        import cbor2
    return cbor2.dumps(fields)


def read_document(data: bytes) -> Document:
    """Return the document in `data`. Raise StateError if it is malformed or a field has the wrong type."""
    fields = _read_map(data)
    unknown = [key for key in fields if key not in KEYS]
    if unknown:
        raise StateError(f"CBOR: unknown key {unknown[0]!r}; the keys are {', '.join(KEYS)}")
    missing = [key for key in REQUIRED if key not in fields]
    if missing:
        raise StateError(f"CBOR: the key {missing[0]!r} is missing")
    if list(fields) != [key for key in KEYS if key in fields]:
        raise StateError(f"CBOR: the keys are in the order {', '.join(fields)}; it must be {', '.join(KEYS)}")
    version, canonical, payload = fields["v"], fields["canon"], fields["bb"]
    if type(version) is not int or version != VERSION:
        raise StateError(f"CBOR key v: version {version!r}; this program reads version {VERSION}")
    if type(canonical) is not bool:
        raise StateError(f"CBOR key canon: {canonical!r} is neither true nor false")
    if type(payload) is not bytes or len(payload) != PAYLOAD_BYTES:
        size = f"{len(payload)} bytes" if type(payload) is bytes else f"a {type(payload).__name__}"
        raise StateError(f"CBOR key bb: {size}; it must be a string of {PAYLOAD_BYTES} bytes")
    move_count, meta = fields.get("mc"), fields.get("meta")
    if "mc" in fields and (type(move_count) is not int or move_count < 0):
        raise StateError(f"CBOR key mc: {move_count!r} is not a count of moves")
    if "meta" in fields and not isinstance(meta, dict):
        raise StateError(f"CBOR key meta: a {type(meta).__name__}; it must be a map")
    return Document(payload, canonical, move_count, meta)


def _read_map(data: bytes) -> dict[Any, Any]:
    if not data:
        raise StateError("CBOR: the document is empty")
    if not _DEFINITE_MAP + len(REQUIRED) <= data[0] <= _DEFINITE_MAP + len(KEYS):
        raise StateError(f"CBOR byte 0: 0x{data[0]:02x} does not begin a map of 3 to 5 keys")
    fields = _decode(data)
    if len(fields) != data[0] - _DEFINITE_MAP:
        raise StateError("CBOR: a key occurs twice")
    # No CBOR item is a prefix of another, so data that can lose its last byte has bytes after its end.
    try:
        _decode(data[:-1])
    except StateError:
        return fields
    raise StateError(f"CBOR: bytes after the end of the document ({len(data)} bytes in total)")


def _decode(data: bytes) -> dict[Any, Any]:
    with needs_extra("cbor", "a CBOR document"):
        import cbor2
    try:
        fields = cbor2.loads(data)
    except Exception as error:  # each tag (dates, patterns, numbers) raises different errors
        raise StateError(f"CBOR: {error}") from error
    if not isinstance(fields, dict):
        raise StateError(f"CBOR: a {type(fields).__name__}; it must be a map")
    return fields
