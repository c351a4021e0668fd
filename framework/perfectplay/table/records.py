"""What is written down about a table and about each of its tiers, beside the values themselves."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.values import count_codes, count_outcomes, stored_bytes

FORMAT = 2
"""Version of the table format (docs/tables.md). A table of another format is refused."""


FULL, OUTCOME = VALUES = ("full", "outcome")
"""What a table keeps of each position: outcome and remoteness (and score), or the outcome alone."""

MAX_TIERS = 1 << 23
MAX_TIER_SIZE = 1 << 40
"""A slot is a tier and an index in 64 bits."""


def blocks_of(array: npt.NDArray[Any], *, each: int = BLOCK_SLOTS) -> list[npt.NDArray[Any]]:
    """An array of keys or values as the blocks it is stored in; those of outcomes, see `TierRecord.blocks`."""
    return [array[first : first + each] for first in range(0, len(array), each)]


def checksum(block: Any) -> int:
    """The checksum stored for a block."""
    return xxhash.xxh3_64_intdigest(block)


def block_lengths(size: int) -> list[int]:
    """How many slots each block of a tier has."""
    return [min(BLOCK_SLOTS, size - first) for first in range(0, size, BLOCK_SLOTS)]


def _require(holds: bool) -> None:
    """A record with a right checksum and impossible contents was not written by us."""
    if not holds:
        raise ValueError("it is not a record of a tier")


def _is_count(value: object, limit: int) -> bool:
    return type(value) is int and 0 <= value < limit


def _json(record: TierRecord | KeyRecord) -> bytes:
    """All fields; `asdict` would copy each number of them first."""
    return json.dumps({each.name: getattr(record, each.name) for each in fields(record)}).encode()


def _check_common(tier: object, size: object, checksums: object) -> None:
    _require(_is_count(tier, MAX_TIERS) and _is_count(size, MAX_TIER_SIZE) and isinstance(checksums, list))
    assert isinstance(size, int)
    assert isinstance(checksums, list)
    _require(len(checksums) == -(-size // BLOCK_SLOTS) and all(_is_count(each, 1 << 64) for each in checksums))


@dataclass(frozen=True, slots=True)
class TierRecord:
    """What is known about a finished tier. It is written with the last block, so where it is, the tier is whole."""

    tier: int
    size: int
    width: int
    """Bytes a value; 0 where four outcomes share a byte."""
    counts: dict[int, int]
    """How often each value code stands in it."""
    checksums: list[int]
    """One for each block of values."""

    @classmethod
    def of(cls, tier: int, values: npt.NDArray[Any]) -> TierRecord:
        return cls(
            tier=tier,
            size=len(values),
            width=values.dtype.itemsize,
            counts=count_codes(values),
            checksums=[checksum(block) for block in blocks_of(values)],
        )

    @classmethod
    def of_outcomes(cls, tier: int, packed: npt.NDArray[np.uint8], size: int) -> TierRecord:
        blocks = blocks_of(packed, each=stored_bytes(BLOCK_SLOTS, 0))
        return cls(tier, size, 0, count_outcomes(packed, size), [checksum(block) for block in blocks])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the arrays that its values are stored as."""
        return np.dtype(f"<u{self.width or 1}")

    def blocks(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Such an array as the blocks it is stored in."""
        return blocks_of(values, each=BLOCK_SLOTS if self.width else stored_bytes(BLOCK_SLOTS, 0))

    def to_json(self) -> bytes:
        return _json(self)

    @classmethod
    def from_json(cls, text: bytes) -> TierRecord:
        data = json.loads(text)
        _check_common(data["tier"], data["size"], data["checksums"])
        counts = {int(code): count for code, count in data["counts"].items()}
        _require(all(_is_count(c, 1 << 32) and _is_count(n, MAX_TIER_SIZE) for c, n in counts.items()))
        _require(data["width"] in (0, 1, 2, 4) and sum(counts.values()) == data["size"])
        return cls(**{**data, "counts": counts})


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """The same for a tier's sorted keys, of a game that the engine enumerates."""

    tier: int
    size: int
    cyclic: bool
    """Whether some move stays in the tier."""
    children: list[int]
    """The other tiers that a move leads to."""
    checksums: list[int]

    def to_json(self) -> bytes:
        return _json(self)

    @classmethod
    def from_json(cls, text: bytes) -> KeyRecord:
        data = json.loads(text)
        _check_common(data["tier"], data["size"], data["checksums"])
        _require(isinstance(data["cyclic"], bool) and isinstance(data["children"], list))
        _require(all(_is_count(child, MAX_TIERS) for child in data["children"]))
        return cls(**data)


@dataclass(frozen=True, slots=True)
class TableInfo:
    """A table's metadata."""

    game: str
    options: dict[str, Any]
    rules_version: int
    host_version: str
    indexing: str
    """`ranked` by the game's own perfect index, or `enumerated` by the engine."""
    status: str = "solving"
    """`enumerating`, `solving`, or `complete`."""
    values: str = FULL
    """One of VALUES."""
    hash: str | None = None
    format: int = FORMAT
    storage: dict[str, Any] = field(default_factory=dict)
    """How the backend keeps it: for LMDB its version and data format, and whether the table is compact."""

    @property
    def outcomes(self) -> bool:
        """Whether it knows who wins, and nothing else."""
        return self.values == OUTCOME

    @property
    def compact(self) -> bool:
        """Whether it was rewritten by `solve compact`."""
        return bool(self.storage.get("compact"))

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> TableInfo:
        info = cls(**json.loads(text))
        if info.format == FORMAT:  # of another one, only that is known
            _require(info.indexing in ("ranked", "enumerated") and info.values in VALUES)
            _require(info.status in ("enumerating", "solving", "complete"))
            _require(isinstance(info.game, str) and isinstance(info.host_version, str))
            _require(isinstance(info.rules_version, int) and isinstance(info.hash, str | None))
            _require(isinstance(info.options, dict) and isinstance(info.storage, dict))
        return info


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over all positions of a table, values being for the side to move."""

    positions: int
    wins: int
    losses: int
    draws: int
    """Endless draws: neither side can force an end."""
    ties: int
    """Draws that the rules end."""
    outcome_draws: int
    """Draws of a table of outcomes, which may be of either kind."""
    longest_win: int | None
    longest_loss: int | None
    by_code: dict[int, int]

    @classmethod
    def of(cls, counts: Iterable[Mapping[int, int]]) -> Statistics:
        total: dict[int, int] = {}
        for tier_counts in counts:
            for code, count in tier_counts.items():
                total[code] = total.get(code, 0) + count
        total.pop(NO_POSITION_CODE, None)
        values = {code: Value.from_code(code) for code in total}

        def count_of(outcome: Outcome, wanted: Callable[[Value], bool] = lambda value: True) -> int:
            return sum(total[code] for code, value in values.items() if value.outcome is outcome and wanted(value))

        def longest(outcome: Outcome) -> int | None:
            known = (v.remoteness for v in values.values() if v.outcome is outcome and v.remoteness is not None)
            return max(known, default=None)

        return cls(
            positions=sum(total.values()),
            wins=count_of(Outcome.WIN),
            losses=count_of(Outcome.LOSS),
            draws=count_of(Outcome.DRAW, lambda value: value.endless),
            ties=count_of(Outcome.DRAW, lambda value: value.remoteness is not None),
            outcome_draws=count_of(Outcome.DRAW, lambda value: value.outcome_only),
            longest_win=longest(Outcome.WIN),
            longest_loss=longest(Outcome.LOSS),
            by_code=dict(sorted(total.items())),
        )


COUNTED = ("wins", "losses", "endless_draws", "ties", "draws")
"""The kinds that `json_counts` counts, in the order in which people read them."""


def json_counts(counts: Statistics, *, outcomes_only: bool) -> dict[str, int | None]:
    """The counts in JSON. A table of outcomes does not know which draws are endless: it has `draws`, and nulls."""
    return {
        "positions": counts.positions,
        "wins": counts.wins,
        "losses": counts.losses,
        "endless_draws": None if outcomes_only else counts.draws,
        "ties": None if outcomes_only else counts.ties,
        **({"draws": counts.outcome_draws} if outcomes_only else {}),
    }


def table_hash(records: Iterable[TierRecord], keys: Iterable[KeyRecord]) -> str:
    """One number for the whole table: equal exactly when every stored bit is."""
    digest = xxhash.xxh3_64()
    for key in sorted(keys, key=lambda k: k.tier):
        digest.update(np.array([key.tier, key.size, *key.checksums], dtype="<u8").tobytes())
    for record in sorted(records, key=lambda r: r.tier):
        digest.update(np.array([record.tier, record.size, record.width, *record.checksums], dtype="<u8").tobytes())
    return digest.hexdigest()


# How a table is laid out in an LMDB file, and how its records are protected.
#
# Under these keys (numbers are 4 bytes, big-endian):
#
#     meta                   TableInfo, as JSON
#     K tier                 KeyRecord of a tier's sorted keys (enumerated games only), as JSON
#     k tier block           the keys themselves, 2**20 a block, 8 bytes each, little-endian
#     T tier                 TierRecord of a tier's values, as JSON
#     t tier block           the values, 2**20 a block, 1, 2 or (with scores) 4 bytes each; outcomes alone 2 bits each
#
# A compact table has frames instead of blocks: compact.py says how.
#
# `meta` and what has a capital letter is a record. Before its text stand 8 bytes, the checksum of its key and its text,
# so that neither a changed bit nor a record in another's place goes unnoticed. The metadata of a finished table has a
# checksum of all other records. Checksums are XXH3 of 64 bits, little-endian.
#
# A tier counts once its record is there, and the record is written in the transaction of its last block: whatever moment
# a process dies at, a tier is whole or absent.

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
