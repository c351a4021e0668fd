"""Compact tables: a finished table rewritten for keeping, many times smaller, every probe still exact.

Values are cut into frames of 2**16 slots. Whatever the rules alone decide (finished positions, positions won at once,
slots that hold none, and positions in which every move leads to one of these) is left out; for a game in C that costs
little to work out again. The codes that are left are numbered, so that a byte is enough for each, and compressed: with
zstd, or in a tier so deep that its codes take two bytes with LZMA, which needs a twentieth less room there, and half
a millisecond more for a frame. To find one value among those kept, a frame counts them for each run of 512 slots, so
that a probe works out at most half of such a run. Sorted keys are stored as differences, byte plane by byte plane.

Beside `meta`, `K` and `T` as ever (layout.py), a compact table has:

    c tier                 frames of values, one after the other: per-run counts, then the codes' numbers, compressed
    C tier                 a record: where each frame ends, then each frame's checksum, 8 bytes each, little-endian
    d tier                 frames of keys, likewise
    D tier                 a record: the same, then the first key of each frame

This is form 2. Tables that do not tell their form have form 1, and are read as well: the codes as they are, under zstd,
and nothing left out for its moves' sake.
"""

from __future__ import annotations

import lzma
from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.errors import TableError
from perfectplay.table.lmdb_pages import Snapshot
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lock import DATA_FILE
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key, opened
from perfectplay.table.store import Array, Block
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, slot_of, tier_of_slot
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_codes, rule_codes

FRAME_SLOTS = 1 << 16
RUN_SLOTS = 512
FORM = 2
LEVEL = 19
CACHED_FRAMES = 256

LZMA_FILTERS = [
    # numbers have no bits in common with their neighbours' that would tell anything: no context, no alignment
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 18, "lc": 0, "lp": 0, "pb": 0}
]


# ---- frames ----


class ValueFrames:
    """Packs and unpacks the values of one tier."""

    def __init__(self, record: TierRecord, *, form: int = FORM) -> None:
        self.form, self.deep = form, form == FORM and record.width > 1
        self.codes = np.array(sorted(record.counts), dtype=f"<u{record.width}")
        self.number_type = self.codes.dtype if form == 1 else np.min_scalar_type(len(self.codes)).newbyteorder("<")

    def pack(self, codes: Array, kept: npt.NDArray[np.bool_]) -> bytes:
        """One frame: for each run how many codes are kept, then the numbers of those codes."""
        counts = np.add.reduceat(kept, np.arange(0, len(codes), RUN_SLOTS)).astype("<u2")
        numbers = np.searchsorted(self.codes, codes[kept]).astype(self.number_type)
        raw = counts.tobytes() + numbers.tobytes()
        if self.deep:
            return lzma.compress(raw, format=lzma.FORMAT_RAW, filters=LZMA_FILTERS)
        return zstandard.compress(raw, LEVEL)

    def unpack(self, data: Block, slots: int) -> tuple[Array, Array]:
        """Where each run's codes begin, and the kept codes."""
        runs = -(-slots // RUN_SLOTS)
        if self.deep:
            raw = lzma.decompress(data, format=lzma.FORMAT_RAW, filters=LZMA_FILTERS)
        else:
            raw = zstandard.decompress(data)
        counts = np.frombuffer(raw, dtype="<u2", count=runs)
        numbers = np.frombuffer(raw, dtype=self.number_type, offset=2 * runs)
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if starts[-1] != len(numbers):
            raise ValueError("the counts do not add up")
        return starts, numbers if self.form == 1 else self.codes[numbers]


def pack_keys(keys: Array) -> bytes:
    """Sorted keys: the differences, all lowest bytes first, then all second bytes and so on."""
    steps = np.diff(keys, prepend=np.uint64(0)).astype("<u8")
    return zstandard.compress(np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T).tobytes(), LEVEL)


def unpack_keys(data: Block, count: int) -> Array:
    planes = np.frombuffer(zstandard.decompress(data), dtype=np.uint8).reshape(8, count)
    return np.cumsum(np.ascontiguousarray(planes.T).view("<u8").ravel(), dtype=np.uint64)


# ---- reading ----


def _frames_of(block: Array, first: int) -> Iterator[tuple[int, Array]]:
    """The frames of a block that begins at slot `first`: their numbers, and their parts of it."""
    for place in range(0, len(block), FRAME_SLOTS):
        yield (first + place) // FRAME_SLOTS, block[place : place + FRAME_SLOTS]


