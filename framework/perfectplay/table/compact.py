"""Compact tables: a finished table compressed to a fraction of its size, with exact probes.

Values are split into frames. A frame omits every value that follows from the rules: finished positions, wins in one
move, slots without a position, and positions whose moves all lead to one of these. For a game in C it is cheap to
compute them again. The remaining codes of a tier are numbered, so that one byte is usually enough for each, and
compressed with zstd. The table also stores how many codes are kept in each run of slots, so a probe has to evaluate at
most half a run to find its code. Frames and runs are shorter in a tier that keeps more of its codes (see `Layout`),
because a probe has to unpack one frame.

Keys are split into frames of 2**11 and stored as differences, also compressed with zstd. Similar differences occur all
over a tier, so the frames of a large tier share a dictionary, which zstd trains with a sample of them. With it, a short
frame is compressed as well as a long one without, and it is unpacked four times as fast.

In addition to `meta`, `K` and `T` (records.py), a compact table has these entries:

    c tier                 frames of values, compressed; then the counts of kept codes per run, compressed
    C tier                 a record, see `FrameIndex`
    d tier                 frames of keys, compressed; then the dictionary, compressed
    D tier                 a record, see `FrameIndex`
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import index
from typing import Any, Generic, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.errors import TableError
from perfectplay.table.lmdb_reader import TableFile, TableReader
from perfectplay.table.records import KeyRecord, TierRecord, checksum, number_key, unseal
from perfectplay.table.store import Array, Block
from perfectplay.table.table import Table, as_positions
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.compact import count_kept, pack_keys, unpack_keys
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_code, one_ply_codes
from perfectplay_native.values import Codes

FORM = 5
"""Version of the compact form. Tables of other forms are refused."""

LEVEL = 15
"""Compression level of zstd. 18 takes twice the time and saves 1 %."""

CACHED_FRAMES = 256

CODES_PER_FRAME, CODES_PER_RUN, SMALLEST_RUN = 1 << 13, 64, 64
KEYS_PER_FRAME = 1 << 11

Default = TypeVar("Default")
Record = TierRecord | KeyRecord
AnyRecord = TypeVar("AnyRecord", TierRecord, KeyRecord)


# ---- frames ----


@dataclass(frozen=True, slots=True)
class Layout:
    """How the slots of a tier are split: into frames, and these into runs. All sizes are powers of two."""

    frame_slots: int = 1 << 16
    run_slots: int = 1 << 9

    def for_values(self, record: TierRecord, *, omits: bool) -> Layout:
        """Return the layout for the values of a tier, with frames and runs up to the sizes of this one.

        A frame has about 2**13 codes, which take 20 µs to unpack, and a run about 48. Codes with a remoteness of at
        most 2 are usually omitted, so they are not counted.
        """
        if not omits:
            frame_slots = min(self.frame_slots, CODES_PER_FRAME)
            return Layout(frame_slots, frame_slots)
        kept = sum(count for code, count in record.counts.items() if code == 0 or (code >> 2 & 0x3FFF) > 2)
        return Layout(
            _halve(self.frame_slots, lambda slots: slots * kept <= CODES_PER_FRAME * record.size),
            _halve(self.run_slots, lambda slots: slots * kept <= CODES_PER_RUN * record.size),
        )

    def for_keys(self) -> Layout:
        frame_slots = min(self.frame_slots, KEYS_PER_FRAME)
        return Layout(frame_slots, frame_slots)


def _halve(slots: int, is_small: Callable[[int], bool]) -> int:
    """Halve a number of slots until it is small, or that of the smallest run."""
    while slots > SMALLEST_RUN and not is_small(slots):
        slots //= 2
    return slots


class _Contexts(threading.local):
    """The zstd contexts of a thread. Creating one takes longer than unpacking a frame."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(level=LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_contexts = _Contexts()


