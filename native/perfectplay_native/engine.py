"""The engine, seen from Python: solve tiers, read and verify their values. The driver above decides what and when."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.errors import EngineError, EngineOutOfMemory, error_of
from perfectplay_native.kernel import Kernel, index_of_slot, slot_of, tier_of_slot
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.outcomes import bytes_of_slots

Positions = npt.NDArray[np.uint64]
_Number = TypeVar("_Number", bound=np.integer[Any])

Codes = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
"""Value codes: of 32 bits where a game has scores, else of 16."""

NO_SLOT = NO_POSITION
NO_ROOM = int(ffi.cast("size_t", -1))
"""Of a count: memory ran out."""


def _pointer(ctype: str, array: npt.NDArray[Any]) -> Any:
    return ffi.from_buffer(ctype, array)


class Propagation(IntEnum):
    """How newly decided positions reach their parents. The table is the same."""

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
    """A stored value that its children contradict; `expected` is None where no value would do."""

    tier: int
    index: int
    position: int | None
    stored: int
    expected: int | None


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What the steps of a solve took on a sample of slots, in seconds of processor time."""

    slots: int
    positions: int
    open: int
    """Positions that the rules leave undecided."""
    children: int
    parents: int
    settle_seconds: float
    expand_seconds: float
    retract_seconds: float