class CompactStore(TableReader):
    """A compact table on disk. Whole tiers can be unpacked; single values are read frame by frame."""

    def __init__(
        self,
        path: Path,
        *,
        kernel: Kernel,
        file: str = DATA_FILE,
        repairing: bool = False,
        snapshot: Snapshot | None = None,
    ) -> None:
        super().__init__(path, file=file, repairing=repairing, snapshot=snapshot)
        self.kernel = kernel
        self._cache: OrderedDict[tuple[bytes, int, int], Any] = OrderedDict()
        self._indices: dict[bytes, Array] = {}
        self._drops = bool(self.info.storage.get("drops_settled"))
        self._form = self.info.storage.get("form", 1)
        if self._form not in (1, FORM):
            raise TableError(f"the table in {path} has compact form {self._form}: it needs a newer perfectplay")
        self._decided = rule_codes if self._form == 1 else one_ply_codes
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
        if not self._drops:
            return int(self._values(record, frame)[1][inside])
        if decided := self._decided(self.kernel, self.positions(tier, index, 1))[0]:
            return int(decided)
        starts, codes = self._values(record, frame)
        run, place = divmod(inside, RUN_SLOTS)
        after = min(RUN_SLOTS - place, record.size - index) - 1
        if place <= after:  # those kept are counted from the nearer end of the run
            kept = int(starts[run]) + self._count_kept(tier, index - place, place)
        else:
            kept = int(starts[run + 1]) - 1 - self._count_kept(tier, index + 1, after)
        if not starts[run] <= kept < starts[run + 1]:
            raise self.damage(f"tier {tier}, frame {frame} was made by other rules")
        return int(codes[kept])

    def _count_kept(self, tier: int, first: int, count: int) -> int:
        """How many of consecutive slots of a frame are kept in it."""
        if not count:  # `first` may be beyond the tier
            return 0
        return int(np.count_nonzero(self._decided(self.kernel, self.positions(tier, first, count)) == 0))

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
        return [self._value_block(record, number).data for number in range(len(record.checksums))]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return [self._key_block(record, number).data for number in range(len(record.checksums))]

    def check_block(self, record: TierRecord | KeyRecord, number: int) -> None:
        """TableError where a block is not what was packed. Any thread may ask."""
        if isinstance(record, TierRecord):
            self._value_block(record, number)
        else:
            self._key_block(record, number)

    def is_intact(self, record: TierRecord | KeyRecord) -> bool:
        try:
            for number in range(len(record.checksums)):  # one at a time: a tier may be larger than memory
                self.check_block(record, number)
        except TableError:
            return False
        return True

    def _value_block(self, record: TierRecord, number: int) -> Array:
        first = number * BLOCK_SLOTS
        values = np.empty(min(BLOCK_SLOTS, record.size - first), dtype=f"<u{record.width}")
        frames = ValueFrames(record, form=self._form)
        for frame, part in _frames_of(values, first):
            _, codes = self._unpacked(b"c", record, frame, partial(frames.unpack, slots=len(part)))
            if self._drops:
                part[:] = self._decided(self.kernel, self._positions_of_frame(record.tier, frame, len(part)))
            kept = part == 0 if self._drops else np.ones(len(part), dtype=bool)
            if np.count_nonzero(kept) != len(codes):
                raise self.damage(f"tier {record.tier}, frame {frame} was made by other rules")
            part[kept] = codes
        return self._compared(values, record, number)

    def _key_block(self, record: KeyRecord, number: int) -> Array:
        first = number * BLOCK_SLOTS
        keys = np.empty(min(BLOCK_SLOTS, record.size - first), dtype="<u8")
        for frame, part in _frames_of(keys, first):
            part[:] = self._unpacked(b"d", record, frame, partial(unpack_keys, count=len(part)))
        return self._compared(keys, record, number)

    def _positions_of_frame(self, tier: int, frame: int, count: int) -> Array:
        if self.kernel.ranked:
            return self._index.positions(tier, frame * FRAME_SLOTS, count)
        keys: Array = self._unpacked(b"d", self._keys[tier], frame, partial(unpack_keys, count=count))
        return keys

    def _compared(self, block: Array, record: TierRecord | KeyRecord, number: int) -> Array:
        if checksum(block) != record.checksums[number]:
            raise self.damage(f"tier {record.tier}, block {number} has a wrong checksum")
        return block

    def _values(self, record: TierRecord, frame: int) -> tuple[Array, Array]:
        slots = min(FRAME_SLOTS, record.size - frame * FRAME_SLOTS)
        found: tuple[Array, Array] = self._cached(
            b"c", record, frame, lambda data: ValueFrames(record, form=self._form).unpack(data, slots)
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
        except (
            ValueError,
            IndexError,
            lzma.LZMAError,
            zstandard.ZstdError,
        ):  # its checksum is right: somebody else's frame
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
        self._index.close(partial(TableError, f"the table {self.path} is closed"))
