"""A solved table: the values of a game's positions, and what can be asked of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from operator import index
from types import TracebackType
from typing import Any, NoReturn, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from perfectplay.errors import NotInTable, TableError, UsageError
from perfectplay.game.game import Game
from perfectplay.game.hooks import as_int
from perfectplay.table.compact import CompactStore
from perfectplay.table.locations import solve_command
from perfectplay.table.records import Statistics, TableInfo, TierRecord, block_lengths
from perfectplay.table.store import Block, Store
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import INDEX_BITS, NO_POSITION
from perfectplay_native.values import Codes, unpack_outcomes

Default = TypeVar("Default")

_FEW = 1000
"""Up to so many numbers, such as a position's children, are told apart faster by a set than by numpy."""


class Table:
    """The values of a game's positions. A context manager; safe to read from several threads."""

    def __init__(
        self, game: Game, store: Store, kernel: Kernel, *, engine: Engine | None = None, memory: int | None = None
    ) -> None:
        """With `memory`, an index that takes more bytes lies in files without names, where the store has its own."""
        self.game = game
        self.store = store
        self.kernel = kernel
        self._lock = threading.Lock()
        self._closed = False
        self._when_closed = f"the table of {game.identity} is closed"
        self.records = store.tier_records()
        self.keys = store.key_records()
        self._defined: set[int] = set()
        self._at_hand: set[int] = set(self.records) if engine is not None else set()
        tiers = max([*self.records, *self.keys, kernel.tier_count - 1 if kernel.ranked else 0]) + 1
        self.engine = engine or Engine(kernel, tiers=tiers)
        if engine is None:
            try:
                if memory is not None and store.path is not None and os.access(store.path, os.W_OK):
                    self.engine.set_memory(memory, os.fspath(store.path))
                self._define_keys()
            except BaseException:  # a damaged table must not stay open
                self.close()
                raise

    def _define_keys(self) -> None:
        """Have the index of an enumerated game at hand."""
        for tier, record in self.keys.items():
            self.engine.define(tier, record.size, self.store.key_blocks(record))
            self._defined.add(tier)

    # ---- asking ----

    def probe(self, position: SupportsIndex) -> Value:
        """The value of a position, for the side to move.

        Raises NotInTable where the table has none: the position cannot be reached from the start, its tier is not
        solved yet, or it is not a position of the game at all.
        """
        position = index(position)
        value = self.get(position)
        if value is None:
            if not self.kernel.valid(position):
                reason = "it is not a position of the game"
            else:
                reason = "it cannot be reached from the start" if self.complete else self.unfinished()
            raise NotInTable(f"position {position} is not in the table of {self.game.name}: {reason}")
        return value

    def unfinished(self) -> str:
        """In words: how far an unfinished table is, and what resumes it."""
        tiers = self.kernel.tier_count if self.kernel.ranked else len(self.keys)
        return f"its tier is not solved yet, {len(self.records)} of {tiers} are; `{self.resume_command}` resumes"

    @property
    def resume_command(self) -> str:
        """The command that resumes an unfinished table."""
        return solve_command(self.game, self.store.path, backend=self.store.backend, values=self.info.values)

    def require_complete(self) -> None:
        """TableError, with the command that resumes it, where the table is not finished."""
        if not self.complete:
            raise TableError(
                f"the table of {self.game.identity} is not finished: resume it with `{self.resume_command}`"
            )

    def get(self, position: SupportsIndex, default: Default | None = None) -> Value | Default | None:
        """The value of a position, or `default` where the table has none."""
        slot = self._find(position)
        if slot is None or not self._attach(tier_of_slot(slot)):
            return default
        code = self.engine.value_of_slot(slot)
        return default if code == NO_POSITION_CODE else Value.from_code(code)

    def probe_many(self, positions: npt.ArrayLike) -> Codes:
        """The value codes of many positions at once (`Value.from_code` reads one); 4 where there is no value.

        >>> from perfectplay import load_game, open_table
        >>> with open_table(load_game("gobblet")) as table:
        ...     codes = table.probe_many([0, 74242, 3])  # 3 is not a position
        >>> codes.tolist()
        [55, 39, 4]
        >>> (codes >> 2)[(codes & 3) == 3].tolist()  # plies to the end, of those that are won
        [13, 9]
        """
        self._require_open()
        slots = self.engine.find_many(as_positions(positions))
        if len(self._at_hand) < len(self.records):
            tiers = (slots >> np.uint64(INDEX_BITS)).ravel()
            for tier in np.unique(tiers).tolist() if tiers.size > _FEW else {*tiers.tolist()}:
                self._attach(tier)
        codes = self.engine.values_of_slots(slots)
        return codes if self.scored else codes.astype(np.uint16, copy=False)

    def probe_few(self, positions: Sequence[int]) -> list[int]:
        """The same of a few numbers below 2**64, such as a position's children, without numpy's detours."""
        self._require_open()
        slots = self.engine.find_few(positions)
        if len(self._at_hand) < len(self.records):
            for tier in {slot >> INDEX_BITS for slot in slots} - self._at_hand:
                self._attach(tier)
        return self.engine.values_of_few(slots)

    def slot(self, position: SupportsIndex) -> tuple[int, int] | None:
        """The (tier, index) where a position's value is stored; None where the table has no place for it."""
        slot = self._find(position)
        return None if slot is None else (tier_of_slot(slot), index_of_slot(slot))

    def _find(self, position: SupportsIndex) -> int | None:
        """The slot of a position; None where it is not one, or the table has no place for it."""
        number = index(position)
        self._require_open()
        return self.engine.find(number) if 0 <= number < NO_POSITION else None

    # ---- the whole table ----

    def __len__(self) -> int:
        """How many positions it has solved; one that stands for another with colours swapped counts once."""
        return self.statistics.positions

    def __bool__(self) -> bool:
        return True  # a table without a solved position is a table

    def __contains__(self, position: object) -> bool:
        """Whether the table has a value for this position. Anything may be asked."""
        number = as_int(position)
        return number is not None and self.get(number) is not None

    @property
    def info(self) -> TableInfo:
        return self.store.info

    @property
    def outcomes_only(self) -> bool:
        """Whether it knows who wins, and nothing else: it was solved with `--values outcome`."""
        return self.info.outcomes

    @property
    def scored(self) -> bool:
        """Whether its values have scores."""
        return self.kernel.scored and not self.outcomes_only

    @property
    def complete(self) -> bool:
        """Whether every tier is solved."""
        return self.info.status == "complete"

    @property
    def size_on_disk(self) -> int:
        """The bytes it takes on disk; 0 while it is only in memory."""
        return self.store.size_on_disk

    @property
    def statistics(self) -> Statistics:
        """Counts over all positions."""
        return Statistics.of(record.counts for record in self.records.values())

    def values(self, tier: int) -> Sequence[npt.NDArray[Any]]:
        """The codes of a tier, block by block, in the order of their index; not copied, unless they are outcomes."""
        self._require_open()
        record = self._record(tier)
        blocks = self.store.value_blocks(record)
        if not record.width:
            return _Unpacked(blocks, block_lengths(record.size))
        return [np.frombuffer(block, dtype=record.dtype) for block in blocks]

    def _record(self, tier: int) -> TierRecord:
        if tier not in self.records:
            raise UsageError(f"the table of {self.game.identity} has no tier {tier}")
        return self.records[tier]

    def positions(self, tier: SupportsIndex, first: SupportsIndex, count: SupportsIndex) -> npt.NDArray[np.uint64]:
        """The positions of consecutive slots of a tier; all ones where a slot holds none."""
        self._require_open()
        tier, first, count = index(tier), index(first), index(count)  # numpy's integers would overflow
        size = self._record(tier).size
        if not (first >= 0 and count >= 0 and first + count <= size):
            raise UsageError(f"tier {tier} has slots 0 to {size - 1}, not {first} to {first + count - 1}")
        if not self.kernel.ranked:  # a kernel's own index needs nothing at hand
            self._attach(tier)
        return self.engine.positions(tier, first, count)

    def find_value(self, value: Value) -> int | None:
        """Some position of this value, always the same: the first in the order of tiers and indices."""
        for tier, record in sorted(self.records.items()):
            if record.counts.get(value.code):
                first = 0
                for block in self.values(tier):
                    hits = np.flatnonzero(block == value.code)
                    if len(hits):
                        return int(self.positions(tier, first + int(hits[0]), 1)[0])
                    first += len(block)
        return None

    def attach_all(self) -> None:
        """Have every tier at hand, its checksums checked."""
        self._require_open()
        for tier in self.records:
            self._attach(tier)

    def _attach(self, tier: int) -> bool:
        """Have a tier at hand, its checksums checked; False where it is not solved."""
        if tier in self._at_hand:
            return True
        record = self.records.get(tier)
        if record is None:
            return False
        with self._lock:  # other threads keep reading the tiers that are at hand
            if tier not in self._at_hand:
                if tier not in self._defined:
                    keys = self.keys.get(tier)
                    self.engine.define(tier, record.size, None if keys is None else self.store.key_blocks(keys))
                self.engine.attach(tier, record.width, self.store.value_blocks(record))
                self._at_hand.add(tier)
        return True

    def close(self) -> None:
        """Close it. Probes that run in other threads still end well; arrays that were handed out stay readable."""
        self._closed = True
        self.engine.close(partial(TableError, self._when_closed))
        self.store.close()

    def _require_open(self) -> None:
        if self._closed:
            raise TableError(self._when_closed)

    def __copy__(self) -> NoReturn:
        raise TypeError("a table cannot be copied: open it again")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a table cannot be pickled: open it where it is needed")

    def __enter__(self) -> Table:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class _Unpacked(Sequence[npt.NDArray[Any]]):
    """Blocks of outcomes as codes: each is unpacked when it is looked at, since all would take eight times the room."""

    def __init__(self, blocks: list[Block], lengths: list[int]) -> None:
        self._blocks, self._lengths = blocks, lengths

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, number: Any) -> Any:
        return unpack_outcomes(self._blocks[number], self._lengths[number])