class Engine:
    """One game's tiers in memory. Not thread-safe, but for `stop` and `progress`.

    What a Python game's function raises while the engine asks it stops the call, which then raises it.
    """

    def __init__(self, kernel: Kernel, *, tiers: int, threads: int | None = 1) -> None:
        """Work with so many threads, None for one a processor, where the kernel allows it."""
        self.kernel = kernel
        threads = (threads or os.cpu_count() or 1) if kernel.parallel else 1
        self._keep: dict[int, list[Any]] = {}  # memory lent to the engine, by tier
        made = lib.pp_engine_new(kernel.c, tiers, threads)
        if made == ffi.NULL:
            raise EngineOutOfMemory("not enough memory for the engine itself")
        self._open: Any = ffi.gc(made, partial(_free_engine, self._keep, kernel))
        self._error_when_closed: Callable[[], Exception] = lambda: EngineError("it is closed")

    @property
    def c(self) -> Any:
        """The C engine, for the modules of this package."""
        made = self._open  # another thread may close it at any moment
        if made is None:
            raise self._error_when_closed()
        return made

    def close(self, error: Callable[[], Exception] | None = None) -> None:
        """Free it: at once, or where another thread is in a call or somebody looks at values of its, after that.

        Whoever asks it from then on gets an EngineError, or what `error` makes.
        """
        self._error_when_closed = error or self._error_when_closed
        self._open = None

    def set_memory(self, budget: int, directory: str | None) -> None:
        """Bound anonymous memory to `budget` bytes (0: no bound), with files in `directory` beyond it."""
        given = ffi.NULL if directory is None else os.fsencode(directory)
        self.check(lib.pp_engine_memory(self.c, budget, given))

    def stop(self) -> None:
        """Make the running call return as soon as it can. Any thread may ask."""
        lib.pp_engine_stop(self.c, 1)

    @property
    def progress(self) -> EngineProgress:
        p = lib.pp_engine_progress(self.c)
        return EngineProgress(p.positions, p.level, p.used)

    def define(self, tier: int, size: int, keys: Sequence[memoryview] | None = None) -> None:
        """Give a tier its size, and for an enumerated game its sorted keys in blocks."""
        engine = self.c  # alive until what is lent is kept: nothing is kept for an engine that is gone
        lent = None if keys is None else [ffi.from_buffer("uint64_t[]", block) for block in keys]
        pointers = ffi.NULL if lent is None else ffi.new("uint64_t *[]", lent)
        self.check(lib.pp_tier_define(engine, tier, size, pointers))
        self._keep[tier] = [lent]

    def attach(self, tier: int, width: int, blocks: Sequence[memoryview]) -> None:
        """Use finished values that lie elsewhere, such as in LMDB's memory map; they are not copied."""
        engine = self.c
        lent = [ffi.from_buffer(block) for block in blocks]
        self.check(lib.pp_tier_attach(engine, tier, width, ffi.new("void *[]", lent)))
        self.keep(tier, lent)

    def keep(self, tier: int, lent: Any) -> None:
        """Keep memory that was lent for a tier, until it is dropped or defined anew."""
        self._keep.setdefault(tier, []).append(lent)

    def drop(self, tier: int) -> None:
        """Forget a tier and everything lent for it."""
        lib.pp_tier_drop(self.c, tier)
        self._keep.pop(tier, None)

    def solve(
        self,
        tiers: Sequence[int],
        *,
        cyclic: bool,
        propagation: Propagation = Propagation.AUTO,
        outcomes: bool = False,
    ) -> None:
        """Solve tiers that reach each other; every other tier they lead to must be finished.

        With `outcomes` only who wins is found, in two bits a slot; those other tiers must be of that kind.
        """
        self.run(lib.pp_solve, self.c, ffi.new("uint32_t[]", list(tiers)), len(tiers), cyclic, propagation, outcomes)

    def claim(self, tiers: Sequence[int], *, cyclic: bool) -> None:
        """Find the order that verifying the outcomes of these tiers needs; their values are attached afterwards."""
        given = ffi.new("uint32_t[]", list(tiers))
        self.run(lib.pp_claim, self.c, given, len(tiers), cyclic, Propagation.AUTO)

    def values(self, tier: int, size: int) -> npt.NDArray[Any]:
        """The codes of a tier the engine has solved, without copying; valid until the tier is attached or dropped.

        Of outcomes, bytes of four each (outcomes.py).
        """
        width = lib.pp_tier_width(self.c, tier)
        engine = self.c
        # the values are the engine's: it must live as long as somebody looks at them
        values = ffi.gc(lib.pp_tier_values(engine, tier), lambda _, engine=engine: None)
        memory = ffi.buffer(values, bytes_of_slots(size, width))
        return np.frombuffer(memory, dtype=f"<u{width or 1}")

    def find(self, position: int) -> int | None:
        """The slot of a number below 2**64; None where it is not a position, or not in the index."""
        with self.kernel.asking():
            slot = int(lib.pp_look_up(self.c, position))
        return None if slot == NO_SLOT else slot

    def find_many(self, positions: Positions) -> npt.NDArray[np.uint64]:
        """The slot of each position; NO_SLOT where it is not a position, or not in the index."""
        given = np.ascontiguousarray(positions, dtype=np.uint64)
        slots = np.empty(given.shape, dtype=np.uint64)
        with self.kernel.asking():
            lib.pp_find_many(self.c, _pointer("pp_position[]", given), given.size, _pointer("pp_slot[]", slots))
        return slots

    def find_few(self, positions: Sequence[int]) -> Any:
        """The same of a few numbers below 2**64, as an array of C's: numpy's would take longer than the finding."""
        given, slots = ffi.new("pp_position[]", positions), ffi.new("pp_slot[]", len(positions))
        with self.kernel.asking():
            lib.pp_find_many(self.c, given, len(positions), slots)
        return slots

    def value_of_slot(self, slot: int) -> int:
        """The code stored in a slot; 4 where there is none."""
        return int(lib.pp_value_of_slot(self.c, slot))

    def values_of_slots(self, slots: npt.NDArray[np.uint64]) -> Codes:
        """The code stored in each slot, 4 where there is none: in 32 bits for a game with scores, else in 16."""
        codes = np.empty(slots.shape, dtype=np.uint32)
        lib.pp_values_of_slots(self.c, _pointer("pp_slot[]", slots), slots.size, _pointer("uint32_t[]", codes))
        return codes if self.kernel.scored else codes.astype(np.uint16)

    def values_of_few(self, slots: Any) -> list[int]:
        """The same of a few, which `find_few` has found."""
        codes = ffi.new("uint32_t[]", len(slots))
        lib.pp_values_of_slots(self.c, slots, len(slots), codes)
        found: list[int] = ffi.unpack(codes, len(slots))
        return found

    def positions(self, tier: int, first: int, count: int) -> Positions:
        """The positions of consecutive slots of a tier; NO_SLOT where a slot holds none."""
        found = np.empty(count, dtype=np.uint64)
        lib.pp_positions_of_slots(self.c, slot_of(tier, first), count, _pointer("pp_position[]", found))
        return found

    def best_moves(self, positions: Positions) -> npt.NDArray[np.int64]:
        """The first of each valid position's best moves; -1 where it has no move, or none whose value is known."""
        given = np.ascontiguousarray(positions, dtype=np.uint64)
        best = np.empty(given.shape, dtype=np.int64)
        with self.kernel.asking():
            result = lib.pp_best_moves(
                self.c, _pointer("pp_position[]", given), given.size, _pointer("int64_t[]", best)
            )
        self.check(result)
        return best

    def mark_reachable(
        self, tier: int, reached: Sequence[npt.NDArray[np.uint64]], expanded: npt.NDArray[np.uint64]
    ) -> int:
        """Mark the children of what is reached in a tier and not yet expanded; how many slots that was.

        `reached` has a bitmap for every tier, in words of 64; `expanded` is one for this tier.
        """
        bitmaps = ffi.new("uint64_t *[]", [_pointer("uint64_t[]", bitmap) for bitmap in reached])
        count = ffi.new("uint64_t *")
        self.run(lib.pp_mark_reachable, self.c, tier, bitmaps, _pointer("uint64_t[]", expanded), count)
        return int(count[0])

    def verify(self, tier: int, *, examples: int = 10) -> tuple[int, list[Fault]]:
        """How many values of a tier its children contradict, and the first of them."""
        wrong, faults = ffi.new("uint64_t *"), ffi.new("pp_fault[]", max(1, examples))
        self.run(lib.pp_verify, self.c, tier, wrong, faults, examples)
        return wrong[0], [_fault(faults[i]) for i in range(min(examples, wrong[0]))]

    def verify_slots(self, tier: int, first: int, count: int, *, examples: int) -> tuple[int, list[Fault]]:
        """The same of `count` slots from `first` on."""
        wrong, faults = ffi.new("uint64_t *"), ffi.new("pp_fault[]", max(1, examples))
        self.run(lib.pp_verify_slots, self.c, tier, first, count, wrong, faults, examples)
        return wrong[0], [_fault(faults[i]) for i in range(min(examples, wrong[0]))]

    def measure(self, runs: npt.NDArray[np.uint64], *, parents: bool) -> StepCosts:
        """What the steps of a solve cost for runs of 64 slots, each given by its first slot."""
        sample = ffi.new("pp_sample *")
        self.run(lib.pp_measure, self.c, _pointer("pp_slot[]", runs), runs.size, parents, sample)
        return StepCosts(**{name: getattr(sample, name) for name in StepCosts.__slots__})

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        """Call a function of the engine's that may ask the kernel; what went wrong is raised."""
        with self.kernel.asking(self.stop):
            result = function(*arguments)
        self.check(result)

    def check(self, result: int) -> None:
        """Raise what a function of the engine's returned, unless all is well."""
        if result != lib.PP_OK:
            position, number = lib.pp_engine_error_position(self.c), lib.pp_engine_error_number(self.c)
            raise error_of(result, position=position, number=number)


