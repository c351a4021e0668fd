"""Compact tables: a finished table rewritten for keeping, many times smaller, every probe still exact.

Values are cut into frames of 2**16 slots. Whatever the rules alone decide (finished positions, positions won at once,
slots that hold none) is left out; for a game in C that costs nothing to work out again. The rest of a frame is
compressed with zstd. To find one value among those kept, a frame counts them for each run of 512 slots, so that a
probe works out at most one such run. Sorted keys are stored as differences, byte plane by byte plane.

Under these keys of an LMDB environment (numbers are 4 bytes, big-endian), beside `meta`, `K` and `T` as ever:

    c tier                 frames of values, one after the other: per-run counts, then the codes, compressed
    C tier                 of each frame where it ends, and its checksum, 8 bytes each, little-endian
    d tier, D tier         frames of keys, likewise
    F tier                 the first key of every frame, 8 bytes each, little-endian
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.errors import TableError
from perfectplay.tables.lmdb_store import LmdbStore, number_key
from perfectplay.tables.records import KeyRecord, TierRecord, blocks_of, checksum
from perfectplay.tables.store import Array, Block
from perfectplay_native.engine import Engine, rule_codes
from perfectplay_native.kernel import Kernel, slot_of, tier_of_slot

FRAME_SLOTS = 1 << 16
RUN_SLOTS = 512
LEVEL = 19
CACHED_FRAMES = 256


# ---- frames ----


def pack_values(codes: Array, kept: npt.NDArray[np.bool_]) -> bytes:
    """One frame: for each run how many codes are kept, then those codes."""
    counts = np.add.reduceat(kept, np.arange(0, len(codes), RUN_SLOTS)).astype("<u2")
    return zstandard.compress(counts.tobytes() + codes[kept].tobytes(), LEVEL)


def unpack_values(data: Block, slots: int, width: int) -> tuple[Array, Array]:
    """Where each run's codes begin, and the kept codes."""
    runs = -(-slots // RUN_SLOTS)
    raw = zstandard.decompress(data)
    counts = np.frombuffer(raw, dtype="<u2", count=runs)
    codes = np.frombuffer(raw, dtype=f"<u{width}", offset=2 * runs)
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]), codes


def pack_keys(keys: Array) -> bytes:
    """Sorted keys: the differences, all lowest bytes first, then all second bytes and so on."""
    steps = np.diff(keys, prepend=np.uint64(0)).astype("<u8")
    return zstandard.compress(np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T).tobytes(), LEVEL)


def unpack_keys(data: Block) -> Array:
    planes = np.frombuffer(zstandard.decompress(data), dtype=np.uint8).reshape(8, -1)
    return np.cumsum(np.ascontiguousarray(planes.T).view("<u8").ravel(), dtype=np.uint64)


# ---- reading ----


