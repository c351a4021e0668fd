"""Compact tables: a finished table compressed to a fraction of its size, with exact probes.

Values are split into frames of 2**16 slots. A frame omits every value that follows from the rules: finished positions,
wins in one move, slots without a position, and positions whose moves all lead to one of these. For a game in C it is
cheap to compute them again. The remaining codes of a tier are numbered, so that one byte is usually enough for each,
and compressed with zstd. A frame also stores how many codes it keeps in each run of 512 slots, so a probe has to
evaluate at most half a run to find its code. Sorted keys are stored as differences, one byte plane after another.

In addition to `meta`, `K` and `T` (records.py), a compact table has these entries:

    c tier                 frames of values: counts per run, then the numbers of the codes, compressed
    C tier                 a record: the end of each frame, then the checksum of each frame, 8 bytes each, little-endian
    d tier                 frames of keys
    D tier                 a record: the same, then the first key of each frame
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from operator import index
from typing import Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.errors import TableError
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key, unseal
from perfectplay.table.store import Array, Block
from perfectplay.table.table import Table, as_positions
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_codes
from perfectplay_native.values import Codes

FORM = 3
"""Version of the compact form. Tables of other forms are refused."""

RUN_SLOTS = 512
LEVEL = 18
"""Compression level of zstd. 19 takes twice the time and saves less than 1 %."""

CACHED_FRAMES = 256

Default = TypeVar("Default")
Record = TierRecord | KeyRecord


# ---- frames ----


class ValueFrames:
    """Packs and unpacks the values of one tier."""

    def __init__(self, record: TierRecord) -> None:
        self.codes = np.array(sorted(record.counts), dtype=f"<u{record.width}")
        self.number_type = np.min_scalar_type(len(self.codes)).newbyteorder("<")

    def pack(self, codes: Array, kept: npt.NDArray[np.bool_]) -> bytes:
        """Pack a frame: the number of kept codes in each run, then the numbers of these codes."""
        counts = np.add.reduceat(kept, np.arange(0, len(codes), RUN_SLOTS)).astype("<u2")
        numbers = np.searchsorted(self.codes, codes[kept]).astype(self.number_type)
        return zstandard.compress(counts.tobytes() + numbers.tobytes(), LEVEL)

    def unpack(self, data: Block, slots: int) -> tuple[Array, Array]:
        """Return the index of each run's first kept code, and the kept codes."""
        runs = -(-slots // RUN_SLOTS)
        raw = zstandard.decompress(data)
        counts = np.frombuffer(raw, dtype="<u2", count=runs)
        numbers = np.frombuffer(raw, dtype=self.number_type, offset=2 * runs)
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if starts[-1] != len(numbers):
            raise ValueError("the counts of the runs do not match the number of codes")
        return starts, self.codes[numbers]


def pack_keys(keys: Array) -> bytes:
    """Pack sorted keys: the lowest bytes of all differences, then the second bytes, and so on."""
    steps = np.diff(keys, prepend=np.uint64(0)).astype("<u8")
    return zstandard.compress(np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 8).T).tobytes(), LEVEL)


def unpack_keys(data: Block, count: int) -> Array:
    planes = np.frombuffer(zstandard.decompress(data), dtype=np.uint8).reshape(8, count)
    return np.cumsum(np.ascontiguousarray(planes.T).view("<u8").ravel(), dtype=np.uint64)


# ---- reading ----


