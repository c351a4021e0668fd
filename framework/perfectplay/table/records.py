"""Metadata of a table: the records of its tiers, the statistics derived from them, and their stored form.

Keys in the LMDB file (numbers are 4 bytes, big-endian):

    meta                   TableInfo, as JSON
    K tier                 KeyRecord of a tier's sorted keys (enumerated games only), as JSON
    k tier block           the keys, 2**20 per block, 8 bytes each, little-endian
    T tier                 TierRecord of a tier's values, as JSON
    t tier block           the values, 2**20 per block, of 1, 2 or (with scores) 4 bytes; outcomes alone take 2 bits

A compact table has frames instead of blocks; see compact.py.

`meta` and the keys with a capital letter are records. A record is stored as an 8-byte checksum of its key and text,
followed by the text, so a changed bit and a record under the wrong key are both detected. The metadata of a finished
table contains a checksum of all other records. Checksums are 64-bit XXH3, little-endian.

A tier is finished when its record exists. The record is written after the tier's last block, at the earliest in the
same transaction, so after a crash every tier is complete or absent.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from perfectplay.game.wording import html_table
from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.limits import BLOCK_SLOTS, MAX_TIER, MAX_TIER_SIZE
from perfectplay_native.values import count_codes, count_outcomes, stored_bytes

FORMAT = 2
"""Version of the table format (docs/tables.md). Tables of other formats are refused."""

FULL, OUTCOME = VALUES = ("full", "outcome")
"""Contents of a table: outcome and remoteness (and score) of each position, or the outcome alone."""

META = b"meta"
RECORD_KINDS = (b"C", b"D", b"K", b"T")
"""In the order of their keys."""

RECORDS_CHECKSUM = "records"
"""The entry of `TableInfo.storage` with the checksum of all other records."""


# ---- blocks and keys ----


def blocks_of(array: npt.NDArray[Any], *, length: int = BLOCK_SLOTS) -> list[npt.NDArray[Any]]:
    """Split an array of keys or values into blocks. For values of any width, see `TierRecord.blocks`."""
    return [array[first : first + length] for first in range(0, len(array), length)]


def block_lengths(size: int) -> list[int]:
    """Return the number of slots in each block of a tier of `size` slots."""
    return [min(BLOCK_SLOTS, size - first) for first in range(0, size, BLOCK_SLOTS)]


def checksum(block: Any) -> int:
    """Return the checksum that is stored for a block."""
    return xxhash.xxh3_64_intdigest(block)


def number_key(kind: bytes, *numbers: int) -> bytes:
    """Return the LMDB key of a record, block or frame sequence."""
    return kind + struct.pack(f">{len(numbers)}I", *numbers)


def seal(key: bytes, text: bytes) -> bytes:
    """Return a record in its stored form: checksum and text."""
    return checksum(key + text).to_bytes(8, "little") + text


def unseal(key: bytes, stored: memoryview) -> bytes:
    """Return the text of a stored record. Raises ValueError if the checksum does not match the key and the text."""
    data = bytes(stored)
    if len(data) < 8 or checksum(key + data[8:]) != int.from_bytes(data[:8], "little"):
        raise ValueError("wrong checksum")
    return data[8:]


# ---- records ----


def _require(valid: bool) -> None:
    """Raise ValueError for impossible contents: with a correct checksum, perfectplay did not write the record."""
    if not valid:
        raise ValueError("impossible contents")


def _is_count(value: object, limit: int) -> bool:
    return type(value) is int and 0 <= value <= limit


def _check_common(tier: object, size: object, checksums: object) -> None:
    _require(_is_count(tier, MAX_TIER) and _is_count(size, MAX_TIER_SIZE) and isinstance(checksums, list))
    assert isinstance(size, int)
    assert isinstance(checksums, list)
    _require(len(checksums) == -(-size // BLOCK_SLOTS) and all(_is_count(each, 2**64 - 1) for each in checksums))


def _json(record: TierRecord | KeyRecord) -> bytes:
    """Write all fields. `asdict` would first copy every number."""
    return json.dumps({each.name: getattr(record, each.name) for each in fields(record)}).encode()


@dataclass(frozen=True, slots=True)
class TierRecord:
    """The values of a finished tier."""

    tier: int
    size: int
    width: int
    """Bytes per value; 0 if four outcomes share a byte."""
    counts: dict[int, int]
    """The number of slots with each value code."""
    checksums: list[int]
    """One for each block of values."""

    @classmethod
    def of(cls, tier: int, values: npt.NDArray[Any]) -> TierRecord:
        """Return the record of full values."""
        checksums = [checksum(block) for block in blocks_of(values)]
        return cls(tier, len(values), values.dtype.itemsize, count_codes(values), checksums)

    @classmethod
    def of_outcomes(cls, tier: int, packed: npt.NDArray[np.uint8], size: int) -> TierRecord:
        """Return the record of `size` outcomes of 2 bits each."""
        blocks = blocks_of(packed, length=stored_bytes(BLOCK_SLOTS, 0))
        return cls(tier, size, 0, count_outcomes(packed, size), [checksum(block) for block in blocks])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the arrays that store the values."""
        return np.dtype(f"<u{self.width or 1}")

    def blocks(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Split an array of `dtype` into blocks."""
        return blocks_of(values, length=BLOCK_SLOTS if self.width else stored_bytes(BLOCK_SLOTS, 0))

    def to_json(self) -> bytes:
        return _json(self)

    @classmethod
    def from_json(cls, text: bytes) -> TierRecord:
        data = json.loads(text)
        _check_common(data["tier"], data["size"], data["checksums"])
        counts = {int(code): count for code, count in data["counts"].items()}
        _require(all(_is_count(c, 2**32 - 1) and _is_count(n, MAX_TIER_SIZE) for c, n in counts.items()))
        _require(data["width"] in (0, 1, 2, 4) and sum(counts.values()) == data["size"])
        return cls(**{**data, "counts": counts})


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """The sorted keys of a tier, in a game that the engine enumerates."""

    tier: int
    size: int
    cyclic: bool
    """Whether some move stays in the tier."""
    children: list[int]
    """The other tiers that moves lead to."""
    checksums: list[int]
    """One for each block of keys."""

    def to_json(self) -> bytes:
        return _json(self)

    @classmethod
    def from_json(cls, text: bytes) -> KeyRecord:
        data = json.loads(text)
        _check_common(data["tier"], data["size"], data["checksums"])
        _require(isinstance(data["cyclic"], bool) and isinstance(data["children"], list))
        _require(all(_is_count(child, MAX_TIER) for child in data["children"]))
        return cls(**data)


@dataclass(frozen=True, slots=True)
class TableInfo:
    """The metadata of a table."""

    game: str
    options: dict[str, Any]
    rules_version: int
    host_version: str
    indexing: str
    """`ranked` by the game's perfect index, or `enumerated` by the engine."""
    status: str = "solving"
    """`enumerating`, `solving`, or `complete`."""
    values: str = FULL
    """One of VALUES."""
    hash: str | None = None
    format: int = FORMAT
    storage: dict[str, Any] = field(default_factory=dict)
    """Details of the backend: for LMDB its version and data format, and whether the table is compact."""

    @property
    def outcomes(self) -> bool:
        """Whether the table contains outcomes only."""
        return self.values == OUTCOME

    @property
    def compact(self) -> bool:
        """Whether `solve compact` wrote the table."""
        return bool(self.storage.get("compact"))

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> TableInfo:
        info = cls(**json.loads(text))
        if info.format == FORMAT:  # other formats may have other fields
            _require(info.indexing in ("ranked", "enumerated") and info.values in VALUES)
            _require(info.status in ("enumerating", "solving", "complete"))
            _require(isinstance(info.game, str) and isinstance(info.host_version, str))
            _require(isinstance(info.rules_version, int) and isinstance(info.hash, str | None))
            _require(isinstance(info.options, dict) and isinstance(info.storage, dict))
        return info


def table_hash(records: Iterable[TierRecord], keys: Iterable[KeyRecord]) -> str:
    """Return the hash of a whole table. Tables with equal keys and values have equal hashes."""
    digest = xxhash.xxh3_64()
    for key in sorted(keys, key=lambda k: k.tier):
        digest.update(np.array([key.tier, key.size, *key.checksums], dtype="<u8").tobytes())
    for record in sorted(records, key=lambda r: r.tier):
        digest.update(np.array([record.tier, record.size, record.width, *record.checksums], dtype="<u8").tobytes())
    return digest.hexdigest()


def records_checksum(entries: Iterable[tuple[bytes, memoryview]]) -> str:
    """Return the checksum of all records except the metadata. Entries must be in the order of their keys."""
    digest = xxhash.xxh3_64()
    for key, stored in entries:
        if key[:1] in RECORD_KINDS:
            digest.update(key)
            digest.update(stored)
    return digest.hexdigest()


# ---- statistics ----


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all positions of a table, with values for the side to move."""

    positions: int
    wins: int
    losses: int
    draws: int
    """All draws: endless draws and ties, or draws of either kind in a table of outcomes."""
    endless_draws: int
    """Draws in which neither side can force an end; 0 in a table of outcomes."""
    ties: int
    """Draws that end by the rules; 0 in a table of outcomes."""
    longest_win: int | None
    longest_loss: int | None
    by_code: dict[int, int]

    def html(self, caption: str) -> str:
        """Return a table of the counts for a notebook."""
        kinds = {"won": self.wins, "lost": self.losses, "drawn": self.draws, "all": self.positions}
        return html_table(("positions", "count"), kinds.items(), caption=caption)

    @classmethod
    def of(cls, counts: Iterable[Mapping[int, int]]) -> Statistics:
        """Return the statistics of several tiers from the number of slots with each code."""
        total: dict[int, int] = {}
        for tier_counts in counts:
            for code, count in tier_counts.items():
                total[code] = total.get(code, 0) + count
        total.pop(NO_POSITION_CODE, None)
        values = {code: Value.from_code(code) for code in total}

        def count_values(matches: Callable[[Value], bool]) -> int:
            return sum(total[code] for code, value in values.items() if matches(value))

        def longest(outcome: Outcome) -> int | None:
            plies = (v.remoteness for v in values.values() if v.outcome is outcome and v.remoteness is not None)
            return max(plies, default=None)

        return cls(
            positions=sum(total.values()),
            wins=count_values(lambda value: value.outcome is Outcome.WIN),
            losses=count_values(lambda value: value.outcome is Outcome.LOSS),
            draws=count_values(lambda value: value.outcome is Outcome.DRAW),
            endless_draws=count_values(lambda value: value.endless),
            ties=count_values(lambda value: value.outcome is Outcome.DRAW and value.remoteness is not None),
            longest_win=longest(Outcome.WIN),
            longest_loss=longest(Outcome.LOSS),
            by_code=dict(sorted(total.items())),
        )


COUNTED = ("wins", "losses", "endless_draws", "ties", "draws")
"""The kinds of positions that `json_counts` returns, in display order."""


def json_counts(counts: Statistics, *, outcomes_only: bool) -> dict[str, int | None]:
    """Return the counts for JSON output. A table of outcomes has `draws`, but null `endless_draws` and `ties`."""
    return {
        "positions": counts.positions,
        "wins": counts.wins,
        "losses": counts.losses,
        "endless_draws": None if outcomes_only else counts.endless_draws,
        "ties": None if outcomes_only else counts.ties,
        **({"draws": counts.draws} if outcomes_only else {}),
    }
