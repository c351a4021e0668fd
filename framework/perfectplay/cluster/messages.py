"""What the driver and the workers send each other, beside plain arrays. Whatever travels carries its checksum."""

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
from perfectplay_native.engine import Fault
from perfectplay_native.share import Array

Ref = Any
"""Something that Ray will turn into a value."""


class DamagedMessage(Exception):
    """What arrived is not what was sent."""


@dataclass(frozen=True, slots=True)
class GameSpec:
    """How a worker makes the game: by its name, or from the text of its file."""

    word: str
    options: dict[str, OptionValue]
    rules_version: int
    text: str | None = None
    """Of the file, where the game is in one; the worker's machine need not have it."""

    @property
    def file_name(self) -> str:
        return Path(self.word).name


def game_spec(game: Game) -> GameSpec:
    """How workers make this game; UsageError where they cannot."""
    if game.file is not None:
        text = game.file.read_text(encoding="utf-8")
        return GameSpec(str(game.file), game.options, game.rules_version, text)
    if game.name not in plugins.game_names():
        raise UsageError(f"{game.name} is not installed: the workers of --backend ray could not find it")
    return GameSpec(game.name, game.options, game.rules_version)


@dataclass(frozen=True, slots=True)
class Finished:
    """A tier for others to see: its keys and values, each in pieces, one for each worker that made it.

    A piece is a list of units, dealt out in turn: unit i is in piece (turn + i) % len(pieces).
    """

    tier: int
    size: int
    keys: int = 0
    """How many pieces of keys; 0 for a ranked game."""
    values: int = 0
    """How many pieces of values; 0 while the tier is not finished."""
    width: int = 1
    turn: int = 0
    checksums: tuple[int, ...] = ()
    """Of the blocks of values."""
    key_checksums: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """What a worker says after each step."""

    last_level: int = 0
    has_ties: bool = False
    sent: tuple[int, ...] = ()
    """How many bytes it has for each worker."""
    checksums: tuple[int, ...] = ()
    """Of the units that it hands over."""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Checked:
    """What a worker says of values that it has derived again."""

    wrong: int
    faults: list[Fault]
    """The first of them."""
    counts: dict[int, int]
    """How often each code stands there."""
    lost: int | None
    """A position that is not found in its place."""


def dealt(pieces: Sequence[Sequence[Array]], turn: int) -> Iterator[Array]:
    """The units of a tier in order, of pieces that they were dealt out to.

    >>> [unit.tolist() for unit in dealt([[np.array([1]), np.array([3])], [np.array([2])]], 0)]
    [[1], [2], [3]]
    """
    hands = [iter(piece) for piece in pieces]
    for number in range(sum(map(len, pieces))):
        yield next(hands[(turn + number) % len(hands)])


def check(arrays: Sequence[Array], checksums: Sequence[int]) -> None:
    """DamagedMessage where an array is not what its sender saw."""
    if len(arrays) != len(checksums) or any(checksum(a) != c for a, c in zip(arrays, checksums, strict=True)):
        raise DamagedMessage("a block did not arrive as it was sent")


def pack(arrays: Sequence[Array]) -> list[Array] | None:
    """Arrays to send, with a checksum of each before them; None where all are empty."""
    if not any(map(len, arrays)):
        return None
    sums = np.array([checksum(array) for array in arrays], dtype=np.uint64)
    return [sums, *arrays]


def unpack(message: list[Array] | None, *, empty: int) -> list[Array]:
    """What `pack` packed; `empty` arrays where it was nothing."""
    if message is None:
        return [np.empty(0, dtype=np.uint32) for _ in range(empty)]
    sums, *arrays = message
    check(arrays, [int(each) for each in sums])
    return arrays
