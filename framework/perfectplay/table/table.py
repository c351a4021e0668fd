"""A solved table: the values of a game's positions."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cached_property, partial
from operator import index
from typing import Any, NoReturn, SupportsIndex, TypeVar

import numpy as np
import numpy.typing as npt

from perfectplay.errors import NotInTable, TableError, UsageError
from perfectplay.game.game import Game, Position
from perfectplay.game.hooks import as_int
from perfectplay.table.records import Statistics, TableInfo, TierRecord, block_lengths
from perfectplay.table.store import Block, Store
from perfectplay.values import NO_POSITION_CODE, Value
from perfectplay_native.engine import Engine
from perfectplay_native.kernel import Kernel, index_of_slot, tier_of_slot
from perfectplay_native.limits import INDEX_BITS, NO_POSITION
from perfectplay_native.values import Codes, unpack_outcomes

Default = TypeVar("Default")

SMALL_BATCH = 1000
"""Up to this many numbers, a set finds the distinct ones faster than numpy does."""


class Table:
    """The values of a game's positions. A context manager; safe to read from several threads."""

    def __init__(
        self,
        game: Game,
        store: Store,
        kernel: Kernel,
        *,
        engine: Engine | None = None,
        memory: int | None = None,
        resume_command: str | None = None,
    ) -> None:
        """Take over a store, and the engine that solved it if it still has all tiers.

        With `memory`, an index that takes more bytes is kept in unnamed files in the directory of the store.
        `resume_command` is the command that finishes the table.
        """
        self.game = game
        self.store = store
        self.kernel = kernel
        self.resume_command = resume_command or game.command_line()
        self._lock = threading.Lock()
        self._closed = False
        self._closed_message = f"the table of {game.identity} is closed"
        self.records = store.tier_records()
        self.keys = store.key_records()
        self._defined: set[int] = set()
        self._attached: set[int] = set(self.records) if engine is not None else set()
        tiers = max([*self.records, *self.keys, kernel.tier_count - 1 if kernel.ranked else 0]) + 1
        self.engine = engine or Engine(kernel, tiers=tiers)
        if engine is None:
            try:
                if memory is not None and store.path is not None and os.access(store.path, os.W_OK):
                    self.engine.set_memory(memory, os.fspath(store.path))
                self._define_keys()
            except BaseException:
                self.close()
                raise

    def _define_keys(self) -> None:
        """Build the index of an enumerated game."""
        for tier, record in self.keys.items():
            self.engine.define(tier, record.size, self.store.key_blocks(record))
            self._defined.add(tier)

    # ---- single positions ----

    def probe(self, position: SupportsIndex) -> Value:
        """Return the value of a position for the side to move.

        Raises NotInTable if the table has no value, because the position cannot be reached from the start, its tier is
        not solved yet, or it is not a position of the game.
        """
        position = index(position)
        value = self.get(position)
        if value is None:
            if not self.kernel.valid(position):
                reason = "it is not a position of the game"
            elif self.complete and self.kernel.ranked:
                reason = "the game's index has no slot for it"
            else:
                reason = "it cannot be reached from the start" if self.complete else self.unfinished()
            raise NotInTable(f"position {position} is not in the table of {self.game.name}: {reason}")
        return value

    def __getitem__(self, position: SupportsIndex | str) -> Value:
        """Return the value of a position like `probe`; a text in any notation of the game works too.

        Raises UsageError for a Position of another game, and NotInTable, a KeyError, if the table has no value.

        >>> from perfectplay import load_game, open_table
        >>> game = load_game("gobblet")
        >>> with open_table(game) as table:
        ...     print(table[game.position()], table["74242"])
        win in 13 win in 9
        """
        if isinstance(position, Position) and position.game.identity != self.game.identity:
            raise UsageError(f"{position!r} is not a position of {self.game.identity}")
        return self.probe(self.game.encode(position) if isinstance(position, str) else position)

    def __iter__(self) -> NoReturn:
        raise TypeError("a table cannot be iterated: use `positions`, or `perfectplay.select`")

    def __repr__(self) -> str:
        state = "" if self.complete else ", unfinished"
        return f"<Table of {self.game.identity}: {self.statistics.positions:,} positions{state}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the counts of outcomes."""
        return self.statistics.html(f"{self.game.about.title}{'' if self.complete else ' (unfinished)'}")

    def unfinished(self) -> str:
        """Describe the progress of an unfinished table and how to resume it."""
        tiers = self.kernel.tier_count if self.kernel.ranked else len(self.keys)
        return f"its tier is not solved yet ({len(self.records)} of {tiers} are); `{self.resume_command}` resumes"

    def require_complete(self) -> None:
        """Raise TableError, with the command that resumes the solve, if the table is not finished."""
        if not self.complete:
            raise TableError(
                f"the table of {self.game.identity} is not finished: resume it with `{self.resume_command}`"
            )

    def get(self, position: SupportsIndex, default: Default | None = None) -> Value | Default | None:
        """Return the value of a position, or `default` if the table has none."""
        slot = self._find(position)
        if slot is None or not self._attach(tier_of_slot(slot)):
            return default
        code = self.engine.value_of_slot(slot)
        return default if code == NO_POSITION_CODE else Value.from_code(code)

    def probe_many(self, positions: npt.ArrayLike) -> Codes:
        """Return the value codes of many positions, which `Value.from_code` decodes; 4 means no value.

        >>> from perfectplay import load_game, open_table
        >>> with open_table(load_game("gobblet")) as table:
        ...     codes = table.probe_many([0, 74242, 3])  # 3 is not a position
        >>> codes.tolist()
        [55, 39, 4]
        >>> (codes >> 2)[(codes & 3) == 3].tolist()  # plies to the end of the won positions
        [13, 9]
        """
        self._require_open()
        slots = self.engine.find_many(as_positions(positions))
        if len(self._attached) < len(self.records):
            tiers = (slots >> np.uint64(INDEX_BITS)).ravel()
            for tier in np.unique(tiers).tolist() if tiers.size > SMALL_BATCH else {*tiers.tolist()}:
                self._attach(tier)
        codes = self.engine.values_of_slots(slots)
        return codes if self.scored else codes.astype(np.uint16, copy=False)

    def probe_few(self, positions: Sequence[int]) -> list[int]:
        """Return the codes of a few positions, such as the children of one, without the overhead of numpy."""
        self._require_open()
        slots = self.engine.find_few(positions)
        if len(self._attached) < len(self.records):
            for tier in {slot >> INDEX_BITS for slot in slots} - self._attached:
                self._attach(tier)
        return self.engine.values_of_few(slots)

    def slot(self, position: SupportsIndex) -> tuple[int, int] | None:
        """Return the (tier, index) where a position's value is stored; None if the table has no slot for it."""
        slot = self._find(position)
        return None if slot is None else (tier_of_slot(slot), index_of_slot(slot))

    def _find(self, position: SupportsIndex) -> int | None:
        """Return the slot of a position; None if the table has none."""
        number = index(position)
        self._require_open()
        return self.engine.find(number) if 0 <= number < NO_POSITION else None

    # ---- the whole table ----

    def __len__(self) -> int:
        """Return the number of solved positions. Positions that are equal up to symmetry count once."""
        return self.statistics.positions

    def __bool__(self) -> bool:
        return True  # even without a solved position

    def __contains__(self, position: object) -> bool:
        """Return whether the table has a value for this position. Any object is accepted."""
        number = as_int(position)
        return number is not None and self.get(number) is not None

    @property
    def info(self) -> TableInfo:
        return self.store.info

    @property
    def outcomes_only(self) -> bool:
        """Whether the table contains outcomes only, because it was solved with `--values outcome`."""
        return self.info.outcomes

    @property
    def scored(self) -> bool:
        """Whether the values have scores."""
        return self.kernel.scored and not self.outcomes_only

    @property
    def complete(self) -> bool:
        """Whether every tier is solved."""
        return self.info.status == "complete"

    @property
    def size_on_disk(self) -> int:
        """The size on disk in bytes; 0 for a table in memory."""
        return self.store.size_on_disk

    @cached_property
    def statistics(self) -> Statistics:
        """Counts over all solved positions."""
        return Statistics.of(record.counts for record in self.records.values())

    def values(self, tier: int) -> Sequence[npt.NDArray[Any]]:
        """Return the codes of a tier in blocks, in the order of their indices, without copying full values."""
        self._require_open()
        record = self._record(tier)
        blocks = self.store.value_blocks(record)
        if not record.width:
            return _OutcomeBlocks(blocks, block_lengths(record.size))
        return [np.frombuffer(block, dtype=record.dtype) for block in blocks]

    def _record(self, tier: int) -> TierRecord:
        if tier not in self.records:
            raise UsageError(f"the table of {self.game.identity} has no tier {tier}")
        return self.records[tier]

    def positions(self, tier: SupportsIndex, first: SupportsIndex, count: SupportsIndex) -> npt.NDArray[np.uint64]:
        """Return the positions of consecutive slots of a tier; 2**64 - 1 marks a slot without a position."""
        self._require_open()
        tier, first, count = index(tier), index(first), index(count)  # numpy integers would overflow
        size = self._record(tier).size
        if not (first >= 0 and count >= 0 and first + count <= size):
            raise UsageError(f"tier {tier} has slots 0 to {size - 1}, not {first} to {first + count - 1}")
        if not self.kernel.ranked:  # a perfect index needs no keys
            self._attach(tier)
        return self.engine.positions(tier, first, count)

    def find_value(self, value: Value) -> int | None:
        """Return the first position with this value, in the order of tiers and indices; None if there is none."""
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
        """Load all tiers and check their checksums."""
        self._require_open()
        for tier in self.records:
            self._attach(tier)

    def _attach(self, tier: int) -> bool:
        """Load a tier and check its checksums. Returns False if it is not solved."""
        if tier in self._attached:
            return True
        record = self.records.get(tier)
        if record is None:
            return False
        with self._lock:  # meanwhile, other threads can read attached tiers
            if tier not in self._attached:
                if tier not in self._defined:
                    keys = self.keys.get(tier)
                    self.engine.define(tier, record.size, None if keys is None else self.store.key_blocks(keys))
                self.engine.attach(tier, record.width, self.store.value_blocks(record))
                self._attached.add(tier)
        return True

    def close(self) -> None:
        """Close the table. Probes in other threads finish normally, and arrays returned earlier stay readable."""
        self._closed = True
        self.engine.close(partial(TableError, self._closed_message))
        self.store.close()

    def _require_open(self) -> None:
        if self._closed:
            raise TableError(self._closed_message)

    def __copy__(self) -> NoReturn:
        raise TypeError("a table cannot be copied: open it again")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a table cannot be pickled: open it in the other process")

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _OutcomeBlocks(Sequence[npt.NDArray[Any]]):
    """Blocks of outcomes as codes. Each is unpacked on access, because all of them would take 8 times the memory."""

    def __init__(self, blocks: list[Block], lengths: list[int]) -> None:
        self._blocks, self._lengths = blocks, lengths

    def __len__(self) -> int:
        return len(self._blocks)

    def __getitem__(self, number: Any) -> Any:
        return unpack_outcomes(self._blocks[number], self._lengths[number])


def as_positions(positions: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Convert integers to an array of positions; those out of range become NO_POSITION. Raises TypeError otherwise."""
    array = np.asarray(positions)
    if array.dtype.kind == "f" and not isinstance(positions, np.ndarray):
        array = np.asarray(positions, dtype=object)  # numpy converts mixed small and large integers to float
    if array.dtype.kind == "O":
        numbers = (index(each) for each in array.flat)
        in_range = [each if 0 <= each < NO_POSITION else NO_POSITION for each in numbers]
        array = np.array(in_range, dtype=np.uint64).reshape(array.shape)
    if array.dtype.kind not in "iu" and array.size:
        raise TypeError(f"positions are integers, not {array.dtype}")
    if array.dtype.kind == "i" and array.size and array.min() < 0:
        array = np.where(array < 0, np.uint64(NO_POSITION), array.astype(np.uint64))
    return array.astype(np.uint64, copy=False)
