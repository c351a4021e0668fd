"""The engine as a Python object: solve tiers, read and verify their values. The caller decides what to solve when."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.errors import EngineError, EngineOutOfMemory, error_of
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.positions import Positions, pointer
from perfectplay_native.values import Codes, stored_bytes

NO_SLOT = NO_POSITION


class Propagation(IntEnum):
    """How decided positions update their parents. The resulting table is the same."""

    AUTO = lib.PP_PROPAGATE_AUTO
    RETRACT = lib.PP_PROPAGATE_RETRACT
    GRAPH = lib.PP_PROPAGATE_GRAPH
    FORWARD = lib.PP_PROPAGATE_FORWARD


@dataclass(frozen=True, slots=True)
class EngineProgress:
    """A snapshot of a running call."""

    positions: int
    level: int
    memory: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A stored value that contradicts the children. `expected` is None if no value would be right."""

    tier: int
    index: int
    position: int | None
    stored: int
    expected: int | None


@dataclass(frozen=True, slots=True)
class StepCosts:
    """The cost of the steps of a solve on a sample of slots, in seconds of processor time."""

    slots: int
    positions: int
    open: int
    """Positions that the rules alone do not settle."""
    children: int
    parents: int
    settle_seconds: float
    expand_seconds: float
    retract_seconds: float


