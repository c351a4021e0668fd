"""How a table is laid out in an LMDB file, and how its records are protected.

Under these keys (numbers are 4 bytes, big-endian):

    meta                   TableInfo, as JSON
    K tier                 KeyRecord of a tier's sorted keys (enumerated games only), as JSON
    k tier block           the keys themselves, 2**20 a block, 8 bytes each, little-endian
    T tier                 TierRecord of a tier's values, as JSON
    t tier block           the values, 2**20 a block, 1, 2 or (with scores) 4 bytes each; outcomes alone 2 bits each

A compact table has frames instead of blocks: compact.py says how.

`meta` and what has a capital letter is a record. Before its text stand 8 bytes, the checksum of its key and its text,
so that neither a changed bit nor a record in another's place goes unnoticed. The metadata of a finished table has a
checksum of all other records. Checksums are XXH3 of 64 bits, little-endian.

A tier counts once its record is there, and the record is written in the transaction of its last block: whatever moment
a process dies at, a tier is whole or absent.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

import xxhash

from perfectplay.tables.records import checksum

META = b"meta"
RECORD_KINDS = (b"C", b"D", b"K", b"T")
"""In the order of their keys."""

RECORDS_CHECKSUM = "records"
"""Where the metadata has the checksum of all other records."""


def number_key(kind: bytes, *numbers: int) -> bytes:
    return kind + struct.pack(f">{len(numbers)}I", *numbers)


def enveloped(key: bytes, payload: bytes) -> bytes:
    """A record as it is stored."""
    return checksum(key + payload).to_bytes(8, "little") + payload


def opened(key: bytes, stored: memoryview) -> bytes:
    """The text of a record; ValueError where it is not what was stored under this key."""
    data = bytes(stored)
    if len(data) < 8 or checksum(key + data[8:]) != int.from_bytes(data[:8], "little"):
        raise ValueError("it has a wrong checksum")
    return data[8:]


def records_checksum(entries: Iterable[tuple[bytes, memoryview]]) -> str:
    """The checksum of all records but the metadata; the entries come in the order of their keys."""
    digest = xxhash.xxh3_64()
    for key, stored in entries:
        if key[:1] in RECORD_KINDS:
            digest.update(key)
            digest.update(stored)
    return digest.hexdigest()
