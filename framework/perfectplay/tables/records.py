"""What is written down about a table and about each of its tiers, beside the values themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from perfectplay.values import NO_POSITION_CODE, Outcome, Value
from perfectplay_native.engine import BLOCK_SLOTS, count_codes

FORMAT = 2
"""Version of the table format (docs/tables.md). A table of another format is refused."""


MAX_TIERS = 1 << 23
MAX_TIER_SIZE = 1 << 40
"""A slot is a tier and an index in 64 bits."""


def blocks_of(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """An array of keys or values as the blocks it is stored in."""
    return [array[first : first + BLOCK_SLOTS] for first in range(0, len(array), BLOCK_SLOTS)]


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

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> TierRecord:
        data = json.loads(text)
        _check_common(data["tier"], data["size"], data["checksums"])
        counts = {int(code): count for code, count in data["counts"].items()}
        _require(all(_is_count(c, 1 << 32) and _is_count(n, MAX_TIER_SIZE) for c, n in counts.items()))
        _require(data["width"] in (1, 2, 4) and sum(counts.values()) == data["size"])
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
        return json.dumps(asdict(self)).encode()

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
    hash: str | None = None
    format: int = FORMAT
    storage: dict[str, Any] = field(default_factory=dict)
    """How the backend keeps it: for LMDB its version and data format, and whether the table is compact."""

    @property
    def compact(self) -> bool:
        """Whether it was rewritten by `solve compact`."""
        return bool(self.storage.get("compact"))

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> TableInfo:
        return cls(**json.loads(text))


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

        def count_of(outcome: Outcome, endless: bool = False) -> int:
            return sum(
                total[code]
                for code, value in values.items()
                if value.outcome is outcome and (value.remoteness is None) is endless
            )

        def longest(outcome: Outcome) -> int | None:
            return max((v.remoteness or 0 for v in values.values() if v.outcome is outcome), default=None)

        return cls(
            positions=sum(total.values()),
            wins=count_of(Outcome.WIN),
            losses=count_of(Outcome.LOSS),
            draws=count_of(Outcome.DRAW, endless=True),
            ties=count_of(Outcome.DRAW),
            longest_win=longest(Outcome.WIN),
            longest_loss=longest(Outcome.LOSS),
            by_code=dict(sorted(total.items())),
        )


def table_hash(records: Iterable[TierRecord], keys: Iterable[KeyRecord]) -> str:
    """One number for the whole table: equal exactly when every stored bit is."""
    digest = xxhash.xxh3_64()
    for key in sorted(keys, key=lambda k: k.tier):
        digest.update(np.array([key.tier, key.size, *key.checksums], dtype="<u8").tobytes())
    for record in sorted(records, key=lambda r: r.tier):
        digest.update(np.array([record.tier, record.size, record.width, *record.checksums], dtype="<u8").tobytes())
    return digest.hexdigest()