class ValueFrames:
    """Packs and unpacks the values of one tier."""

    def __init__(self, record: TierRecord, layout: Layout) -> None:
        self.layout = layout
        self.codes = np.array(sorted(record.counts), dtype=f"<u{record.width}")
        self.number_type = np.min_scalar_type(len(self.codes)).newbyteorder("<")

    def pack(self, codes: Array, kept: npt.NDArray[np.bool_]) -> tuple[bytes, Array]:
        """Return the kept codes of a frame, packed, and their number in each run."""
        counts = np.add.reduceat(kept, np.arange(0, len(codes), self.layout.run_slots), dtype="<u2")
        numbers = np.searchsorted(self.codes, codes[kept]).astype(self.number_type)
        return _contexts.compressor.compress(numbers.tobytes()), counts

    def unpack(self, data: bytes | Block) -> Array:
        """Return the kept codes of a frame as indices of `codes`."""
        return np.frombuffer(_contexts.decompressor.decompress(data), dtype=self.number_type)


def pack_counts(counts: Array) -> bytes:
    """Pack the numbers of kept codes of all runs: all low bytes, then all high bytes."""
    packed: bytes = _contexts.compressor.compress(counts.astype("<u2").view(np.uint8).reshape(-1, 2).T.tobytes())
    return packed


def unpack_counts(data: bytes | Block) -> Array:
    planes = np.frombuffer(zstandard.decompress(data), dtype=np.uint8).reshape(2, -1)
    return np.ascontiguousarray(planes.T).view("<u2").ravel()


class KeyFrames:
    """Packs and unpacks the keys of one tier. Threads may share it, because each gets its own zstd contexts."""

    def __init__(self, dictionary: bytes = b"") -> None:
        """`dictionary` is one that zstd has trained, or empty."""
        self._dictionary = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
        self._local = threading.local()

    def pack(self, keys: Array) -> bytes:
        """Pack sorted keys, without the first one."""
        if not hasattr(self._local, "compressor"):
            self._local.compressor = zstandard.ZstdCompressor(
                level=LEVEL, dict_data=self._dictionary, write_dict_id=False
            )
        packed: bytes = self._local.compressor.compress(pack_keys(keys))
        return packed

    def unpack(self, data: bytes | Block, first: int, count: int) -> Array:
        """Return the keys, given the first one and their number. Raises ValueError or ZstdError for other data."""
        if not hasattr(self._local, "decompressor"):
            self._local.decompressor = zstandard.ZstdDecompressor(dict_data=self._dictionary)
        return unpack_keys(self._local.decompressor.decompress(data), first, count)