class CompactStore(TableReader):
    """A compact table on disk. It unpacks one frame for a single value, or whole tiers into memory."""

    def __init__(self, reader: TableReader, kernel: Kernel) -> None:
        """Continue with the file that `reader` has opened: by now another table may have replaced it."""
        super().__init__(reader.path, source=reader.source)
        storage = self.info.storage
        form, frame_slots = storage.get("form"), storage.get("frame_slots")
        if form != FORM:
            raise TableError(
                f"the table in {self.path} has compact form {form}, but this version of perfectplay reads form {FORM}: "
                "delete it and solve again"
            )
        if not isinstance(frame_slots, int) or frame_slots < 1 or frame_slots % RUN_SLOTS or BLOCK_SLOTS % frame_slots:
            raise self.source.damage("its frames have an impossible size")
        self.frame_slots = frame_slots
        self.kernel = kernel
        self._omits = bool(storage.get("drops_settled"))
        """Whether frames omit the values that follow from the rules."""
        self._cache: OrderedDict[tuple[bytes, int, int], Any] = OrderedDict()
        self._indices: dict[bytes, Array] = {}
        self._index = Engine(kernel, tiers=max([*self.source.tiers, 0]) + 1)
        """Converts slots to positions; it contains no values."""
        if kernel.ranked:
            for tier, record in self.source.tiers.items():
                self._index.define(tier, record.size)

    def code_of(self, slot: int) -> int:
        """Return the code of one slot."""
        tier, place = tier_of_slot(slot), index_of_slot(slot)
        record = self.source.tiers[tier]
        frame, offset = divmod(place, self.frame_slots)
        if not self._omits:
            return int(self._cached(record, frame)[1][offset])
        if code := one_ply_codes(self.kernel, self._positions(tier, place, 1))[0]:
            return int(code)
        starts, codes = self._cached(record, frame)
        run, before = divmod(offset, RUN_SLOTS)
        after = min(RUN_SLOTS - before, record.size - place) - 1
        if before <= after:  # count the kept codes from the nearer end of the run
            number = int(starts[run]) + self._count_kept(tier, place - before, before)
        else:
            number = int(starts[run + 1]) - 1 - self._count_kept(tier, place + 1, after)
        if not starts[run] <= number < starts[run + 1]:
            raise self.source.damage(f"tier {tier}, frame {frame} was made by other rules")
        return int(codes[number])

    def _count_kept(self, tier: int, first: int, count: int) -> int:
        """Count the kept codes of consecutive slots in one frame."""
        if not count:  # `first` may be beyond the tier
            return 0
        return int(np.count_nonzero(one_ply_codes(self.kernel, self._positions(tier, first, count)) == 0))

    def _positions(self, tier: int, first: int, count: int) -> Array:
        """Return the positions of consecutive slots in one frame."""
        if self.kernel.ranked:
            return self._index.positions(tier, first, count)
        frame, offset = divmod(first, self.frame_slots)
        keys: Array = self._cached(self.source.keys[tier], frame)
        return keys[offset : offset + count]

    def find(self, tier: int, key: int) -> int | None:
        """Return the index of a canonical position among the keys of its tier."""
        record = self.source.keys.get(tier)
        if record is None or tier not in self.source.tiers:
            return None
        first_keys = self._frame_index(record)[2]
        frame = int(np.searchsorted(first_keys, np.uint64(key), side="right")) - 1
        if frame < 0:
            return None
        keys = self._cached(record, frame)
        place = int(np.searchsorted(keys, np.uint64(key)))
        return frame * self.frame_slots + place if place < len(keys) and keys[place] == key else None

    def value_blocks(self, record: TierRecord) -> list[Block]:
        """Unpack a whole tier into memory and check its checksums."""
        return [self.unpack_block(record, number).data for number in range(len(record.checksums))]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return [self.unpack_block(record, number).data for number in range(len(record.checksums))]

    def is_intact(self, record: Record) -> bool:
        try:
            for number in range(len(record.checksums)):  # one at a time, because a tier may not fit in memory
                self.unpack_block(record, number)
        except TableError:
            return False
        return True

    def unpack_block(self, record: Record, number: int) -> Array:
        """Unpack a block and check its checksum. Threads may call it concurrently. Raises TableError for damage."""
        first = number * BLOCK_SLOTS
        dtype = record.dtype if isinstance(record, TierRecord) else np.dtype("<u8")
        block: Array = np.empty(min(BLOCK_SLOTS, record.size - first), dtype=dtype)
        for offset in range(0, len(block), self.frame_slots):
            part, frame = block[offset : offset + self.frame_slots], (first + offset) // self.frame_slots
            if isinstance(record, KeyRecord):
                part[:] = self._unpack(record, frame)
                continue
            codes = self._unpack(record, frame)[1]
            if self._omits:
                if self.kernel.ranked:
                    positions = self._index.positions(record.tier, first + offset, len(part))
                else:
                    positions = self._unpack(self.source.keys[record.tier], frame)
                part[:] = one_ply_codes(self.kernel, positions)
            kept = part == 0 if self._omits else np.ones(len(part), dtype=bool)
            if np.count_nonzero(kept) != len(codes):
                raise self.source.damage(f"tier {record.tier}, frame {frame} was made by other rules")
            part[kept] = codes
        if checksum(block) != record.checksums[number]:
            raise self.source.damage(f"tier {record.tier}, block {number} has a wrong checksum")
        return block

    def _cached(self, record: Record, frame: int) -> Any:
        """Return an unpacked frame from the cache of the most recent ones."""
        name = (_kind(record), record.tier, frame)
        with self.lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        unpacked = self._unpack(record, frame)
        with self.lock:
            self._cache[name] = unpacked
            while len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return unpacked

    def _unpack(self, record: Record, frame: int) -> Any:
        """Unpack a frame: of values as `ValueFrames.unpack` does, of keys as an array."""
        ends, checksums = self._frame_index(record)[:2]
        frames = self.source.entries[number_key(_kind(record), record.tier)]
        packed = frames[int(ends[frame - 1]) if frame else 0 : int(ends[frame])]
        if checksum(packed) != checksums[frame]:
            raise self.source.damage(f"tier {record.tier}, frame {frame} has a wrong checksum")
        slots = min(self.frame_slots, record.size - frame * self.frame_slots)
        try:
            if isinstance(record, TierRecord):
                return ValueFrames(record).unpack(packed, slots)
            return unpack_keys(packed, slots)
        except (ValueError, IndexError, zstandard.ZstdError):  # with a correct checksum, perfectplay did not write it
            raise self.source.damage(f"tier {record.tier}, frame {frame} cannot be unpacked") from None

    def _frame_index(self, record: Record) -> Array:
        """Return the ends and checksums of a tier's frames, and for keys the first key of each, as rows."""
        kind = _kind(record)
        key = number_key(kind.upper(), record.tier)
        if key not in self._indices:
            frames, rows = -(-record.size // self.frame_slots), 2 if isinstance(record, TierRecord) else 3
            data = self.source.entries.get(number_key(kind, record.tier))
            try:
                table = np.frombuffer(unseal(key, self.source.entries[key]), dtype="<u8").reshape(rows, frames)
                ends = [0, *table[0].tolist()]
                if data is None or ends != sorted(ends) or ends[-1] != len(data):
                    raise ValueError
            except (ValueError, KeyError):
                raise self.source.damage(f"the frames of tier {record.tier}, or their index, cannot be read") from None
            self._indices[key] = table
        return self._indices[key]

    def close(self) -> None:
        self._index.close(partial(TableError, f"the table {self.path} is closed"))


def _kind(record: Record) -> bytes:
    return b"c" if isinstance(record, TierRecord) else b"d"


class CompactTable(Table):
    """A compact table. A single probe unpacks one frame; work on a whole tier unpacks the tier into memory."""

    store: CompactStore

    def get(self, position: SupportsIndex, default: Default | None = None) -> Value | Default | None:
        slot = self._find(position)
        code = NO_POSITION_CODE if slot is None else self.store.code_of(slot)
        return default if code == NO_POSITION_CODE else Value.from_code(code)

    def probe_many(self, positions: npt.ArrayLike) -> Codes:
        array = as_positions(positions)
        values = (self.get(int(position)) for position in array.flat)
        codes = np.fromiter((NO_POSITION_CODE if v is None else v.code for v in values), np.uint32, array.size)
        return codes.reshape(array.shape) if self.kernel.scored else codes.reshape(array.shape).astype(np.uint16)

    def probe_few(self, positions: Sequence[int]) -> list[int]:
        codes: list[int] = self.probe_many(positions).tolist()
        return codes

    def _find(self, position: SupportsIndex) -> int | None:
        if self.kernel.ranked:
            return super()._find(position)
        self._require_open()
        number = index(position)
        if not self.kernel.valid(number):
            return None
        key = self.kernel.canonicalize(number)
        tier = self.kernel.tier(key)
        place = self.store.find(tier, key)
        return None if place is None else slot_of(tier, place)

    def _define_keys(self) -> None:
        """Do nothing: keys are looked up in their frames."""