def as_positions(positions: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Integers as positions; what cannot be one becomes a number that never is. TypeError for anything else."""
    given = np.asarray(positions)
    if given.dtype.kind == "f" and not isinstance(positions, np.ndarray):  # numpy's idea of small and large integers
        given = np.asarray(positions, dtype=object)
    if given.dtype.kind == "O":
        whole = (index(each) for each in given.flat)
        in_range = [each if 0 <= each < NO_POSITION else NO_POSITION for each in whole]
        given = np.array(in_range, dtype=np.uint64).reshape(given.shape)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"positions are integers, not {given.dtype}")
    if given.dtype.kind == "i" and given.size and given.min() < 0:
        given = np.where(given < 0, np.uint64(NO_POSITION), given.astype(np.uint64))
    return given.astype(np.uint64, copy=False)


class CompactTable(Table):
    """A compact table: single probes unpack one frame, work on whole tiers unpacks the tier into memory."""

    store: CompactStore

    def get(self, position: SupportsIndex, default: Default | None = None) -> Value | Default | None:
        slot = self._find(position)
        code = NO_POSITION_CODE if slot is None else self.store.code_of(slot)
        return default if code == NO_POSITION_CODE else Value.from_code(code)

    def probe_many(self, positions: npt.ArrayLike) -> Codes:
        given = as_positions(positions)
        values = (self.get(int(position)) for position in given.flat)
        codes = np.fromiter((NO_POSITION_CODE if v is None else v.code for v in values), np.uint32, given.size)
        return codes.reshape(given.shape) if self.kernel.scored else codes.reshape(given.shape).astype(np.uint16)

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
        """Keys are looked up in their frames."""
