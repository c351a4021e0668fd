"""The state of a solve, and the steps that do the work: enumerating positions and solving components.

`LocalSteps` runs the engine in this process; cluster/driver.py has the steps that use workers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from perfectplay.errors import Interrupted, TableError, UsageError
from perfectplay.game.engine import run_in_background
from perfectplay.game.game import Game
from perfectplay.memory import return_freed_memory
from perfectplay.solve.options import Budget, Callbacks, SolveOptions
from perfectplay.table.records import KeyRecord, TierRecord
from perfectplay.table.store import Store
from perfectplay.threads import Progress
from perfectplay.tiers.enumeration import Expand, enumerate_positions
from perfectplay.tiers.external_set import SpillBudget
from perfectplay.tiers.order import Component, TierScan, TierSizes
from perfectplay_native.engine import Engine, Propagation
from perfectplay_native.kernel import Kernel


class Steps(Protocol):
    """The work of a solve. `solve_components` is called once, after `enumerate` if the game has no index."""

    @property
    def effort(self) -> Effort: ...
    def enumerate(self) -> None:
        """Write the keys of all tiers to the store, and read their records."""

    def solve_components(self) -> None:
        """Solve every component that the store does not have, and write it to the store."""

    def release_engine(self) -> Engine | None:
        """Hand over the engine that holds the solved values; None if there is none."""

    def close(self) -> None:
        """Release engine and workers; the store stays open."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The work done outside this process."""

    workers: int | None = None
    """None if the solve used threads."""
    exchanged: int | None = None
    """Bytes that workers produced for each other and for the driver."""
    cpu_seconds: float = 0.0


@dataclass(slots=True)
class SolveState:
    """The state of one solve, which all steps share."""

    game: Game
    kernel: Kernel
    store: Store
    options: SolveOptions
    callbacks: Callbacks
    started: float
    keys: dict[int, KeyRecord] = field(default_factory=dict)
    """The records of enumerated tiers; empty for a game with an index."""
    records: dict[int, TierRecord] = field(default_factory=dict)
    """The records of solved tiers."""
    tiers: TierSizes = field(default_factory=lambda: TierSizes({}, []))
    slots_done: int = 0
    slots_resumed: int = 0
    """The part of `slots_done` that an earlier run solved."""
    tiers_done: int = 0

    @property
    def budget(self) -> Budget:
        return Budget(self.options.memory, self.kernel)

    def load_tiers(self) -> None:
        """Determine sizes and order of the tiers; raise TableError if tiers of an earlier run have other sizes."""
        self.records = self.store.tier_records()
        scan = TierScan(threads=self.options.threads, check=self.check_stop)
        self.tiers = TierSizes.of(self.kernel, self.keys, scan)
        for tier, record in self.records.items():
            if (size := self.tiers.sizes.get(tier)) != record.size:
                raise TableError(
                    f"{self.store.path} was made with other rules: tier {tier} had {record.size:,} positions then and "
                    f"has {size or 0:,} now; solve again with --force"
                )

    def is_solved(self, component: Component) -> bool:
        return all(tier in self.records for tier in component.tiers)

    def count_component(self, component: Component, *, resumed: bool = False) -> None:
        """Count a component as done, by this run or by an earlier one."""
        slots = self.tiers.slots_in(component)
        self.slots_done += slots
        self.slots_resumed += slots if resumed else 0
        self.tiers_done += len(component.tiers)

    def check_stop(self) -> None:
        """Raise Interrupted if the caller has requested a stop."""
        if self.callbacks.stop.is_set():
            raise Interrupted("interrupted")

    def report(self, phase: str, positions: int, level: int = 0) -> None:
        """Report the progress to the caller."""
        if self.callbacks.progress is None:
            return
        total = self.tiers.slots if self.tiers.sizes else None
        self.callbacks.progress(
            Progress(
                phase=phase,
                positions=positions if total is None else min(positions, total),  # the engine may count a few twice
                total=total,
                done_before=self.slots_resumed,
                unit="slots" if self.kernel.ranked else "positions",
                tiers_done=self.tiers_done,
                tiers=len(self.tiers.sizes),
                level=level,
                seconds=time.monotonic() - self.started,
            )
        )