class CompactStore(LmdbStore):
    """A compact table on disk. Whole tiers can be unpacked; single values are read frame by frame."""

    def __init__(self, path: Path, *, kernel: Kernel) -> None:
        super().__init__(path)
        self.kernel = kernel
        self._cache: OrderedDict[tuple[bytes, int, int], Any] = OrderedDict()
        self._tiers = self.tier_records()
        self._key_tiers = self.key_records()
        self._drops = bool(self.info.storage["drops_settled"])
        # knows how to unrank; it holds no values
        self._index = Engine(kernel, tiers=max([*self._tiers, 0]) + 1)
        for tier, record in self._tiers.items():
            if kernel.ranked:
                self._index.define(tier, record.size)

    def code_of(self, slot: int) -> int:
        """The code of one slot."""
        tier, index = tier_of_slot(slot), slot - slot_of(tier_of_slot(slot), 0)
        record = self._tiers[tier]
        frame, inside = divmod(index, FRAME_SLOTS)
        run, place = divmod(inside, RUN_SLOTS)
        starts, codes = self._values(record, frame)
        if not self._drops:
            return int(codes[inside])
        positions = self.positions(tier, index - place, place + 1)
        settled = rule_codes(self.kernel, positions)
        if settled[place]:
            return int(settled[place])
        return int(codes[starts[run] + np.count_nonzero(settled[:place] == 0)])

    def find(self, tier: int, key: int) -> int | None:
        """The index of a canonical position among the keys of its tier."""
        record = self._key_tiers.get(tier)
        if record is None:
            return None
        firsts = np.frombuffer(self._fetch(b"F", tier), dtype="<u8")
        frame = int(np.searchsorted(firsts, np.uint64(key), side="right")) - 1
        if frame < 0:
            return None
        keys = self._keys(tier, frame)
        place = int(np.searchsorted(keys, np.uint64(key)))
        return frame * FRAME_SLOTS + place if place < len(keys) and keys[place] == key else None

    def positions(self, tier: int, first: int, count: int) -> Array:
        """The positions of consecutive slots of one frame."""
        if self.kernel.ranked:
            return self._index.positions(tier, first, count)
        frame, inside = divmod(first, FRAME_SLOTS)
        part: Array = self._keys(tier, frame)[inside : inside + count]
        return part

    def value_blocks(self, record: TierRecord) -> list[Block]:
        """The whole tier, unpacked into memory, its checksums checked."""
        values = np.empty(record.size, dtype=f"<u{record.width}")
        for frame, first in enumerate(range(0, record.size, FRAME_SLOTS)):
            part = values[first : first + FRAME_SLOTS]
            _, codes = self._values(record, frame)
            if self._drops:
                part[:] = rule_codes(self.kernel, self.positions(record.tier, first, len(part)))
                part[part == 0] = codes
            else:
                part[:] = codes
        return self._checked_blocks(values, record.tier, record.checksums)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        frames = range(-(-record.size // FRAME_SLOTS))
        keys = np.concatenate([np.empty(0, "<u8"), *(self._keys(record.tier, frame) for frame in frames)])
        return self._checked_blocks(keys, record.tier, record.checksums)

    def _checked_blocks(self, array: Array, tier: int, checksums: list[int]) -> list[Block]:
        blocks = blocks_of(array)
        for number, (block, expected) in enumerate(zip(blocks, checksums, strict=True)):
            if checksum(block) != expected:
                raise TableError(f"the table {self.path} is damaged: tier {tier}, block {number} has a wrong checksum")
        return [block.data for block in blocks]

    def _values(self, record: TierRecord, frame: int) -> tuple[Array, Array]:
        slots = min(FRAME_SLOTS, record.size - frame * FRAME_SLOTS)
        found: tuple[Array, Array] = self._cached(
            b"c", record.tier, frame, lambda data: unpack_values(data, slots, record.width)
        )
        return found

    def _keys(self, tier: int, frame: int) -> Array:
        found: Array = self._cached(b"d", tier, frame, unpack_keys)
        return found

    def _cached(self, kind: bytes, tier: int, frame: int, unpack: Callable[[Block], Any]) -> Any:
        name = (kind, tier, frame)
        with self.lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        ends, checksums = np.frombuffer(self._fetch(kind.upper(), tier), dtype="<u8").reshape(2, -1)
        packed = self._fetch(kind, tier)[int(ends[frame - 1]) if frame else 0 : int(ends[frame])]
        if checksum(packed) != checksums[frame]:
            raise TableError(f"the table {self.path} is damaged: tier {tier}, frame {frame} has a wrong checksum")
        unpacked = unpack(packed)
        with self.lock:
            self._cache[name] = unpacked
            while len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return unpacked

    def _fetch(self, kind: bytes, tier: int) -> Block:
        data = self.fetch(number_key(kind, tier))
        if data is None:
            raise TableError(f"the table {self.path} is damaged: tier {tier} misses a part")
        return data

    def close(self) -> None:
        if hasattr(self, "_index"):
            self._index.close()
        super().close()
