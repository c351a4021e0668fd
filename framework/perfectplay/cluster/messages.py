"""The messages between the driver and its workers: one class per call that has several arguments.

Arrays in messages carry checksums, so that a value damaged in transit is never stored. References to objects in Ray's
object store are separate arguments of a call, because Ray replaces only these by the objects' values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from perfectplay.errors import UsageError
from perfectplay.game import plugins
from perfectplay.game.game import Game
from perfectplay.game.options import OptionValue
from perfectplay.table.records import checksum
from perfectplay.tiers.enumeration import TierPositions
from perfectplay_native.engine import Fault
from perfectplay_native.positions import Positions
from perfectplay_native.share import Array, Layout

Ref = Any
"""A reference to an object in the object store, or to the result of a call."""


class DamagedMessage(Exception):
    """An array that arrived differs from the one that was sent."""


@dataclass(frozen=True, slots=True)
class GameSource:
    """How a worker loads the game: by name, or from the text of its file, which the worker's machine need not have."""

    word: str
    options: dict[str, OptionValue]
    rules_version: int
    text: str | None = None
    compile_rules: bool = True

    @property
    def file_name(self) -> str:
        return Path(self.word).name


def find_source(game: Game) -> GameSource:
    """Return how workers load a game; raise UsageError if they cannot."""
    if game.file is not None:
        text = game.file.read_text(encoding="utf-8")
        return GameSource(str(game.file), game.options, game.rules_version, text, game.compile_rules)
    if game.name not in plugins.game_names():
        raise UsageError(f"{game.name} is not installed, so the workers of --backend ray cannot load it")
    return GameSource(game.name, game.options, game.rules_version, compile_rules=game.compile_rules)


# ---- from the driver to a worker ----


@dataclass(frozen=True, slots=True)
class TierData:
    """A tier to attach. Its keys and values are lists of arrays, the pieces, which follow the message.

    Values come in units that are distributed over the pieces in turn: unit i is in piece (turn + i) % value_pieces.
    """

    tier: int
    size: int
    key_pieces: int = 0
    """0 for a game with an index."""
    key_checksums: tuple[int, ...] = ()
    """One per block of keys."""
    value_pieces: int = 0
    """0 if the tier is not solved yet."""
    value_checksums: tuple[int, ...] = ()
    """One per block of values."""
    width: int = 1
    turn: int = 0


@dataclass(frozen=True, slots=True)
class AttachTiers:
    """Attach exactly the tiers `keep`; `new` are those among them that the worker does not have."""

    tier_count: int
    keep: tuple[int, ...]
    new: tuple[TierData, ...]


@dataclass(frozen=True, slots=True)
class PositionBatch:
    """Positions to expand."""

    positions: Positions
    checksum: int


@dataclass(frozen=True, slots=True)
class SolveTask:
    """A component for one worker to solve."""

    attach: AttachTiers
    tiers: tuple[int, ...]
    sizes: tuple[int, ...]
    cyclic: bool


@dataclass(frozen=True, slots=True)
class VerifyTask:
    """Slots of one block to derive again."""

    attach: AttachTiers
    tier: int
    first: int
    count: int
    examples: int = 0
    """The largest number of faults to report."""


@dataclass(frozen=True, slots=True)
class ShareTask:
    """A share of a component that all workers solve together."""

    attach: AttachTiers
    layout: Layout
    worker: int
    width: int


@dataclass(frozen=True, slots=True)
class LevelTask:
    """A level of a shared component. The updates that other workers found at the level before follow the message."""

    level: int
    ties: bool


@dataclass(frozen=True, slots=True)
class RestoreTask:
    """The entries of a checkpoint, which follow the message by the worker that had them."""

    threshold: int
    ties: bool
    checksums: list[tuple[int, ...]]


# ---- from a worker to the driver ----


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    pid: int
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class ChildrenReply:
    """The children of a batch of positions, by tier."""

    children: TierPositions
    checksums: list[int]


@dataclass(frozen=True, slots=True)
class ShareState:
    """The state of a worker's share after a step."""

    last_level: int = 0
    has_ties: bool = False
    sent: tuple[int, ...] = ()
    """The number of bytes for each worker."""
    checksums: tuple[int, ...] = ()
    """Of the units that follow."""


@dataclass(frozen=True, slots=True)
class BlockReport:
    """The result of a `VerifyTask`."""

    wrong: int
    faults: list[Fault]
    """The first wrong values."""
    counts: dict[int, int]
    """The number of slots by value code."""
    lost: int | None
    """A position that a lookup does not find in its slot."""


# ---- arrays ----


def collect_units(pieces: Sequence[Sequence[Array]], turn: int) -> Iterator[Array]:
    """Yield the units of a tier in order, given the pieces over which they were distributed.

    >>> [unit.tolist() for unit in collect_units([[np.array([1]), np.array([3])], [np.array([2])]], 0)]
    [[1], [2], [3]]
    """
    hands = [iter(piece) for piece in pieces]
    for number in range(sum(map(len, pieces))):
        yield next(hands[(turn + number) % len(hands)])


def check_arrays(arrays: Sequence[Array], checksums: Sequence[int]) -> None:
    """Raise DamagedMessage if an array does not match its checksum."""
    if len(arrays) != len(checksums) or any(checksum(a) != c for a, c in zip(arrays, checksums, strict=True)):
        raise DamagedMessage("a block was damaged in transit")


def pack(arrays: Sequence[Array]) -> list[Array] | None:
    """Return the arrays with their checksums in front; None if all are empty."""
    if not any(map(len, arrays)):
        return None
    checksums = np.array([checksum(array) for array in arrays], dtype=np.uint64)
    return [checksums, *arrays]


def unpack(message: list[Array] | None, *, count: int) -> list[Array]:
    """Return the `count` arrays of a message made by `pack`; raise DamagedMessage if one was damaged."""
    if message is None:
        return [np.empty(0, dtype=np.uint32) for _ in range(count)]
    checksums, *arrays = message
    check_arrays(arrays, [int(each) for each in checksums])
    return arrays