def _free_engine(keep: dict[int, list[Any]], kernel: Kernel, engine: Any) -> None:
    """Free an engine before what was lent to it, and before its kernel."""
    lib.pp_engine_free(engine)
    keep.clear()


def _fault(fault: Any) -> Fault:
    return Fault(
        tier=tier_of_slot(fault.slot),
        index=index_of_slot(fault.slot),
        position=None if fault.position == NO_POSITION else fault.position,
        stored=fault.stored,
        expected=None if fault.expected == 2**32 - 1 else fault.expected,
    )


def count_codes(values: npt.NDArray[Any]) -> dict[int, int]:
    """How often each code stands in an array of one-, two- or four-byte codes, in ascending order."""
    if values.dtype.itemsize == 4:
        codes, times = np.unique(values, return_counts=True)
        return dict(zip(codes.tolist(), times.tolist(), strict=True))
    counts = np.zeros(1 << 16, dtype=np.uint64)
    lib.pp_histogram(ffi.from_buffer(values), values.dtype.itemsize, values.size, _pointer("uint64_t[]", counts))
    return {int(code): int(counts[code]) for code in np.flatnonzero(counts)}


def children_of_many(kernel: Kernel, positions: Positions, *, room: int) -> tuple[Positions, int]:
    """The canonical children of as many positions as `room` allows, and how many positions that was."""
    given = np.ascontiguousarray(positions, dtype=np.uint64)
    children = np.empty(max(room, kernel.c.max_moves), dtype=np.uint64)
    used = ffi.new("size_t *")
    with kernel.asking():
        count = lib.pp_children_of_many(
            kernel.c,
            _pointer("pp_position[]", given),
            given.size,
            used,
            _pointer("pp_position[]", children),
            children.size,
        )
    if count == NO_ROOM:
        raise EngineOutOfMemory("not even for the moves of one position")
    return children[:count], used[0]


