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
from perfectplay_native.engine import BLOCK_SLOTS, histogram

FORMAT = 1
"""Version of the table format (docs/tables.md). A table of another format is refused."""


def blocks_of(array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """An array of keys or values as the blocks it is stored in."""
    return [array[first : first + BLOCK_SLOTS] for first in range(0, len(array), BLOCK_SLOTS)]


def checksum(block: Any) -> int:
    """The checksum stored for a block."""
    return xxhash.xxh3_64_intdigest(block)


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
        counts = histogram(values)
        return cls(
            tier=tier,
            size=len(values),
            width=values.dtype.itemsize,
            counts={int(code): int(counts[code]) for code in np.flatnonzero(counts)},
            checksums=[checksum(block) for block in blocks_of(values)],
        )

    def to_json(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, text: bytes) -> TierRecord:
        data = json.loads(text)
        data["counts"] = {int(code): count for code, count in data["counts"].items()}
        return cls(**data)


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
        return cls(**json.loads(text))


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
