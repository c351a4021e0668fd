"""Drives a solve: which tiers in which order, where the values go, what is told meanwhile.

The work itself is the engine's, in C. This module runs it in a thread of its own, so that the caller hears of the
progress a few times a second and can stop it at any moment.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from perfectplay import plugins
from perfectplay.errors import Interrupted, PerfectPlayError, TableError, UsageError, did_you_mean
from perfectplay.game import Game
from perfectplay.kernels import game_kernel
from perfectplay.progress import Progress
from perfectplay.solving import background
from perfectplay.solving.enumeration import enumerate_positions
from perfectplay.solving.memory_limits import Available, available_memory
from perfectplay.solving.tier_order import Component, components
from perfectplay.tables.backends import Backend
from perfectplay.tables.lmdb_store import COMMIT_BYTES
from perfectplay.tables.locations import table_path
from perfectplay.tables.opening import open_table, require_same_game
from perfectplay.tables.records import KeyRecord, Statistics, TableInfo, TierRecord, table_hash
from perfectplay.tables.saving import claim_place, remove_outdated, save_table
from perfectplay.tables.store import Store
from perfectplay.tables.table import Table
from perfectplay_native.engine import Engine, Propagation
from perfectplay_native.kernel import Kernel

PROPAGATIONS = {propagation.name.lower(): propagation for propagation in Propagation}

FIXED_MEMORY = COMMIT_BYTES + (16 << 20)
"""Of a budget, what is not the engine's: a store's dirty pages (LMDB's, say), and small things."""

SMALLEST_BUDGET = FIXED_MEMORY + (16 << 20)


@dataclass(frozen=True, slots=True)
class Solution:
    """A finished solve: the table, and what it took."""

    table: Table
    stats: Statistics
    hash: str
    seconds: float
    cpu_seconds: float
    peak_rss: int
    resumed: bool = False
    """Whether an earlier run had solved a part."""


def solve_game(
    game: Game,
    *,
    backend: str = "memory",
    directory: Path | None = None,
    save: bool = True,
    threads: int | None = None,
    memory: int | None = None,
    propagation: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    stop: threading.Event | None = None,
) -> Solution:
    """Solve every position of a game; the caller closes the table.

    `backend` memory solves in RAM and then saves; lmdb writes every finished tier to disk at once, keeps anonymous
    memory within `memory` bytes, and resumes an unfinished table. The table is the same, bit for bit, whatever the
    backend, the threads, the budget, the propagation or the number of interruptions.

    Raises Interrupted when `stop` is set, TableError when the table cannot be written, PluginError when the game
    contradicts itself.
    """
    chosen = _backend(backend)
    durable = chosen.durable
    if propagation not in PROPAGATIONS:
        raise UsageError(f"there is no propagation {propagation!r}: choose one of {', '.join(PROPAGATIONS)}")
    if durable and not save:
        raise UsageError(f"the {backend} backend always saves: leave out --no-save, or use --backend memory")
    if memory is not None and memory < SMALLEST_BUDGET:
        raise UsageError(f"--memory is too small: the least that works is {SMALLEST_BUDGET >> 20}M")
    started, cpu_started = time.monotonic(), background.cpu_seconds()
    kernel = game_kernel(game)
    if propagation == "retract" and not kernel.can_retract:
        raise UsageError(f"{game.name} has neither parents nor retract: choose another propagation")
    path = table_path(game, directory)
    if save:
        remove_outdated(game, path)
    place = claim_place(game, path) if save and not durable else None
    try:
        store = chosen.open(game, path, _new_info(game, kernel))
        require_same_game(store, game)
        solve = _Solve(game, kernel, store, threads, memory, PROPAGATIONS[propagation], progress, stop)
        try:
            solve.run()
            if place is not None:
                solve.report("saving")
                save_table(store, place)
        except BaseException as error:
            solve.engine_close()
            store.close()
            raise background.translate_error(error, game) from None
    finally:
        if place is not None:
            place.release()
    table = solve.table()
    return Solution(
        table=table,
        stats=table.statistics,
        hash=store.info.hash or "",
        seconds=time.monotonic() - started,
        cpu_seconds=background.cpu_seconds() - cpu_started,
        resumed=solve.done_before > 0,
        peak_rss=background.peak_memory(),
    )


def _backend(name: str) -> Backend:
    registry = plugins.host_registry()
    if name in registry.backends:
        backend: Backend = registry.backends[name]
        return backend
    hint = did_you_mean(name, registry.backends)
    there_are = ", ".join(sorted(registry.backends))
    broken = "".join(f"; {plugin} is broken: {reason}" for plugin, reason in registry.broken.items())
    raise UsageError(f"unknown backend '{name}'{hint} (there are: {there_are}{broken})")


def _new_info(game: Game, kernel: Kernel) -> TableInfo:
    return TableInfo(
        game=game.name,
        options=game.options,
        rules_version=game.rules_version,
        host_version=version("perfectplay"),
        indexing="ranked" if kernel.ranked else "enumerated",
        status="solving" if kernel.ranked else "enumerating",
    )


class _Solve:
    """One run: the state that its steps share."""

    def __init__(
        self,
        game: Game,
        kernel: Kernel,
        store: Store,
        threads: int | None,
        memory: int | None,
        propagation: Propagation,
        progress: Callable[[Progress], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self.game, self.kernel, self.store, self.propagation = game, kernel, store, propagation
        self.memory = memory
        self.threads = threads
        self.progress, self.stop = progress, stop or threading.Event()
        self.started = time.monotonic()
        self.engine: Engine | None = None
        self.sizes: dict[int, int] = {}
        self.order: list[Component] = []
        self.slots_done = self.done_before = self.tiers_done = 0
        self.attached: set[int] = set()
        self.keys: dict[int, KeyRecord] = {}
        self.records = store.tier_records()

    # ---- the whole ----

    def run(self) -> None:
        scratch = self.store.scratch_directory()
        if not self.kernel.ranked:
            self._enumerate(scratch)
        self._plan()
        self._start_engine(scratch)
        for component in self.order:
            self._solve_component(component)
        digest = table_hash(self.records.values(), self.keys.values())
        if self.store.info.status != "complete":
            self.store.set_info(replace(self.store.info, status="complete", hash=digest))

    def _enumerate(self, scratch: Path | None) -> None:
        if self.store.info.status == "enumerating":
            budget = None if self.memory is None else (self.memory - FIXED_MEMORY) // 2
            if scratch is None and budget is None:
                budget = available_memory().bytes
            count = [0, 0]

            def found(tier: int, positions: int) -> None:
                count[:] = tier, positions

            background.run(
                lambda: enumerate_positions(
                    self.kernel,
                    self.store,
                    game=self.game.name,
                    budget=budget,
                    directory=scratch,
                    found=found,
                    check=self._check,
                ),
                game=self.game,
                stop=self.stop,
                tell=lambda: self.report("enumerating", positions=count[1]),
            )
            self.store.set_info(replace(self.store.info, status="solving"))
        self.keys = self.store.key_records()

    def _plan(self) -> None:
        if self.kernel.ranked:
            tiers = range(self.kernel.tier_count)
            self.sizes = {tier: self.kernel.tier_size(tier) for tier in tiers}
            graph = {tier: self._tier_children(tier) for tier in tiers}
        else:
            self.sizes = {tier: record.size for tier, record in self.keys.items()}
            graph = {tier: [*r.children, *([tier] if r.cyclic else [])] for tier, r in self.keys.items()}
        self._check_rules()
        self.order = components(graph)

    def _check_rules(self) -> None:
        """Tiers that were solved earlier must be those of the game as it is now."""
        for tier, record in self.records.items():
            if self.sizes.get(tier) != record.size:
                raise TableError(
                    f"{self.store.path} was made by other rules: tier {tier} had {record.size:,} positions then and "
                    f"has {self.sizes.get(tier, 0):,} now; delete it and solve again"
                )

    def _tier_children(self, tier: int) -> list[int]:
        children = self.kernel.tier_children(tier)
        return list(range(tier, self.kernel.tier_count)) if children is None else children

    def _start_engine(self, scratch: Path | None) -> None:
        self.engine = Engine(self.kernel, tiers=max(self.sizes, default=0) + 1, threads=self.threads)
        if self.memory is not None:
            self.engine.set_memory(self.memory - FIXED_MEMORY, None if scratch is None else str(scratch))
        self.store.on_moved = self._forget_attached
        if scratch is None:
            self._check_fits()

    def _check_fits(self) -> None:
        """Refuse at once what memory cannot hold, rather than be killed for it later."""
        largest = max((sum(self.sizes[t] for t in c.tiers) for c in self.order), default=0)
        needed = sum(self.sizes.values()) + largest
        available = Available(self.memory, "--memory") if self.memory else available_memory()
        if needed > available.bytes:
            room = max(SMALLEST_BUDGET, available.bytes // 2) >> 20
            raise PerfectPlayError(
                f"solving {self.game.name} in memory needs about {needed >> 20}M and {available.limit} leaves "
                f"{available.bytes >> 20}M: use `--backend lmdb --memory {room}M`, which needs less"
            )

    # ---- one component ----

    def _solve_component(self, component: Component) -> None:
        """Solve tiers that reach each other, unless they are in the store, and sound."""
        records = [self.records.get(tier) for tier in component.tiers]
        if not all(record is not None and self.store.is_intact(record) for record in records):
            self._run_engine(component)
            for tier in component.tiers:
                self._keep(tier)
        else:
            self.done_before += self._slots(component)
        self.slots_done += self._slots(component)
        self.tiers_done += len(component.tiers)

    def _slots(self, component: Component) -> int:
        return sum(self.sizes[tier] for tier in component.tiers)

    def _run_engine(self, component: Component) -> None:
        engine = self.engine
        assert engine is not None
        self._attach(component.leads_to)
        for tier in component.tiers:
            self._define(tier)
        background.run(
            lambda: engine.solve(component.tiers, cyclic=component.cyclic, propagation=self.propagation),
            game=self.game,
            stop=self.stop,
            cancel=engine.stop,
            tell=lambda: self.report("solving"),
        )

    def _keep(self, tier: int) -> None:
        """Give a solved tier to the store."""
        assert self.engine is not None
        values = self.engine.values(tier, self.sizes[tier])
        record = TierRecord.of(tier, values)
        self.store.write_values(record, values)
        self.records[tier] = record
        del values
        if self.store.copies:
            self.engine.drop(tier)

    def _define(self, tier: int) -> None:
        assert self.engine is not None
        keys = None if self.kernel.ranked else self.store.key_blocks(self.keys[tier])
        self.engine.define(tier, self.sizes[tier], keys)

    def _attach(self, tiers: Sequence[int]) -> None:
        """Have exactly these finished tiers at hand, where the store does not keep them in the engine anyway."""
        if not self.store.copies:
            return
        assert self.engine is not None
        for tier in self.attached - set(tiers):
            self.engine.drop(tier)
        for tier in set(tiers) - self.attached:
            self._define(tier)
            record = self.records[tier]
            self.engine.attach(tier, record.width, self.store.value_blocks(record))
        self.attached = set(tiers)

    def _forget_attached(self) -> None:
        if self.engine is not None:
            for tier in self.attached:
                self.engine.drop(tier)
        self.attached = set()

    # ---- telling, stopping ----

    def _check(self) -> None:
        if self.stop.is_set():
            raise Interrupted("interrupted")

    def report(self, phase: str, positions: int | None = None) -> None:
        if self.progress is None:
            return
        state = self.engine.progress if self.engine is not None and phase == "solving" else None
        total = sum(self.sizes.values()) if self.sizes else None
        done = self.slots_done + (state.positions if state else 0) if positions is None else positions
        self.progress(
            Progress(
                phase=phase,
                positions=done if total is None else min(done, total),  # the engine counts on for a moment
                total=total,
                done_before=self.done_before,
                unit="slots" if self.kernel.ranked else "positions",
                tiers_done=self.tiers_done,
                tiers=len(self.sizes),
                level=state.level if state else 0,
                seconds=time.monotonic() - self.started,
            )
        )

    # ---- the end ----

    def table(self) -> Table:
        if not self.store.copies and self.engine is not None:
            return Table(self.game, self.store, self.kernel, engine=self.engine)
        self.engine_close()
        if self.store.path is None:
            return Table(self.game, self.store, self.kernel)
        self.store.close()
        return open_table(self.game, self.store.path)

    def engine_close(self) -> None:
        if self.engine is not None:
            self.engine.close()
            self.engine = None
