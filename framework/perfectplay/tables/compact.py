"""Compact tables: a finished table rewritten for keeping, many times smaller, every probe still exact.

Values are cut into frames of 2**16 slots. Whatever the rules alone decide (finished positions, positions won at once,
slots that hold none) is left out; for a game in C that costs nothing to work out again. The rest of a frame is
compressed with zstd. To find one value among those kept, a frame counts them for each run of 512 slots, so that a
probe works out at most one such run. Sorted keys are stored as differences, byte plane by byte plane.

Beside `meta`, `K` and `T` as ever (layout.py), a compact table has:

    c tier                 frames of values, one after the other: per-run counts, then the codes, compressed
    C tier                 a record: where each frame ends, then each frame's checksum, 8 bytes each, little-endian
    d tier                 frames of keys, likewise
    D tier                 a record: the same, then the first key of each frame
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.tables.layout import number_key, opened
from perfectplay.tables.locking import DATA_FILE
from perfectplay.tables.reader import TableReader
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
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    if starts[-1] != len(codes):
        raise ValueError("the counts do not add up")
    return starts, codes


def pack_keys(keys: Array) -> bytes:
    """Sorted keys: the differences, all lowest bytes first, then all second bytes and so on."""
    steps = np.diff(keys, prepend=np.uint64(0)).astype("<u8")
    return zstandard.compress(np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T).tobytes(), LEVEL)


def unpack_keys(data: Block, count: int) -> Array:
    planes = np.frombuffer(zstandard.decompress(data), dtype=np.uint8).reshape(8, count)
    return np.cumsum(np.ascontiguousarray(planes.T).view("<u8").ravel(), dtype=np.uint64)


# ---- reading ----


class CompactStore(TableReader):
    """A compact table on disk. Whole tiers can be unpacked; single values are read frame by frame."""

    def __init__(self, path: Path, *, kernel: Kernel, file: str = DATA_FILE, repairing: bool = False) -> None:
        super().__init__(path, file=file, repairing=repairing)
        self.kernel = kernel
        self._cache: OrderedDict[tuple[bytes, int, int], Any] = OrderedDict()
        self._indices: dict[bytes, Array] = {}
        self._drops = bool(self.info.storage.get("drops_settled"))
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
        kept = int(starts[run]) + int(np.count_nonzero(settled[:place] == 0))
        if kept >= starts[run + 1]:
            raise self.damage(f"tier {tier}, frame {frame} was made by other rules")
        return int(codes[kept])

    def find(self, tier: int, key: int) -> int | None:
        """The index of a canonical position among the keys of its tier."""
        record = self._keys.get(tier)
        if record is None or tier not in self._tiers:
            return None
        firsts = self._frame_index(b"d", record)[2]
        frame = int(np.searchsorted(firsts, np.uint64(key), side="right")) - 1
        if frame < 0:
            return None
        keys = self._key_frame(record, frame)
        place = int(np.searchsorted(keys, np.uint64(key)))
        return frame * FRAME_SLOTS + place if place < len(keys) and keys[place] == key else None

    def positions(self, tier: int, first: int, count: int) -> Array:
        """The positions of consecutive slots of one frame."""
        if self.kernel.ranked:
            return self._index.positions(tier, first, count)
        frame, inside = divmod(first, FRAME_SLOTS)
        part: Array = self._key_frame(self._keys[tier], frame)[inside : inside + count]
        return part

    def value_blocks(self, record: TierRecord) -> list[Block]:
        """The whole tier, unpacked into memory, its checksums checked."""
        values = np.empty(record.size, dtype=f"<u{record.width}")
        for frame, first in enumerate(range(0, record.size, FRAME_SLOTS)):
            part = values[first : first + FRAME_SLOTS]
            _, codes = self._values(record, frame)
            if self._drops:
                part[:] = rule_codes(self.kernel, self.positions(record.tier, first, len(part)))
            kept = part == 0 if self._drops else np.ones(len(part), dtype=bool)
            if np.count_nonzero(kept) != len(codes):
                raise self.damage(f"tier {record.tier}, frame {frame} was made by other rules")
            part[kept] = codes
        return self._checked_blocks(values, record.tier, record.checksums)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        frames = range(-(-record.size // FRAME_SLOTS))
        keys = np.concatenate([np.empty(0, "<u8"), *(self._key_frame(record, frame) for frame in frames)])
        return self._checked_blocks(keys, record.tier, record.checksums)

    def _checked_blocks(self, array: Array, tier: int, checksums: list[int]) -> list[Block]:
        blocks = blocks_of(array)
        for number, (block, expected) in enumerate(zip(blocks, checksums, strict=True)):
            if checksum(block) != expected:
                raise self.damage(f"tier {tier}, block {number} has a wrong checksum")
        return [block.data for block in blocks]

    def _values(self, record: TierRecord, frame: int) -> tuple[Array, Array]:
        slots = min(FRAME_SLOTS, record.size - frame * FRAME_SLOTS)
        found: tuple[Array, Array] = self._cached(
            b"c", record, frame, lambda data: unpack_values(data, slots, record.width)
        )
        return found

    def _key_frame(self, record: KeyRecord, frame: int) -> Array:
        slots = min(FRAME_SLOTS, record.size - frame * FRAME_SLOTS)
        found: Array = self._cached(b"d", record, frame, lambda data: unpack_keys(data, slots))
        return found

    def _cached(self, kind: bytes, record: TierRecord | KeyRecord, frame: int, unpack: Callable[[Block], Any]) -> Any:
        name = (kind, record.tier, frame)
        with self.lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        unpacked = self._unpacked(kind, record, frame, unpack)
        with self.lock:
            self._cache[name] = unpacked
            while len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return unpacked

    def _unpacked(self, kind: bytes, record: TierRecord | KeyRecord, frame: int, unpack: Callable[[Block], Any]) -> Any:
        index = self._frame_index(kind, record)
        ends, checksums = index[0], index[1]
        packed = self._entries[number_key(kind, record.tier)][int(ends[frame - 1]) if frame else 0 : int(ends[frame])]
        if checksum(packed) != checksums[frame]:
            raise self.damage(f"tier {record.tier}, frame {frame} has a wrong checksum")
        try:
            return unpack(packed)
        except (ValueError, zstandard.ZstdError):  # its checksum is right: somebody else's frame
            raise self.damage(f"tier {record.tier}, frame {frame} cannot be unpacked") from None

    def _frame_index(self, kind: bytes, record: TierRecord | KeyRecord) -> Array:
        """Rows of one number a frame: where it ends, its checksum, and of keys the first one."""
        key = number_key(kind.upper(), record.tier)
        if key not in self._indices:
            frames, rows = -(-record.size // FRAME_SLOTS), 2 if kind == b"c" else 3
            data = self._entries.get(number_key(kind, record.tier))
            try:
                index = np.frombuffer(opened(key, self._entries[key]), dtype="<u8").reshape(rows, frames)
                ends = [0, *index[0].tolist()]
                if data is None or ends != sorted(ends) or ends[-1] != len(data):
                    raise ValueError
            except (ValueError, KeyError):
                raise self.damage(f"tier {record.tier} misses frames, or their index cannot be read") from None
            self._indices[key] = index
        return self._indices[key]

    def close(self) -> None:
        self._index.close()
