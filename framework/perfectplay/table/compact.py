"""Compact tables: a finished table compressed to a fraction of its size, with exact probes.

Values are split into frames. A frame omits every value that follows from the rules: finished positions, wins in one
move, slots without a position, and positions whose moves all lead to one of these. For a game in C it is cheap to
compute them again. The remaining codes of a tier are numbered, so that one byte is usually enough for each, and
compressed with zstd. The table also stores how many codes are kept in each run of slots, so a probe has to evaluate at
most half a run to find its code. Frames and runs are shorter in a tier that keeps more of its codes (see `Layout`),
because a probe has to unpack one frame.

Keys are split into frames of 2**13 and stored as differences, also compressed with zstd. Similar differences occur all
over a tier, so the frames of a large tier share a dictionary, which consists of the raw contents of a few of them.

In addition to `meta`, `K` and `T` (records.py), a compact table has these entries:

    c tier                 frames of values, compressed; then the counts of kept codes per run, compressed
    C tier                 a record, see `FrameIndex`
    d tier                 frames of keys, compressed; then the dictionary, compressed
    D tier                 a record, see `FrameIndex`
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import index
from typing import Any, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt
import zstandard

from perfectplay.errors import TableError
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.records import KeyRecord, TierRecord, blocks_of, checksum, number_key, unseal
from perfectplay.table.store import Array, Block
from perfectplay.table.table import Table, as_positions
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.compact import pack_keys, unpack_keys
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import one_ply_codes
from perfectplay_native.values import Codes

FORM = 4
"""Version of the compact form. Tables of other forms are refused."""

LEVEL = 15
"""Compression level of zstd. 18 takes twice the time and saves 1 %."""

CACHED_FRAMES = 256

CODES_PER_FRAME, CODES_PER_RUN, SMALLEST_RUN = 1 << 13, 64, 64

Default = TypeVar("Default")
Record = TierRecord | KeyRecord


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
        return Layout(min(self.frame_slots, CODES_PER_FRAME), self.run_slots)


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

    def __init__(self, layout: Layout, dictionary: bytes = b"") -> None:
        """`dictionary` is the raw contents of typical frames, or empty."""
        self.layout = layout
        self._dictionary = None
        if dictionary:
            self._dictionary = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        self._local = threading.local()

    def raw(self, keys: Array) -> bytes:
        """Return a frame before compression: the ends of the runs, their first keys, and the runs as differences."""
        runs = blocks_of(keys, length=self.layout.run_slots)
        packed = [pack_keys(run) for run in runs]
        ends = np.cumsum([len(run) for run in packed], dtype="<u4")
        first = np.array([run[0] - keys[0] for run in runs], dtype="<u8")
        return b"".join([ends.tobytes(), first.tobytes(), *packed])

    def pack(self, keys: Array) -> bytes:
        """Pack sorted keys, without the first one."""
        if not hasattr(self._local, "compressor"):
            self._local.compressor = zstandard.ZstdCompressor(level=LEVEL, dict_data=self._dictionary)
        packed: bytes = self._local.compressor.compress(self.raw(keys))
        return packed

    def unpack(self, data: bytes | Block, first: int, count: int) -> KeyFrame:
        """Return the keys, given the first one and their number."""
        if not hasattr(self._local, "decompressor"):
            self._local.decompressor = zstandard.ZstdDecompressor(dict_data=self._dictionary)
        return KeyFrame(self._local.decompressor.decompress(data), first, count, self.layout.run_slots)


class KeyFrame:
    """The keys of a frame. Runs are unpacked one at a time, because a probe needs only one of them."""

    def __init__(self, raw: bytes, first: int, count: int, run_slots: int) -> None:
        self.count, self.run_slots = count, run_slots
        runs = -(-count // run_slots)
        self._ends = [0, *np.frombuffer(raw, dtype="<u4", count=runs).tolist()]
        self._first = np.frombuffer(raw, dtype="<u8", count=runs, offset=4 * runs) + np.uint64(first)
        self._runs = memoryview(raw)[12 * runs :]
        if self._ends != sorted(self._ends) or self._ends[-1] != len(self._runs):
            raise ValueError("the runs of keys have impossible sizes")
        self._latest: tuple[int, Array] = (-1, np.empty(0, dtype=np.uint64))

    def run(self, number: int) -> Array:
        """Return the keys of a run. Raises ValueError if it cannot be unpacked."""
        latest, keys = self._latest
        if latest != number:
            length = min(self.run_slots, self.count - number * self.run_slots)
            packed = self._runs[self._ends[number] : self._ends[number + 1]]
            keys = unpack_keys(packed, int(self._first[number]), length)
            self._latest = (number, keys)
        return keys

    def find(self, key: int) -> int | None:
        """Return the index of a key, None if it is missing."""
        number = int(self._first.searchsorted(np.uint64(key), side="right")) - 1
        if number < 0:
            return None
        run = self.run(number)
        place = int(run.searchsorted(np.uint64(key)))
        return number * self.run_slots + place if place < len(run) and run[place] == key else None


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
        self._cache: OrderedDict[tuple[bytes, int, int], Any] = OrderedDict()
        self._indices: dict[bytes, FrameIndex] = {}
        self._values: dict[int, ValueFrames] = {}
        self._counts: dict[int, Array] = {}
        self._keys: dict[int, KeyFrames] = {}
        self._index = Engine(kernel, tiers=max([*self.source.tiers, 0]) + 1)
        """Converts slots to positions; it contains no values."""
        if kernel.ranked:
            for tier, record in self.source.tiers.items():
                self._index.define(tier, record.size)

    def code_of(self, slot: int) -> int:
        """Return the code of one slot."""
        tier, place = tier_of_slot(slot), index_of_slot(slot)
        record = self.source.tiers[tier]
        layout = self._frame_index(record).layout
        frame, offset = divmod(place, layout.frame_slots)
        if not self._omits:
            return self._code(record, self._cached(record, frame)[offset])
        if code := one_ply_codes(self.kernel, self._positions(tier, place, 1))[0]:
            return int(code)
        numbers, counts = self._cached(record, frame), self._run_counts(record, frame)
        run, before = divmod(offset, layout.run_slots)
        after = min(layout.run_slots - before, record.size - place) - 1
        start = int(counts[:run].sum())
        end = start + int(counts[run])
        if before <= after:  # count the kept codes from the nearer end of the run
            number = start + self._count_kept(tier, place - before, before)
        else:
            number = end - 1 - self._count_kept(tier, place + 1, after)
        if not start <= number < end <= len(numbers):
            raise self.source.damage(f"tier {tier}, frame {frame} was made by other rules")
        return self._code(record, numbers[number])

    def _code(self, record: TierRecord, number: int) -> int:
        """Return the code with a number in a tier."""
        codes = self._value_frames(record).codes
        if number >= len(codes):
            raise self.source.damage(f"tier {record.tier} has a code with an impossible number")
        return int(codes[number])

    def _count_kept(self, tier: int, first: int, count: int) -> int:
        """Count the kept codes of consecutive slots in one run."""
        if not count:  # `first` may be beyond the tier
            return 0
        return int(np.count_nonzero(one_ply_codes(self.kernel, self._positions(tier, first, count)) == 0))

    def _positions(self, tier: int, first: int, count: int) -> Array:
        """Return the positions of consecutive slots."""
        return self._index.positions(tier, first, count) if self.kernel.ranked else self._keys_from(tier, first, count)

    def _keys_from(self, tier: int, first: int, count: int) -> Array:
        """Return consecutive keys of a tier."""
        record, parts = self._key_record(tier), []
        layout = self._frame_index(record).layout
        while count > 0:
            frame, offset = divmod(first, layout.frame_slots)
            number, start = divmod(offset, layout.run_slots)
            part = self._key_run(record, frame, number)[start : start + count]
            parts.append(part)
            first, count = first + len(part), count - len(part)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _key_run(self, record: KeyRecord, frame: int, number: int) -> Array:
        try:
            keys: Array = self._cached(record, frame).run(number)
            return keys
        except ValueError:  # with a correct checksum, perfectplay did not write it
            raise self.source.damage(f"tier {record.tier}, frame {frame} cannot be unpacked") from None

    def find(self, tier: int, key: int) -> int | None:
        """Return the index of a canonical position among the keys of its tier."""
        record = self.source.keys.get(tier)
        if record is None or tier not in self.source.tiers:
            return None
        frames = self._frame_index(record)
        frame = int(frames.first_keys.searchsorted(np.uint64(key), side="right")) - 1
        if frame < 0:
            return None
        try:
            place = self._cached(record, frame).find(key)
        except ValueError:
            raise self.source.damage(f"tier {record.tier}, frame {frame} cannot be unpacked") from None
        return None if place is None else frame * frames.layout.frame_slots + int(place)

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
        if number == 0:
            self._trailer(record)  # only single probes use it, but `verify` must notice all damage
        first = number * BLOCK_SLOTS
        dtype = record.dtype if isinstance(record, TierRecord) else np.dtype("<u8")
        block: Array = np.empty(min(BLOCK_SLOTS, record.size - first), dtype=dtype)
        frame_slots = self._frame_index(record).layout.frame_slots
        for offset in range(0, len(block), frame_slots):
            part, frame = block[offset : offset + frame_slots], (first + offset) // frame_slots
            if isinstance(record, KeyRecord):
                part[:] = self._keys_from(record.tier, first + offset, len(part))
                continue
            numbers = self._unpack(record, frame)
            if self._omits:
                part[:] = one_ply_codes(self.kernel, self._positions(record.tier, first + offset, len(part)))
            kept = part == 0 if self._omits else np.ones(len(part), dtype=bool)
            if np.count_nonzero(kept) != len(numbers):
                raise self.source.damage(f"tier {record.tier}, frame {frame} was made by other rules")
            try:
                part[kept] = self._value_frames(record).codes[numbers]
            except IndexError:
                raise self.source.damage(f"tier {record.tier} has a code with an impossible number") from None
        if checksum(block) != record.checksums[number]:
            raise self.source.damage(f"tier {record.tier}, block {number} has a wrong checksum")
        return block

    def check_frames(self, record: Record) -> None:
        """Raise TableError unless all frames of a tier, and the data behind them, have the right checksums."""
        for frame in range(len(self._frame_index(record).ends)):
            self._packed(record, frame)
        self._trailer(record)

    def _key_record(self, tier: int) -> KeyRecord:
        if tier not in self.source.keys:  # it was damaged, and the table is being repaired
            raise self.source.damage(f"the keys of tier {tier} are missing")
        return self.source.keys[tier]

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

    def drop_cache(self) -> None:
        """Forget all unpacked frames."""
        with self.lock:
            self._cache.clear()

    def _packed(self, record: Record, frame: int) -> Block:
        """Return a packed frame, whose checksum is correct."""
        frames = self._frame_index(record)
        packed = self._data(record)[frames.frame(frame)]
        if checksum(packed) != frames.checksums[frame]:
            raise self.source.damage(f"tier {record.tier}, frame {frame} has a wrong checksum")
        return packed

    def _unpack(self, record: Record, frame: int) -> Any:
        """Unpack a frame, as `ValueFrames` or `KeyFrames` do."""
        packed, frames = self._packed(record, frame), self._frame_index(record)
        try:
            if isinstance(record, TierRecord):
                return self._value_frames(record).unpack(packed)
            slots = min(frames.layout.frame_slots, record.size - frame * frames.layout.frame_slots)
            return self._key_frames(record).unpack(packed, int(frames.first_keys[frame]), slots)
        except (ValueError, zstandard.ZstdError):  # with a correct checksum, perfectplay did not write it
            raise self.source.damage(f"tier {record.tier}, frame {frame} cannot be unpacked") from None

    def _value_frames(self, record: TierRecord) -> ValueFrames:
        if record.tier not in self._values:
            self._values[record.tier] = ValueFrames(record, self._frame_index(record).layout)
        return self._values[record.tier]

    def _key_frames(self, record: KeyRecord) -> KeyFrames:
        if record.tier not in self._keys:
            dictionary = self._trailer(record)
            self._keys[record.tier] = KeyFrames(
                self._frame_index(record).layout, zstandard.decompress(dictionary) if dictionary else b""
            )
        return self._keys[record.tier]

    def _run_counts(self, record: TierRecord, frame: int) -> Array:
        """Return the number of kept codes in each run of a frame."""
        layout = self._frame_index(record).layout
        if record.tier not in self._counts:
            try:
                counts = unpack_counts(self._trailer(record))
                if len(counts) != -(-record.size // layout.run_slots):
                    raise ValueError
            except (ValueError, zstandard.ZstdError):
                raise self.source.damage(f"the counts of tier {record.tier} cannot be unpacked") from None
            self._counts[record.tier] = counts
        runs = layout.frame_slots // layout.run_slots
        return self._counts[record.tier][frame * runs : (frame + 1) * runs]

    def _trailer(self, record: Record) -> Block:
        """Return the data behind the frames of a tier, whose checksum is correct."""
        frames = self._frame_index(record)
        trailer = self._data(record)[frames.trailer]
        if checksum(trailer) != frames.trailer_checksum:
            raise self.source.damage(f"the data behind the frames of tier {record.tier} have a wrong checksum")
        return trailer

    def _data(self, record: Record) -> Block:
        return self.source.entries[number_key(_kind(record), record.tier)]

    def _frame_index(self, record: Record) -> FrameIndex:
        """Return the index of a tier's frames."""
        kind = _kind(record)
        key = number_key(kind.upper(), record.tier)
        if key not in self._indices:
            data = self.source.entries.get(number_key(kind, record.tier))
            try:
                if data is None:
                    raise ValueError
                self._indices[key] = FrameIndex.read(unseal(key, self.source.entries[key]), record, len(data))
            except (ValueError, KeyError):
                raise self.source.damage(f"the frames of tier {record.tier}, or their index, cannot be read") from None
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