@dataclass(frozen=True, slots=True)
class FrameIndex:
    """Where the frames of a tier are, and their checksums. It is stored as numbers of 8 bytes, in this order."""

    layout: Layout
    trailer_checksum: int
    """Of the data behind the last frame: the counts of the runs, or the dictionary of keys."""
    ends: Array
    checksums: Array
    first_keys: Array
    """The first key of each frame; empty for values."""

    def to_bytes(self) -> bytes:
        head = np.array([self.layout.frame_slots, self.layout.run_slots, self.trailer_checksum], dtype=np.uint64)
        return b"".join(part.astype("<u8").tobytes() for part in (head, self.ends, self.checksums, self.first_keys))

    @classmethod
    def read(cls, data: bytes | Block, record: Record, size: int) -> FrameIndex:
        """Read the index of a tier whose data take `size` bytes. Raises ValueError if it is impossible."""
        numbers: Array = np.frombuffer(data, dtype="<u8")
        if len(numbers) < 3:
            raise ValueError("it is too short")
        frame_slots, run_slots, trailer_checksum = numbers[:3].tolist()
        if not (0 < run_slots <= frame_slots <= BLOCK_SLOTS) or frame_slots % run_slots or BLOCK_SLOTS % frame_slots:
            raise ValueError("its frames have an impossible size")
        rows = numbers[3:].reshape(2 if isinstance(record, TierRecord) else 3, -(-record.size // frame_slots))
        ends = [0, *rows[0].tolist(), size]
        if ends != sorted(ends):
            raise ValueError("its frames have impossible ends")
        first_keys = rows[0, :0] if isinstance(record, TierRecord) else rows[2]
        return cls(Layout(frame_slots, run_slots), trailer_checksum, rows[0], rows[1], first_keys)

    def frame(self, number: int) -> slice:
        """Return the place of a frame."""
        return slice(int(self.ends[number - 1]) if number else 0, int(self.ends[number]))

    @property
    def trailer(self) -> slice:
        return slice(int(self.ends[-1]) if len(self.ends) else 0, None)


# ---- reading ----


class PackedTier(ABC, Generic[AnyRecord]):
    """The frames of a tier's values or keys in an open table."""

    kind: bytes

    def __init__(self, source: TableFile, record: AnyRecord) -> None:
        """Read the index of the frames. Raises TableError if it is damaged."""
        self.source = source
        self.record: AnyRecord = record
        key = number_key(self.kind.upper(), record.tier)
        try:
            self.data = source.entries[number_key(self.kind, record.tier)]
            self.index = FrameIndex.read(unseal(key, source.entries[key]), record, len(self.data))
        except (ValueError, KeyError):
            raise source.damage(f"the frames of tier {record.tier}, or their index, cannot be read") from None
        self.layout = self.index.layout

    def packed(self, frame: int) -> Block:
        """Return a packed frame, whose checksum is correct."""
        packed = self.data[self.index.frame(frame)]
        if checksum(packed) != self.index.checksums[frame]:
            raise self.source.damage(f"tier {self.record.tier}, frame {frame} has a wrong checksum")
        return packed

    def trailer(self) -> Block:
        """Return the data behind the frames, whose checksum is correct."""
        trailer = self.data[self.index.trailer]
        if checksum(trailer) != self.index.trailer_checksum:
            raise self.source.damage(f"the data behind the frames of tier {self.record.tier} have a wrong checksum")
        return trailer

    def check(self) -> None:
        """Raise TableError unless all frames and the data behind them have the right checksums."""
        for frame in range(len(self.index.ends)):
            self.packed(frame)
        self.trailer()

    def unpack(self, frame: int) -> Array:
        """Return the contents of a frame."""
        packed = self.packed(frame)
        try:
            return self._unpack(packed, frame)
        except (ValueError, zstandard.ZstdError):  # with a correct checksum, perfectplay did not write it
            raise self.source.damage(f"tier {self.record.tier}, frame {frame} cannot be unpacked") from None

    @abstractmethod
    def _unpack(self, packed: Block, frame: int) -> Array: ...


class PackedValues(PackedTier[TierRecord]):
    """The packed values of a tier. A frame is unpacked to numbers of kept codes."""

    kind = b"c"

    def __init__(self, source: TableFile, record: TierRecord) -> None:
        super().__init__(source, record)
        self.frames = ValueFrames(record, self.layout)
        self.codes = self.frames.codes

    def _unpack(self, packed: Block, frame: int) -> Array:
        return self.frames.unpack(packed)

    def code(self, number: int) -> int:
        """Return the code with a number."""
        if number >= len(self.codes):
            raise self.source.damage(f"tier {self.record.tier} has a code with an impossible number")
        return int(self.codes[number])

    @cached_property
    def _counts(self) -> Array:
        """The number of kept codes in each run of the tier."""
        try:
            counts = unpack_counts(self.trailer())
            if len(counts) == -(-self.record.size // self.layout.run_slots):
                return counts
        except (ValueError, zstandard.ZstdError):
            pass
        raise self.source.damage(f"the counts of tier {self.record.tier} cannot be unpacked")

    def run_counts(self, frame: int) -> Array:
        """Return the number of kept codes in each run of a frame."""
        runs = self.layout.frame_slots // self.layout.run_slots
        return self._counts[frame * runs : (frame + 1) * runs]


class PackedKeys(PackedTier[KeyRecord]):
    """The packed keys of a tier. A frame is unpacked to keys."""

    kind = b"d"

    @cached_property
    def _frames(self) -> KeyFrames:
        dictionary = self.trailer()
        return KeyFrames(zstandard.decompress(dictionary) if dictionary else b"")

    def _unpack(self, packed: Block, frame: int) -> Array:
        slots = min(self.layout.frame_slots, self.record.size - frame * self.layout.frame_slots)
        return self._frames.unpack(packed, int(self.index.first_keys[frame]), slots)


class CompactStore(TableReader):
    """A compact table on disk. It unpacks one frame for a single value, or whole tiers into memory."""

    def __init__(self, reader: TableReader, kernel: Kernel) -> None:
        """Continue with the file that `reader` has opened: by now another table may have replaced it."""
        super().__init__(reader.path, source=reader.source)
        form = self.info.storage.get("form")
        if form != FORM:
            raise TableError(
                f"the table in {self.path} has compact form {form}, but this version of perfectplay reads form {FORM}: "
                "solve again with --force"
            )
        self.kernel = kernel
        self._omits = bool(self.info.storage.get("drops_settled"))
        """Whether frames omit the values that follow from the rules."""
        self._cache: OrderedDict[tuple[bytes, int, int], Array] = OrderedDict()
        self._values: dict[int, PackedValues] = {}
        self._keys: dict[int, PackedKeys] = {}
        self._index = Engine(kernel, tiers=max([*self.source.tiers, 0]) + 1)
        """Converts slots to positions; it contains no values."""
        if kernel.ranked:
            for tier, record in self.source.tiers.items():
                self._index.define(tier, record.size)

    def code_of(self, slot: int, position: int) -> int:
        """Return the code of one slot, which holds this position."""
        tier, place = tier_of_slot(slot), index_of_slot(slot)
        values = self._packed_values(tier)
        layout = values.layout
        frame, offset = divmod(place, layout.frame_slots)
        if not self._omits:
            return values.code(self._cached(values, frame)[offset])
        if code := one_ply_code(self.kernel, position):
            return code
        numbers, counts = self._cached(values, frame), values.run_counts(frame)
        run, before = divmod(offset, layout.run_slots)
        after = min(layout.run_slots - before, values.record.size - place) - 1
        start = int(counts[:run].sum())
        end = start + int(counts[run])
        if before <= after:  # count the kept codes from the nearer end of the run
            number = start + self._count_kept(tier, place - before, before)
        else:
            number = end - 1 - self._count_kept(tier, place + 1, after)
        if not start <= number < end <= len(numbers):
            raise self.source.damage(f"tier {tier}, frame {frame} was made by other rules")
        return values.code(numbers[number])

    def _count_kept(self, tier: int, first: int, count: int) -> int:
        """Count the kept codes of consecutive slots in one run."""
        if not count:  # `first` may be beyond the tier
            return 0
        positions = None if self.kernel.ranked else self._keys_from(tier, first, count)
        return count_kept(self._index, tier, first, count, positions)

    def _positions(self, tier: int, first: int, count: int) -> Array:
        """Return the positions of consecutive slots."""
        return self._index.positions(tier, first, count) if self.kernel.ranked else self._keys_from(tier, first, count)

    def _keys_from(self, tier: int, first: int, count: int) -> Array:
        """Return consecutive keys of a tier."""
        keys, parts = self._packed_keys(tier), []
        while count > 0:
            frame, offset = divmod(first, keys.layout.frame_slots)
            part = self._cached(keys, frame)[offset : offset + count]
            parts.append(part)
            first, count = first + len(part), count - len(part)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def find(self, tier: int, key: int) -> int | None:
        """Return the index of a canonical position among the keys of its tier."""
        if tier not in self.source.keys or tier not in self.source.tiers:
            return None
        keys, number = self._packed_keys(tier), np.uint64(key)
        frame = int(keys.index.first_keys.searchsorted(number, side="right")) - 1
        if frame < 0:
            return None
        members = self._cached(keys, frame)
        place = int(members.searchsorted(number))
        return frame * keys.layout.frame_slots + place if place < len(members) and members[place] == number else None

    def value_blocks(self, record: TierRecord) -> list[Block]:
        """Unpack a whole tier into memory and check its checksums."""
        return [self.unpack_block(record, number).data for number in range(len(record.checksums))]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        return [self.unpack_block(record, number).data for number in range(len(record.checksums))]

    def is_intact(self, record: Record) -> bool:
        try:
            self.check_frames(record)
            for number in range(len(record.checksums)):  # one at a time, because a tier may not fit in memory
                self.unpack_block(record, number)
        except TableError:
            return False
        return True

    def has_intact_frames(self, record: Record) -> bool:
        """Return whether the frames of a tier have the right checksums, without unpacking them."""
        try:
            self.check_frames(record)
        except TableError:
            return False
        return True

    def unpack_block(self, record: Record, number: int) -> Array:
        """Unpack a block and check its checksum. Threads may call it concurrently. Raises TableError for damage."""
        first = number * BLOCK_SLOTS
        slots = min(BLOCK_SLOTS, record.size - first)
        if isinstance(record, KeyRecord):
            block = self._keys_from(record.tier, first, slots)
        else:
            block = self._values_from(record, first, slots)
        if checksum(block) != record.checksums[number]:
            raise self.source.damage(f"tier {record.tier}, block {number} has a wrong checksum")
        return block

    def _values_from(self, record: TierRecord, first: int, count: int) -> Array:
        """Return consecutive values of a tier, which begin with a frame."""
        block: Array = np.empty(count, dtype=record.dtype)
        values = self._packed_values(record.tier)
        if first == 0:
            values.trailer()  # only single probes use it, but `verify` must notice all damage
        frame_slots = values.layout.frame_slots
        for offset in range(0, count, frame_slots):
            part, frame = block[offset : offset + frame_slots], (first + offset) // frame_slots
            numbers = values.unpack(frame)
            if self._omits:
                part[:] = one_ply_codes(self.kernel, self._positions(record.tier, first + offset, len(part)))
            kept = part == 0 if self._omits else np.ones(len(part), dtype=bool)
            if np.count_nonzero(kept) != len(numbers):
                raise self.source.damage(f"tier {record.tier}, frame {frame} was made by other rules")
            try:
                part[kept] = values.codes[numbers]
            except IndexError:
                raise self.source.damage(f"tier {record.tier} has a code with an impossible number") from None
        return block

    def check_frames(self, record: Record) -> None:
        """Raise TableError unless all frames of a tier, and the data behind them, have the right checksums."""
        if isinstance(record, KeyRecord):
            self._packed_keys(record.tier).check()
        else:
            self._packed_values(record.tier).check()

    def _packed_values(self, tier: int) -> PackedValues:
        if tier not in self._values:
            self._values[tier] = PackedValues(self.source, self.source.tiers[tier])
        return self._values[tier]

    def _packed_keys(self, tier: int) -> PackedKeys:
        if tier not in self._keys:
            if tier not in self.source.keys:  # it was damaged, and the table is being repaired
                raise self.source.damage(f"the keys of tier {tier} are missing")
            self._keys[tier] = PackedKeys(self.source, self.source.keys[tier])
        return self._keys[tier]

    def _cached(self, packed: PackedTier[Any], frame: int) -> Array:
        """Return an unpacked frame from the cache of the most recent ones."""
        name = (packed.kind, packed.record.tier, frame)
        with self.lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        unpacked = packed.unpack(frame)
        with self.lock:
            self._cache[name] = unpacked
            while len(self._cache) > CACHED_FRAMES:
                self._cache.popitem(last=False)
        return unpacked

    def drop_cache(self) -> None:
        """Forget all unpacked frames."""
        with self.lock:
            self._cache.clear()

    def close(self) -> None:
        self._index.close(partial(TableError, f"the table {self.path} is closed"))


class CompactTable(Table):
    """A compact table. A single probe unpacks one frame; work on a whole tier unpacks the tier into memory."""

    store: CompactStore

    def get(self, position: SupportsIndex, default: Default | None = None) -> Value | Default | None:
        slot = self._find(position)
        code = NO_POSITION_CODE if slot is None else self.store.code_of(slot, index(position))
        return default if code == NO_POSITION_CODE else Value.from_code(code)

    def probe_many(self, positions: npt.ArrayLike) -> Codes:
        array = as_positions(positions)
        values = (self.get(int(position)) for position in array.flat)
        codes = np.fromiter((NO_POSITION_CODE if v is None else v.code for v in values), np.uint32, array.size)
        return codes.reshape(array.shape) if self.kernel.scored else codes.reshape(array.shape).astype(np.uint16)

    def probe_few(self, positions: Sequence[int]) -> list[int]:
        values = map(self.get, positions)
        return [NO_POSITION_CODE if value is None else value.code for value in values]

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