def enumerate_tiers(state: SolveState, expand: Expand | None = None) -> None:
    """Write the keys of all tiers to the store, unless an earlier run has, and read their records.

    `expand` finds children; by default, threads of this process do.
    """
    store = state.store
    if store.info.status == "enumerating":
        total = 0

        def count(tier: int, positions: int) -> None:
            nonlocal total
            total = positions

        def enumerate_all() -> None:
            for positions in state.kernel.prefill_memo():
                count(0, positions)
                state.check_stop()
            scratch = store.scratch_directory()
            limit = state.budget.enumeration_bytes(in_files=scratch is not None)
            enumerate_positions(
                state.kernel,
                store,
                threads=state.options.threads,
                budget=SpillBudget(limit, scratch),
                report=count,
                check=state.check_stop,
                expand=expand,
            )

        run_in_background(
            enumerate_all,
            game=state.game,
            stop=state.callbacks.stop,
            report=lambda: state.report("enumerating", total),
        )
        return_freed_memory()
        store.set_info(replace(store.info, status="solving"))
    state.keys = store.key_records()


class LocalSteps:
    """Steps that run the engine in this process. It runs in a thread, so that it can report progress and be stopped."""

    effort = Effort()

    def __init__(self, state: SolveState, *, propagation: Propagation = Propagation.AUTO) -> None:
        if propagation is Propagation.RETRACT and not state.kernel.can_retract:
            raise UsageError(f"{state.game.name} has neither parents nor retract; choose another propagation")
        self.state, self.propagation = state, propagation
        self._engine: Engine | None = None
        self._attached: set[int] = set()

    @property
    def engine(self) -> Engine:
        assert self._engine is not None
        return self._engine

    def enumerate(self) -> None:
        enumerate_tiers(self.state)

    def solve_components(self) -> None:
        self._start_engine()
        state = self.state
        for component in state.tiers.order:
            resumed = state.is_solved(component)
            if not resumed:
                self._run_engine(component)
                for tier in component.tiers:
                    self.write_tier(tier)
            state.count_component(component, resumed=resumed)

    def _start_engine(self) -> None:
        state, scratch = self.state, self.state.store.scratch_directory()
        threads = state.options.threads
        self._engine = Engine(state.kernel, tiers=max(state.tiers.sizes, default=0) + 1, threads=threads)
        if (limit := state.budget.engine_bytes) is not None:
            self.engine.set_memory(limit, None if scratch is None else str(scratch))
        state.store.on_moved = self._drop_attached
        if not state.kernel.ranked:
            state.kernel.index_memo((tier, state.store.key_blocks(record)) for tier, record in state.keys.items())

    def _run_engine(self, component: Component) -> None:
        state, engine = self.state, self.engine
        self._attach(component.leads_to)
        for tier in component.tiers:
            self._define(tier)

        def report() -> None:
            progress = engine.progress
            state.report("solving", state.slots_done + progress.positions, progress.level)

        run_in_background(
            lambda: engine.solve(
                component.tiers,
                cyclic=component.cyclic,
                propagation=self.propagation,
                outcomes=state.store.info.outcomes,
            ),
            game=state.game,
            stop=state.callbacks.stop,
            cancel=engine.stop,
            report=report,
        )

    def write_tier(self, tier: int) -> None:
        """Write a solved tier to the store."""
        state, size = self.state, self.state.tiers.sizes[tier]
        values = self.engine.values(tier, size)
        if state.store.info.outcomes:
            record = TierRecord.of_outcomes(tier, values, size)
        else:
            record = TierRecord.of(tier, values)
        state.store.write_values(record, values)
        state.records[tier] = record
        del values
        if state.store.copies:
            self.engine.drop(tier)

    def _define(self, tier: int) -> None:
        state = self.state
        keys = None if state.kernel.ranked else state.store.key_blocks(state.keys[tier])
        self.engine.define(tier, state.tiers.sizes[tier], keys)

    def _attach(self, tiers: Sequence[int]) -> None:
        """Attach exactly these finished tiers. A store that does not copy leaves all tiers in the engine anyway."""
        if not self.state.store.copies:
            return
        for tier in self._attached - set(tiers):
            self.engine.drop(tier)
        for tier in set(tiers) - self._attached:
            self._define(tier)
            record = self.state.records[tier]
            self.engine.attach(tier, record.width, self.state.store.value_blocks(record))
        self._attached = set(tiers)

    def _drop_attached(self) -> None:
        """Drop the attached tiers because the store has moved their blocks."""
        if self._engine is not None:
            for tier in self._attached:
                self._engine.drop(tier)
        self._attached = set()

    def release_engine(self) -> Engine | None:
        engine, self._engine = self._engine, None
        return engine

    def close(self) -> None:
        if (engine := self.release_engine()) is not None:
            engine.close()
