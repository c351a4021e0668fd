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

from perfectplay.errors import Interrupted, TableError, UsageError
from perfectplay.game.engine import cpu_seconds, game_kernel, run_in_background, translate_error
from perfectplay.game.game import Game
from perfectplay.memory import Memory, MemoryWatch, return_freed_memory, return_memory_when_freed
from perfectplay.plan.sizes import Room, Shape, describe_shortage, ranked_shape
from perfectplay.progress import Progress
from perfectplay.solve.options import (
    PROPAGATIONS,
    Budget,
    Cluster,
    choose_backend,
    choose_solver,
    require_enough,
    require_known,
)
from perfectplay.table.backends import claim_place, remove_outdated, save_table
from perfectplay.table.locations import open_table, table_path
from perfectplay.table.records import FULL, KeyRecord, Statistics, TableInfo, TierRecord, table_hash
from perfectplay.table.store import Store
from perfectplay.table.table import Table
from perfectplay.tiers.enumeration import Expand, enumerate_positions
from perfectplay.tiers.order import Component, TierSizes, components, tier_graph
from perfectplay_native.engine import Engine, Propagation
from perfectplay_native.kernel import Kernel
from perfectplay_native.values import stored_bytes


@dataclass(frozen=True, slots=True)
class Solution:
    """A finished solve: the table, and what it took."""

    table: Table
    stats: Statistics
    hash: str
    seconds: float
    cpu_seconds: float
    peak: Memory
    resumed: bool = False
    """Whether an earlier run had solved a part."""
    workers: int | None = None
    """How many workers there were, on however many machines; None where there were threads instead."""
    exchanged: int | None = None
    """Bytes that workers made for each other and for the driver."""


def solve_game(
    game: Game,
    *,
    backend: str = "memory",
    directory: Path | None = None,
    save: bool = True,
    replace_other: bool = False,
    values: str = FULL,
    threads: int | None = None,
    memory: int | None = None,
    propagation: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    warn: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    cluster: Cluster | None = None,
) -> Solution:
    """Solve every position of a game; the caller closes the table.

    `backend` memory solves in RAM and then saves; lmdb writes every finished tier to disk at once, keeps anonymous
    memory within `memory` bytes, and resumes an unfinished table; ray does so with the workers of a `cluster`, `memory`
    being for each of them. The table is the same, bit for bit, whatever the backend, the threads or workers, the
    budget, the propagation or the number of interruptions.

    `values` full gives every position its outcome and remoteness; outcome nothing but the outcome, in two bits. A
    table with values of the other kind that is there is an error; with `replace_other`, what memory saves replaces it.

    `warn` is told, at most once, that memory or disk will probably not be enough.

    Raises Interrupted when `stop` is set, TableError when the table cannot be written, PluginError when the game
    contradicts itself.
    """
    chosen = choose_backend(backend)
    durable = chosen.durable
    solver = choose_solver(chosen, backend, cluster, threads, propagation, values) or Solve
    require_known(values=values, propagation=propagation)
    if durable and not save:
        raise UsageError(f"the {backend} backend always saves: leave out --no-save, or use --backend memory")
    require_enough(memory)
    if memory is not None or game.kernel is None:  # a game in Python makes small things by the million
        return_memory_when_freed()
    started, cpu_started = time.monotonic(), cpu_seconds()
    kernel = game_kernel(game)
    if propagation == "retract" and not kernel.can_retract:
        raise UsageError(f"{game.name} has neither parents nor retract: choose another propagation")
    path = table_path(game, directory)
    if save:
        remove_outdated(game, path)
    place = claim_place(game, path, None if replace_other else values) if save and not durable else None
    watch = MemoryWatch()
    try:
        store = chosen.open(game, path, new_info(game, kernel, values))
        room = Room(in_memory=store.scratch_directory() is None, memory=memory, table=path if save else None)

        def check_shape(shape: Shape) -> None:
            shape = replace(shape, outcomes=store.info.outcomes)
            if warn and (text := describe_shortage(game, shape, room, done_bytes=store.size_on_disk)):
                warn(text)

        solve = solver(game, kernel, store, threads, memory, PROPAGATIONS[propagation], progress, stop, check_shape)
        try:
            with watch:
                with kernel.memo(solve.budget.for_answers):
                    solve.run()
                if place is not None:
                    solve.report("saving")
                    save_table(store, place)
        except BaseException as error:
            solve.close()
            store.close()
            raise translate_error(error, game) from None
    finally:
        if place is not None:
            place.release()
    table = solve.table()
    return Solution(
        table=table,
        stats=table.statistics,
        hash=store.info.hash or "",
        seconds=time.monotonic() - started,
        cpu_seconds=cpu_seconds() - cpu_started + solve.cpu_elsewhere,
        resumed=solve.done_before > 0,
        peak=watch.peak,
        workers=solve.workers,
        exchanged=solve.exchanged,
    )