def tiers_of_many(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """The tier of each position."""
    return _asked_of_many(kernel, lib.pp_tiers_of_many, positions, "uint32_t[]", np.uint32)


def movers_of_many(kernel: Kernel, positions: Positions) -> npt.NDArray[np.int8] | None:
    """Who is to move in each position, 0 being who begins; None where the game does not tell."""
    if kernel.players == 1:
        return np.zeros(positions.shape, dtype=np.int8)
    if not kernel.has("mover"):
        return None
    return _asked_of_many(kernel, lib.pp_movers_of_many, positions, "int8_t[]", np.int8)


def canonicalize_many(kernel: Kernel, positions: Positions) -> Positions:
    """The canonical form of each valid position."""
    return _asked_of_many(kernel, lib.pp_canonicalize_many, positions, "pp_position[]", np.uint64)


def rule_codes(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """The codes that the rules alone give: finished, won at once, no position; 0 where they leave it open."""
    return _asked_of_many(kernel, lib.pp_rule_codes, positions, "uint32_t[]", np.uint32)


def foreseen_codes(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint32]:
    """The same, and the values of positions in which the rules decide every move."""
    return _asked_of_many(kernel, lib.pp_foreseen_codes, positions, "uint32_t[]", np.uint32)


DIGESTED = ("moves", "apply", "canonicalize", "status", "rank", "expand", "retract", "parents")
"""The functions of a kernel in the order of their digests."""


def kernel_digests(kernel: Kernel, positions: Positions) -> npt.NDArray[np.uint64]:
    """A number for what each function of a C kernel (`DIGESTED`) says of each position; threads may ask at once."""
    digests = np.empty((positions.size, lib.PP_DIGESTS), dtype=np.uint64)
    if lib.pp_digests(kernel.c, _pointer("pp_position[]", positions), positions.size, _pointer("uint64_t[]", digests)):
        raise MemoryError
    return digests


def _asked_of_many(
    kernel: Kernel, function: Any, positions: Positions, ctype: str, kind: type[_Number]
) -> npt.NDArray[_Number]:
    """What a function of the engine says of each position; `ctype` and `kind` are its types in C and numpy."""
    given = np.ascontiguousarray(positions, dtype=np.uint64)
    answers = np.empty(given.shape, dtype=kind)
    with kernel.asking():
        failed = function(kernel.c, _pointer("pp_position[]", given), given.size, _pointer(ctype, answers))
    if failed:
        raise EngineOutOfMemory("not even for the moves of one position")
    return answers
