"""A worker's share of tiers that several workers solve together, seen from Python (src/shares.c, src/api.h).

The caller carries what the workers exchange: values of units, and batches of updates. All of it is arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay_native._engine import ffi, lib
from perfectplay_native.engine import Engine
from perfectplay_native.limits import BLOCK_BITS, BLOCK_SLOTS, MAX_SCORE

Array = npt.NDArray[Any]

NO_THRESHOLD = MAX_SCORE + 1
"""Nobody wins by so much: every open child counts."""

UPDATES = (int(lib.PP_BATCH_WINS), int(lib.PP_BATCH_CLOSES))
"""Positions that a move wins, and positions with one open child fewer."""

_CHILDREN, _PARENTS = int(lib.PP_BATCH_CHILDREN), int(lib.PP_BATCH_PARENTS)


@dataclass(frozen=True, slots=True)
class Layout:
    """Who owns what: the units of tiers that are solved together are dealt out to the workers in turn."""

    tiers: tuple[int, ...]
    sizes: tuple[int, ...]
    unit_bits: int
    workers: int

    def units(self, worker: int) -> list[tuple[int, int, int]]:
        """The tier, first slot and length of each unit of a worker, in order."""
        unit = 1 << self.unit_bits
        all_units = [
            (tier, first, min(unit, size - first))
            for tier, size in zip(self.tiers, self.sizes, strict=True)
            for first in range(0, size, unit)
        ]
        return all_units[worker :: self.workers]

    @property
    def whole_blocks(self) -> bool:
        """Whether a unit is a block of the table."""
        return self.unit_bits == BLOCK_BITS


class Share:
    """One worker's part in a component. The steps, and what must be exchanged between them, are in src/api.h."""

    def __init__(self, engine: Engine, layout: Layout, worker: int, *, width: int) -> None:
        """Every tier of the layout must be defined, and every tier that they lead to attached."""
        self.engine, self.layout, self.worker = engine, layout, worker
        tiers = ffi.new("uint32_t[]", list(layout.tiers))
        made = ffi.new("pp_share **")
        engine.check(
            lib.pp_share_new(engine.c, tiers, len(layout.tiers), layout.unit_bits, worker, layout.workers, width, made)
        )
        self._open: Any = made[0]
        self._lent: dict[tuple[int, int], Any] = {}
        engine.keep(layout.tiers[0], self._lent)

    def close(self) -> None:
        """Free it, and forget what the engine holds of the layout's tiers; or the engine does, when it is freed."""
        if self._open is not None:
            lib.pp_share_free(self._open)
            self._open = None

    @property
    def marked(self) -> int:
        """Own positions that the rules leave open."""
        return int(lib.pp_share_state_of(self._open).marked)

    @property
    def last_level(self) -> int:
        return int(lib.pp_share_state_of(self._open).last_level)

    @property
    def has_ties(self) -> bool:
        return bool(lib.pp_share_state_of(self._open).has_ties)

    # ---- values ----

    def _unit(self, tier: int, first: int, length: int) -> Array:
        """A unit within the own memory, to be read or written."""
        width = lib.pp_tier_width(self.engine.c, tier)
        block = lib.pp_share_block(self._open, tier, first >> BLOCK_BITS)
        offset = first % BLOCK_SLOTS
        memory = ffi.buffer(block, (offset + length) * width)
        return np.frombuffer(memory, dtype=f"<u{width}")[offset:]

    def values(self) -> list[Array]:
        """The own units, in order, without copying; valid until the share is stored or closed."""
        return [self._unit(*unit) for unit in self.layout.units(self.worker)]

    def lend(self, worker: int, units: Sequence[Array]) -> None:
        """See another worker's units: as they are where they are whole blocks, else copied into their blocks."""
        for (tier, first, length), values in zip(self.layout.units(worker), units, strict=True):
            if self.layout.whole_blocks:
                self._lent[tier, first] = lent = ffi.from_buffer(values)
                lib.pp_share_lend(self._open, tier, first >> BLOCK_BITS, lent)
            else:
                self._unit(tier, first, length)[:] = values

    # ---- steps ----

    def solve(self) -> None:
        self._run(lib.pp_share_solve)

    def settle(self) -> None:
        self._run(lib.pp_share_settle)

    def expand(self, threshold: int = NO_THRESHOLD, *, edges: bool = False) -> None:
        self._run(lib.pp_share_expand, threshold, edges)

    def edges(self, worker: int) -> tuple[Array, Array]:
        """The reverse edges for a worker: its children, and their parents."""
        return self._batch(worker, _CHILDREN, "<u4"), self._batch(worker, _PARENTS, "<u8")

    def learn(self, edges: Sequence[tuple[Array, Array]]) -> None:
        """Take the reverse edges that all workers have for this one."""
        children = [ffi.from_buffer("uint32_t[]", each) for each, _ in edges]
        parents = [ffi.from_buffer("uint64_t[]", each) for _, each in edges]
        self._run(
            lib.pp_share_learn,
            len(edges),
            ffi.new("uint32_t *[]", children),
            ffi.new("uint64_t *[]", parents),
            ffi.new("uint64_t[]", [len(each) for each, _ in edges]),
        )

    def begin_ties(self) -> None:
        self._run(lib.pp_share_begin_ties)

    def inform(self, level: int, *, ties: bool) -> None:
        self._run(lib.pp_share_inform, level, ties)

    def updates(self, worker: int) -> list[Array]:
        """What a worker is to be told, as long as this share takes no further step: one array for each of UPDATES."""
        return [self._batch(worker, kind, "<u4") for kind in UPDATES]

    def apply(self, level: int, updates: Sequence[Array], *, ties: bool) -> None:
        """Take what another worker has to tell about a level."""
        for kind, slots in zip(UPDATES, updates, strict=True):
            self._run(lib.pp_share_apply, level, ties, kind, ffi.from_buffer("uint32_t[]", slots), len(slots))

    # ---- checkpoints ----

    def entries(self) -> list[Array]:
        """The entries of each own unit, for a checkpoint; they belong to its values as they are now."""
        found = []
        for number, (_, _, length) in enumerate(self.layout.units(self.worker)):
            states = np.empty(length, dtype=np.uint32)
            count = lib.pp_share_entries(self._open, number, ffi.from_buffer("uint32_t[]", states))
            found.append(states[:count].copy())
        return found

    def restore(self, units: Sequence[Array]) -> None:
        """Begin with the values of a checkpoint: the units of all workers, in order."""
        for worker in range(self.layout.workers):
            values = units[worker :: self.layout.workers]
            if worker != self.worker:
                self.lend(worker, values)
                continue
            for unit, stored in zip(self.layout.units(worker), values, strict=True):
                self._unit(*unit)[:] = stored
        self._run(lib.pp_share_mark)

    def recall(self, threshold: int, entries: Sequence[Array], *, ties: bool) -> None:
        """And with its entries, those of the own units."""
        states = np.concatenate([np.empty(0, dtype=np.uint32), *entries])
        self._run(lib.pp_share_recall, threshold, ties, ffi.from_buffer("uint32_t[]", states), len(states))

    # ---- scores and the end ----

    def scores(self) -> Array:
        """A bitmap of the scores that own positions see."""
        found = np.zeros(MAX_SCORE // 64 + 1, dtype=np.uint64)
        self._run(lib.pp_share_scores, ffi.from_buffer("uint64_t[]", found))
        return found

    def store_score(self) -> None:
        self._run(lib.pp_share_store_score)

    def wide(self) -> Array:
        """Of each tier, whether it has a value that one byte cannot hold."""
        found = np.zeros(len(self.layout.tiers), dtype=np.uint8)
        lib.pp_share_wide(self._open, ffi.from_buffer("uint8_t[]", found))
        return found

    def store(self, wide: Array) -> None:
        self._run(lib.pp_share_store, ffi.from_buffer("uint8_t[]", np.ascontiguousarray(wide, dtype=np.uint8)))

    def _batch(self, worker: int, kind: int, dtype: str) -> Array:
        count = ffi.new("uint64_t *")
        found = lib.pp_share_batch(self._open, worker, kind, count)
        if not count[0]:
            return np.empty(0, dtype=dtype)
        return np.frombuffer(ffi.buffer(found, count[0] * np.dtype(dtype).itemsize), dtype=dtype)

    def _run(self, function: Any, *arguments: Any) -> None:
        self.engine.run(function, self._open, *arguments)