def new_info(game: Game, kernel: Kernel, values: str = FULL) -> TableInfo:
    """The metadata of a table of which nothing is solved yet."""
    return TableInfo(
        game=game.name,
        options=game.options,
        rules_version=game.rules_version,
        host_version=version("perfectplay"),
        indexing="ranked" if kernel.ranked else "enumerated",
        status="solving" if kernel.ranked else "enumerating",
        values=values,
    )


class Solve:
    """One run on this machine: the state that its steps share. A backend may bring another kind (choosing.py)."""

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
        check_shape: Callable[[Shape], None],
    ) -> None:
        self.game, self.kernel, self.store, self.propagation = game, kernel, store, propagation
        self.outcomes = store.info.outcomes
        self.memory, self.budget = memory, Budget(memory, kernel)
        self.threads = threads
        self.progress, self.stop = progress, stop or threading.Event()
        self.check_shape = check_shape
        self.started = time.monotonic()
        self.engine: Engine | None = None
        self.sizes: dict[int, int] = {}
        self.order: list[Component] = []
        self.slots_done = self.done_before = self.tiers_done = 0
        self.workers: int | None = None
        self.exchanged: int | None = None
        self.cpu_elsewhere = 0.0
        self.attached: set[int] = set()
        self.keys: dict[int, KeyRecord] = {}
        self.records = store.tier_records()

    # ---- the whole ----

    def run(self) -> None:
        scratch = self.store.scratch_directory()
        if not self.kernel.ranked:
            self._enumerate(scratch)
        self._plan()
        if scratch is None:
            largest = max(map(self.slots, self.order), default=0)
            slots = sum(self.sizes.values()) + largest
            self.budget.require(stored_bytes(slots, 0 if self.outcomes else 1), self.game.name)
        self.check_shape(ranked_shape(self.kernel, TierSizes(self.sizes, self.order)))
        self.solve_components(scratch)
        digest = table_hash(self.records.values(), self.keys.values())
        if self.store.info.status != "complete":
            self.store.set_info(replace(self.store.info, status="complete", hash=digest))

    def solve_components(self, scratch: Path | None) -> None:
        self._start_engine(scratch)
        for component in self.order:
            self._solve_component(component)

    def _enumerate(self, scratch: Path | None) -> None:
        if self.store.info.status == "enumerating":
            count = [0, 0]

            def found(tier: int, positions: int) -> None:
                count[:] = tier, positions

            def work() -> None:
                for heard in self.kernel.prefill_memo():
                    found(0, heard)
                    self._check()
                enumerate_positions(
                    self.kernel,
                    self.store,
                    game=self.game.name,
                    threads=self.threads,
                    budget=self.budget.for_enumeration(in_files=scratch is not None),
                    directory=scratch,
                    found=found,
                    check=self._check,
                    expand=self.expander(),
                )

            run_in_background(
                work,
                game=self.game,
                stop=self.stop,
                tell=lambda: self.report("enumerating", positions=count[1]),
            )
            return_freed_memory()
            self.store.set_info(replace(self.store.info, status="solving"))
        self.keys = self.store.key_records()

    def expander(self) -> Expand | None:
        """What finds children while positions are enumerated; None for this process's own threads."""
        return None

    def _plan(self) -> None:
        if self.kernel.ranked:
            tiers = range(self.kernel.tier_count)
            self.sizes = {tier: self.kernel.tier_size(tier) for tier in tiers}
        else:
            self.sizes = {tier: record.size for tier, record in self.keys.items()}
        self._check_rules()
        self.order = components(tier_graph(self.kernel, self.keys))

    def _check_rules(self) -> None:
        """Tiers that were solved earlier must be those of the game as it is now."""
        for tier, record in self.records.items():
            if self.sizes.get(tier) != record.size:
                raise TableError(
                    f"{self.store.path} was made by other rules: tier {tier} had {record.size:,} positions then and "
                    f"has {self.sizes.get(tier, 0):,} now; delete it and solve again"
                )

    def _start_engine(self, scratch: Path | None) -> None:
        self.engine = Engine(self.kernel, tiers=max(self.sizes, default=0) + 1, threads=self.threads)
        if (rest := self.budget.for_engine) is not None:
            self.engine.set_memory(rest, None if scratch is None else str(scratch))
        self.store.on_moved = self._forget_attached
        if not self.kernel.ranked:
            self.kernel.index_memo((tier, self.store.key_blocks(record)) for tier, record in self.keys.items())

    # ---- one component ----

    def _solve_component(self, component: Component) -> None:
        """Solve tiers that reach each other, unless they are in the store, and sound."""
        if self.is_kept(component):
            self.done_before += self.slots(component)
        else:
            self._run_engine(component)
            for tier in component.tiers:
                self._keep(tier)
        self.slots_done += self.slots(component)
        self.tiers_done += len(component.tiers)

    def is_kept(self, component: Component) -> bool:
        """Whether an earlier run has solved these tiers, and they are sound."""
        records = [self.records.get(tier) for tier in component.tiers]
        return None not in records

    def slots(self, component: Component) -> int:
        return sum(self.sizes[tier] for tier in component.tiers)

    def _run_engine(self, component: Component) -> None:
        engine = self.engine
        assert engine is not None
        self._attach(component.leads_to)
        for tier in component.tiers:
            self._define(tier)
        run_in_background(
            lambda: engine.solve(
                component.tiers, cyclic=component.cyclic, propagation=self.propagation, outcomes=self.outcomes
            ),
            game=self.game,
            stop=self.stop,
            cancel=engine.stop,
            tell=lambda: self.report("solving"),
        )

    def _keep(self, tier: int) -> None:
        """Give a solved tier to the store."""
        assert self.engine is not None
        size = self.sizes[tier]
        values = self.engine.values(tier, size)
        record = TierRecord.of_outcomes(tier, values, size) if self.outcomes else TierRecord.of(tier, values)
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
        now, level = self.under_way() if phase == "solving" else (0, 0)
        total = sum(self.sizes.values()) if self.sizes else None
        done = self.slots_done + now if positions is None else positions
        self.progress(
            Progress(
                phase=phase,
                positions=done if total is None else min(done, total),  # the engine counts on for a moment
                total=total,
                done_before=self.done_before,
                unit="slots" if self.kernel.ranked else "positions",
                tiers_done=self.tiers_done,
                tiers=len(self.sizes),
                level=level,
                seconds=time.monotonic() - self.started,
            )
        )

    def under_way(self) -> tuple[int, int]:
        """How many slots of the tiers being solved are done, and the level."""
        state = self.engine.progress if self.engine is not None else None
        return (state.positions, state.level) if state else (0, 0)

    # ---- the end ----

    def table(self) -> Table:
        if not self.store.copies and self.engine is not None:
            return Table(self.game, self.store, self.kernel, engine=self.engine)
        self.close()
        if self.store.path is None:
            return Table(self.game, self.store, self.kernel)
        self.store.close()
        return open_table(self.game, self.store.path, memory=self.budget.for_engine)

    def close(self) -> None:
        """Give back what solving needed; the store stays."""
        if self.engine is not None:
            self.engine.close()
            self.engine = None