class Engine:
    """The tiers of one game in memory. Not thread-safe, except for `stop` and `progress`.

    If a function of a Python game raises during a call, the call stops and raises that error.
    """

    def __init__(self, kernel: Kernel, *, tiers: int, threads: int | None = 1) -> None:
        """Create an engine for tiers 0 to `tiers` - 1.

        `threads` None means one per processor. A kernel that is not `parallel` always gets one thread.
        """
        self.kernel = kernel
        self._tier_count = tiers
        self._sizes: dict[int, int] = {}  # of the defined tiers
        threads = (threads or os.cpu_count() or 1) if kernel.parallel else 1
        self._buffers: dict[int, list[Any]] = {}  # memory that the engine refers to, by tier
        engine = lib.pp_engine_new(kernel.c, tiers, threads)
        if engine == ffi.NULL:
            raise EngineOutOfMemory("not enough memory for the engine itself")
        self._open: Any = ffi.gc(engine, partial(_free_engine, self._buffers, kernel))
        self._error_when_closed: Callable[[], Exception] = lambda: EngineError("the engine is closed")

    @property
    def c(self) -> Any:
        """The C engine, for the modules of this package."""
        engine = self._open  # another thread may close it at any time
        if engine is None:
            raise self._error_when_closed()
        return engine

    def close(self, error: Callable[[], Exception] | None = None) -> None:
        """Free the engine, as soon as no other thread is in a call and no array of its values exists any more.

        Later calls raise EngineError, or the result of `error`.
        """
        self._error_when_closed = error or self._error_when_closed
        self._open = None

    def set_memory(self, budget: int, directory: str | None) -> None:
        """Limit anonymous memory to `budget` bytes (0: no limit), and use files in `directory` beyond that."""
        path = ffi.NULL if directory is None else os.fsencode(directory)
        self.check(lib.pp_engine_memory(self.c, budget, path))

    def stop(self) -> None:
        """Make the running call return as soon as possible. Thread-safe."""
        lib.pp_engine_stop(self.c, 1)

    @property
    def progress(self) -> EngineProgress:
        p = lib.pp_engine_progress(self.c)
        return EngineProgress(p.positions, p.level, p.used)

    def define(self, tier: int, size: int, keys: Sequence[memoryview] | None = None) -> None:
        """Set the size of a tier and, for an enumerated game, its sorted keys in blocks."""
        engine = self.c  # keeps the engine alive until the buffers are recorded
        self._require_tier(tier)
        buffers = None if keys is None else [ffi.from_buffer("uint64_t[]", block) for block in keys]
        pointers = ffi.NULL if buffers is None else ffi.new("uint64_t *[]", buffers)
        self.check(lib.pp_tier_define(engine, tier, size, pointers))
        self._buffers[tier] = [buffers]
        self._sizes[tier] = size

    def attach(self, tier: int, width: int, blocks: Sequence[memoryview]) -> None:
        """Use finished values in the caller's memory, such as LMDB's memory map, without copying them."""
        engine = self.c
        self._require_tier(tier)
        buffers = [ffi.from_buffer(block) for block in blocks]
        self.check(lib.pp_tier_attach(engine, tier, width, ffi.new("void *[]", buffers)))
        self.keep_alive(tier, buffers)

    def keep_alive(self, tier: int, buffers: Any) -> None:
        """Keep memory alive that a tier refers to, until the tier is dropped or defined again."""
        self._buffers.setdefault(tier, []).append(buffers)

    def drop(self, tier: int) -> None:
        """Remove a tier, and release the memory that it refers to."""
        self._require_tier(tier)
        lib.pp_tier_drop(self.c, tier)
        self._buffers.pop(tier, None)
        self._sizes.pop(tier, None)

    def solve(
        self,
        tiers: Sequence[int],
        *,
        cyclic: bool,
        propagation: Propagation = Propagation.AUTO,
        outcomes: bool = False,
    ) -> None:
        """Solve tiers that can reach each other. Every other tier that they lead to must be finished.

        With `outcomes` the values are outcomes without a remoteness, two bits per slot. The other tiers must then have
        values of that kind, too.
        """
        self.run(lib.pp_solve, self.c, ffi.new("uint32_t[]", list(tiers)), len(tiers), cyclic, propagation, outcomes)

    def find_decision_order(self, tiers: Sequence[int], *, cyclic: bool) -> None:
        """Find the order that `verify` needs for outcomes. Call it before the values of these tiers are attached."""
        numbers = ffi.new("uint32_t[]", list(tiers))
        self.run(lib.pp_find_decision_order, self.c, numbers, len(tiers), cyclic, Propagation.AUTO)

    def values(self, tier: int, size: int) -> npt.NDArray[Any]:
        """Return the codes of a solved tier without copying them. They are valid until it is attached or dropped.

        Outcomes are packed, four to a byte (values.py).
        """
        engine = self.c
        self._require_tier(tier)
        width = lib.pp_tier_width(engine, tier)
        # The memory belongs to the engine, so the array must keep the engine alive.
        values = ffi.gc(lib.pp_tier_values(engine, tier), lambda _, engine=engine: None)
        memory = ffi.buffer(values, stored_bytes(size, width))
        return np.frombuffer(memory, dtype=f"<u{width or 1}")

    def find(self, position: int) -> int | None:
        """Return the slot of a number below 2**64, or None if it is not a valid position in the index."""
        with self.kernel.callback_errors():
            slot = int(lib.pp_find_checked(self.c, position))
        return None if slot == NO_SLOT else slot

    def find_many(self, positions: Positions) -> npt.NDArray[np.uint64]:
        """Return the slot of each position, NO_SLOT if it is not a valid position in the index."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        slots = np.empty(positions.shape, dtype=np.uint64)
        with self.kernel.callback_errors():
            lib.pp_find_many(self.c, pointer("pp_position[]", positions), positions.size, pointer("pp_slot[]", slots))
        return slots

    def find_few(self, positions: Sequence[int]) -> Any:
        """Return `find_many` for a few numbers as a C array, because creating numpy arrays would take longer."""
        slots = ffi.new("pp_slot[]", len(positions))  # first, because cffi takes a number as the length of an array
        numbers = ffi.new("pp_position[]", positions)
        with self.kernel.callback_errors():
            lib.pp_find_many(self.c, numbers, len(positions), slots)
        return slots

    def value_of_slot(self, slot: int) -> int:
        """Return the code stored in a slot, 4 if there is none."""
        return int(lib.pp_value_of_slot(self.c, slot))

    def values_of_slots(self, slots: npt.NDArray[np.uint64]) -> Codes:
        """Return the code stored in each slot, 4 if there is none."""
        codes = np.empty(slots.shape, dtype=np.uint32)
        lib.pp_values_of_slots(self.c, pointer("pp_slot[]", slots), slots.size, pointer("uint32_t[]", codes))
        return codes if self.kernel.scored else codes.astype(np.uint16)

    def values_of_few(self, slots: Any) -> list[int]:
        """Return `values_of_slots` for the result of `find_few`."""
        codes = ffi.new("uint32_t[]", len(slots))
        lib.pp_values_of_slots(self.c, slots, len(slots), codes)
        values: list[int] = ffi.unpack(codes, len(slots))
        return values

    def positions(self, tier: int, first: int, count: int) -> Positions:
        """Return the positions of consecutive slots of a tier, NO_POSITION if a slot is empty.

        Raises IndexError if the tier has fewer slots.
        """
        self._require_slots(tier, first, count)
        positions = np.empty(count, dtype=np.uint64)
        if count == 0:  # `first` may be the end of the tier, for which a kernel need not have an answer
            return positions
        lib.pp_positions_of_slots(self.c, slot_of(tier, first), count, pointer("pp_position[]", positions))
        return positions

    def best_moves(self, positions: Positions) -> npt.NDArray[np.int64]:
        """Return the first best move of each valid position, -1 if it has no move with a stored value."""
        positions = np.ascontiguousarray(positions, dtype=np.uint64)
        best = np.empty(positions.shape, dtype=np.int64)
        with self.kernel.callback_errors():
            result = lib.pp_best_moves(
                self.c, pointer("pp_position[]", positions), positions.size, pointer("int64_t[]", best)
            )
        self.check(result)
        return best

    def mark_reachable(
        self, tier: int, reached: Sequence[npt.NDArray[np.uint64]], expanded: npt.NDArray[np.uint64]
    ) -> int:
        """Expand the slots of a tier that are marked in `reached` but not in `expanded`. Returns how many there were.

        `reached` has a bitmap for every tier, in words of 64 bits; `expanded` is the bitmap of this tier.
        """
        bitmaps = ffi.new("uint64_t *[]", [pointer("uint64_t[]", bitmap) for bitmap in reached])
        count = ffi.new("uint64_t *")
        self.run(lib.pp_mark_reachable, self.c, tier, bitmaps, pointer("uint64_t[]", expanded), count)
        return int(count[0])

    def verify(self, tier: int, *, examples: int = 10) -> tuple[int, list[Fault]]:
        """Return the number of values of a tier that contradict their children, and the first of them."""
        self._require_tier(tier)
        return self._verify(lib.pp_verify, tier, examples=examples)

    def verify_slots(self, tier: int, first: int, count: int, *, examples: int) -> tuple[int, list[Fault]]:
        """Verify `count` slots of a tier from `first` on."""
        self._require_slots(tier, first, count)
        return self._verify(lib.pp_verify_slots, tier, first, count, examples=examples)

    def _verify(self, function: Callable[..., int], *slots: int, examples: int) -> tuple[int, list[Fault]]:
        wrong, faults = ffi.new("uint64_t *"), ffi.new("pp_fault[]", max(1, examples))
        self.run(function, self.c, *slots, wrong, faults, examples)
        return wrong[0], [_fault(faults[i]) for i in range(min(examples, wrong[0]))]

    def measure(self, runs: npt.NDArray[np.uint64], *, parents: bool) -> StepCosts:
        """Measure the steps of a solve on runs of 64 slots, each given by its first slot."""
        sample = ffi.new("pp_sample *")
        self.run(lib.pp_measure, self.c, pointer("pp_slot[]", runs), runs.size, parents, sample)
        return StepCosts(**{name: getattr(sample, name) for name in StepCosts.__slots__})

    def _require_tier(self, tier: int) -> None:
        if not 0 <= tier < self._tier_count:
            raise IndexError(f"the engine has tiers 0 to {self._tier_count - 1}, not {tier}")

    def _require_slots(self, tier: int, first: int, count: int) -> None:
        """Raise IndexError if a tier does not have these slots. The tiers of a perfect index need no definition."""
        self._require_tier(tier)
        size = self._sizes.get(tier, 0)
        if tier not in self._sizes and self.kernel.ranked and tier < self.kernel.tier_count:
            size = self.kernel.tier_size(tier)
        if not (first >= 0 and count >= 0 and first + count <= size):
            raise IndexError(f"tier {tier} has {size:,} slots, not slots {first} to {first + count - 1}")

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call an engine function that may call the kernel. Raises its error."""
        with self.kernel.callback_errors(self.stop):
            result = function(*arguments)
        self.check(result)

    def check(self, result: int) -> None:
        """Raise the error of a pp_result other than PP_OK."""
        if result != lib.PP_OK:
            position, number = lib.pp_engine_error_position(self.c), lib.pp_engine_error_number(self.c)
            raise error_of(result, position=position, number=number)


def _free_engine(buffers: dict[int, list[Any]], kernel: Kernel, engine: Any) -> None:
    """Free an engine before the buffers it refers to, and before its kernel."""
    lib.pp_engine_free(engine)
    buffers.clear()


def _fault(fault: Any) -> Fault:
    return Fault(
        tier=tier_of_slot(fault.slot),
        index=index_of_slot(fault.slot),
        position=None if fault.position == NO_POSITION else fault.position,
        stored=fault.stored,
        expected=None if fault.expected == 2**32 - 1 else fault.expected,
    )
