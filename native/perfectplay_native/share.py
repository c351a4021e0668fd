"""A worker's share of tiers that several workers solve together (src/share.c, src/share_api.h).

The caller transports the data that workers exchange: values of units, and batches of updates. All of it is arrays.
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
"""Above any possible score, so every open child counts."""

UPDATES = (int(lib.PP_BATCH_WINS), int(lib.PP_BATCH_CLOSES))
"""The batches of updates: parents that win, and parents with one open child fewer."""

_CHILDREN, _PARENTS = int(lib.PP_BATCH_CHILDREN), int(lib.PP_BATCH_PARENTS)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which worker owns what: the units of tiers that are solved together are assigned to the workers in turn."""

    tiers: tuple[int, ...]
    sizes: tuple[int, ...]
    unit_bits: int
    workers: int

    def units(self, worker: int) -> list[tuple[int, int, int]]:
        """Return the tier, first slot and length of each unit of a worker, in order."""
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
    """One worker's part of a component. src/share_api.h describes the steps and the exchanges between them."""

    def __init__(self, engine: Engine, layout: Layout, worker: int, *, width: int) -> None:
        """Every tier of the layout must be defined, and every tier that they lead to attached."""
        self.engine, self.layout, self.worker = engine, layout, worker
        tiers = ffi.new("uint32_t[]", list(layout.tiers))
        share = ffi.new("pp_share **")
        engine.check(
            lib.pp_share_new(engine.c, tiers, len(layout.tiers), layout.unit_bits, worker, layout.workers, width, share)
        )
        self._open: Any = share[0]
        self._blocks: dict[tuple[int, int], Any] = {}  # other workers' units that the share refers to
        engine.keep_alive(layout.tiers[0], self._blocks)

    def close(self) -> None:
        """Free the share and the engine's values of the layout's tiers. Freeing the engine does the same."""
        if self._open is not None:
            lib.pp_share_free(self._open)
            self._open = None

    @property
    def marked(self) -> int:
        """The number of own positions that the rules alone do not settle."""
        return int(lib.pp_share_state_of(self._open).marked)

    @property
    def last_level(self) -> int:
        return int(lib.pp_share_state_of(self._open).last_level)

    @property
    def has_ties(self) -> bool:
        return bool(lib.pp_share_state_of(self._open).has_ties)

    # ---- values ----

    def _unit(self, tier: int, first: int, length: int) -> Array:
        """Return the memory of a unit in this share, for reading or writing."""
        width = lib.pp_tier_width(self.engine.c, tier)
        block = lib.pp_share_block(self._open, tier, first >> BLOCK_BITS)
        offset = first % BLOCK_SLOTS
        memory = ffi.buffer(block, (offset + length) * width)
        return np.frombuffer(memory, dtype=f"<u{width}")[offset:]

    def values(self) -> list[Array]:
        """Return the values of the own units, in order, without copying. Valid until the share is stored or closed."""
        return [self._unit(*unit) for unit in self.layout.units(self.worker)]

    def attach_units(self, worker: int, units: Sequence[Array]) -> None:
        """Use another worker's units: without copying if they are whole blocks, else by copying into their blocks."""
        for (tier, first, length), values in zip(self.layout.units(worker), units, strict=True):
            if self.layout.whole_blocks:
                self._blocks[tier, first] = block = ffi.from_buffer(values)
                lib.pp_share_attach_block(self._open, tier, first >> BLOCK_BITS, block)
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
        """Return the reverse edges for a worker: its children, and their parents."""
        return self._batch(worker, _CHILDREN, "<u4"), self._batch(worker, _PARENTS, "<u8")

    def receive_edges(self, edges: Sequence[tuple[Array, Array]]) -> None:
        """Build the reverse graph from the edges that all workers have for this one."""
        children = [ffi.from_buffer("uint32_t[]", each) for each, _ in edges]
        parents = [ffi.from_buffer("uint64_t[]", each) for _, each in edges]
        self._run(
            lib.pp_share_receive_edges,
            len(edges),
            ffi.new("uint32_t *[]", children),
            ffi.new("uint64_t *[]", parents),
            ffi.new("uint64_t[]", [len(each) for each, _ in edges]),
        )

    def begin_ties(self) -> None:
        self._run(lib.pp_share_begin_ties)

    def propagate(self, level: int, *, ties: bool) -> None:
        self._run(lib.pp_share_propagate, level, ties)

    def updates(self, worker: int) -> list[Array]:
        """Return the updates for a worker, one array for each of UPDATES. They are valid until the next step."""
        return [self._batch(worker, kind, "<u4") for kind in UPDATES]

    def apply(self, level: int, updates: Sequence[Array], *, ties: bool) -> None:
        """Apply another worker's updates of a level."""
        for kind, slots in zip(UPDATES, updates, strict=True):
            self._run(lib.pp_share_apply, level, ties, kind, ffi.from_buffer("uint32_t[]", slots), len(slots))

    # ---- checkpoints ----

    def entries(self) -> list[Array]:
        """Return the entries of each own unit for a checkpoint. They belong to the current values."""
        units = []
        for number, (_, _, length) in enumerate(self.layout.units(self.worker)):
            states = np.empty(length, dtype=np.uint32)
            count = lib.pp_share_entries(self._open, number, ffi.from_buffer("uint32_t[]", states))
            units.append(states[:count].copy())
        return units

    def restore_values(self, units: Sequence[Array]) -> None:
        """Start from the values of a checkpoint: the units of all workers, in order."""
        for worker in range(self.layout.workers):
            values = units[worker :: self.layout.workers]
            if worker != self.worker:
                self.attach_units(worker, values)
                continue
            for unit, stored in zip(self.layout.units(worker), values, strict=True):
                self._unit(*unit)[:] = stored
        self._run(lib.pp_share_restore_values)

    def restore_entries(self, threshold: int, entries: Sequence[Array], *, ties: bool) -> None:
        """Restore the entries of the own units from the same checkpoint."""
        states = np.concatenate([np.empty(0, dtype=np.uint32), *entries])
        self._run(lib.pp_share_restore_entries, threshold, ties, ffi.from_buffer("uint32_t[]", states), len(states))

    # ---- scores and the end ----

    def collect_scores(self) -> Array:
        """Return a bitmap of the scores of the children of own positions."""
        scores = np.zeros(MAX_SCORE // 64 + 1, dtype=np.uint64)
        self._run(lib.pp_share_collect_scores, ffi.from_buffer("uint64_t[]", scores))
        return scores

    def store_score(self) -> None:
        self._run(lib.pp_share_store_score)

    def wide_tiers(self) -> Array:
        """Return for each tier whether it has a value that does not fit in one byte."""
        wide = np.zeros(len(self.layout.tiers), dtype=np.uint8)
        lib.pp_share_wide_tiers(self._open, ffi.from_buffer("uint8_t[]", wide))
        return wide

    def store(self, wide: Array) -> None:
        self._run(lib.pp_share_store, ffi.from_buffer("uint8_t[]", np.ascontiguousarray(wide, dtype=np.uint8)))

    def _batch(self, worker: int, kind: int, dtype: str) -> Array:
        count = ffi.new("uint64_t *")
        batch = lib.pp_share_batch(self._open, worker, kind, count)
        if not count[0]:
            return np.empty(0, dtype=dtype)
        return np.frombuffer(ffi.buffer(batch, count[0] * np.dtype(dtype).itemsize), dtype=dtype)

    def _run(self, function: Any, *arguments: Any) -> None:
        self.engine.run(function, self._open, *arguments)
