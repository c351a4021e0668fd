"""GBL2, a file format for outcomes: all canonical positions with their winners, sorted, with a checksum.

    offset  size   contents (all little-endian)
    0       4      "GBL2"
    4       4      version, 1
    8       8      number of entries
    16      8      xxhash64 (seed 0) of all entries
    24      8      zero
    32      9 × n  entries: canonical position (8), outcome (1: +1 the first player wins, 0 draw, −1 the second wins)

Entries are strictly ascending by position. Files are written and read in parts, so they need not fit in memory.

A proof file (prove/) has version 2. It also contains a description and other data of its writer:

    16      8      xxhash64 (seed 0) of the file from offset 24
    24      4      length of the description
    28      4      zero
    32      …      description (JSON), then the entries, then other data
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import xxhash

from perfectplay.errors import PerfectPlayError
from perfectplay.files import atomic_write, require_regular

MAGIC = b"GBL2"
VERSION = 1
VERSIONS = (1, 2)
ENTRY = np.dtype([("position", "<u8"), ("outcome", "i1")])
"""One entry, 9 bytes without padding."""

CHUNK = 1 << 18
"""Number of entries that are read at once."""

_HEADER = struct.Struct("<4sIQQ8x")

Entries = npt.NDArray[Any]
"""An array of dtype ENTRY."""


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a file."""

    count: int
    checksum: int
    version: int = VERSION
    about: bytes = b""
    """The description, in version 2."""
    more: int = 0
    """The number of bytes after the entries, in version 2."""

    @property
    def first_entry(self) -> int:
        return _HEADER.size + len(self.about)


def entries(positions: npt.ArrayLike, outcomes: npt.ArrayLike) -> Entries:
    """Return positions with their outcomes for the first player as an array for `write_gbl2`.

    >>> entries([0, 5], [1, -1]).tolist()
    [(0, 1), (5, -1)]
    """
    columns = np.asarray(positions, dtype="<u8"), np.asarray(outcomes, dtype="i1")
    array = np.empty(columns[0].shape, dtype=ENTRY)
    array["position"], array["outcome"] = columns
    return array


def write_gbl2(path: Path, parts: Iterable[Entries]) -> Header:
    """Write a file atomically, from parts in strictly ascending order of position, and return its header.

    Raises ValueError if the order is wrong.
    """
    with atomic_write(path) as part, part.open("wb") as file:
        return write_parts(file, parts)


def write_parts(file: BinaryIO, parts: Iterable[Entries]) -> Header:
    """Write parts like `write_gbl2` to an open, seekable file."""
    count, digest, last = 0, xxhash.xxh64(seed=0), None
    file.write(bytes(_HEADER.size))
    for part in parts:
        if not len(part):
            continue
        if (wrong := _first_disorder(part, last)) is not None:
            raise ValueError(f"GBL2 entries must be sorted by position, but position {wrong} is out of order")
        last = int(part["position"][-1])
        data = np.ascontiguousarray(part, dtype=ENTRY).data.cast("B")
        digest.update(data)
        file.write(data)
        count += len(part)
    header = Header(count, digest.intdigest())
    file.seek(0)
    file.write(_HEADER.pack(MAGIC, VERSION, header.count, header.checksum))
    file.seek(0, 2)
    return header


def write_version_2(file: BinaryIO, about: bytes, part: Entries, more: bytes) -> None:
    """Write a complete file of version 2."""
    body = [struct.pack("<II", len(about), 0), about, np.ascontiguousarray(part, dtype=ENTRY).tobytes(), more]
    digest = xxhash.xxh64(b"".join(body), seed=0).intdigest()
    file.write(struct.pack("<4sIQQ", MAGIC, 2, len(part), digest))
    for piece in body:
        file.write(piece)


def read_header(path: Path) -> Header:
    """Read the header of a file. Raises PerfectPlayError if it is not a GBL2 file, or if its length is wrong."""
    require_regular(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(_HEADER.size)
        if len(start) < _HEADER.size or start[:4] != MAGIC:
            raise PerfectPlayError(f"{path} is not a GBL2 file: it does not begin with a GBL2 header")
        _, version, count, checksum = _HEADER.unpack(start)
        if version not in VERSIONS:
            raise PerfectPlayError(f"{path} has GBL2 version {version}; only versions 1 and 2 can be read")
        length = int.from_bytes(start[24:28], "little") if version == 2 else 0
        about = file.read(min(length, size))
    expected = _HEADER.size + length + ENTRY.itemsize * count
    if size < expected or (version == 1 and size > expected):
        raise PerfectPlayError(f"{path} is damaged: its {count:,} entries need {expected:,} bytes, but it has {size:,}")
    return Header(count, checksum, version, about, size - expected)


def read_gbl2(path: Path, chunk: int = CHUNK) -> Iterator[Entries]:
    """Yield the entries in order, `chunk` at a time.

    Raises PerfectPlayError if the order or an outcome is wrong, and after the last entry if the checksum is wrong, so
    do not trust the entries before the end.
    """
    header = read_header(path)
    digest, last, left = xxhash.xxh64(seed=0), None, header.count
    with path.open("rb") as file:
        if header.version == 2:
            file.seek(24)
            digest.update(file.read(header.first_entry - 24))
        file.seek(header.first_entry)
        while left and len(part := np.fromfile(file, dtype=ENTRY, count=min(chunk, left))):
            if (wrong := _first_disorder(part, last)) is not None:
                raise PerfectPlayError(f"{path} is damaged: position {wrong} is out of order")
            if len(invalid := part[np.abs(part["outcome"]) > 1]):
                raise PerfectPlayError(f"{path} is damaged: position {invalid['position'][0]} has no outcome")
            last = int(part["position"][-1])
            left -= len(part)
            digest.update(part.data.cast("B"))
            yield part
        digest.update(file.read(header.more))
    if left or digest.intdigest() != header.checksum:
        raise PerfectPlayError(f"{path} is damaged: its checksum is wrong")


def _first_disorder(part: Entries, last: int | None) -> int | None:
    """Return the first position that is not above its predecessor; `last` precedes the part."""
    positions = part["position"]
    if last is not None and int(positions[0]) <= last:
        return int(positions[0])
    wrong = np.flatnonzero(positions[1:] <= positions[:-1])
    return int(positions[wrong[0] + 1]) if len(wrong) else None
