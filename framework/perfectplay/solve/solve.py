"""`solve_game`: opens what a solve needs, runs its steps in order, and returns the finished table."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Unpack

from perfectplay.game.engine import cpu_seconds, game_kernel, translate_error
from perfectplay.game.game import Game
from perfectplay.memory import Memory, MemoryWatch, return_memory_when_freed
from perfectplay.plan.sizes import Room, describe_shortage, ranked_shape
from perfectplay.solve.options import Callbacks, Cluster, ClusterBackend, SolveKeywords, SolveOptions
from perfectplay.solve.steps import LocalSteps, SolveState, Steps
from perfectplay.table.backends import claim_place, remove_outdated, save_table
from perfectplay.table.lmdb_store import remove_table
from perfectplay.table.locations import has_table, open_table, table_path
from perfectplay.table.records import FULL, Statistics, TableInfo, table_hash
from perfectplay.table.table import Table
from perfectplay.threads import Progress
from perfectplay_native.kernel import Kernel
from perfectplay_native.values import stored_bytes


@dataclass(frozen=True, slots=True)
class Solution:
    """A finished solve: the table, and the time and memory it took."""

    table: Table
    stats: Statistics
    hash: str
    seconds: float
    cpu_seconds: float
    peak: Memory
    resumed: bool = False
    """Whether an earlier run had solved a part."""
    workers: int | None = None
    """The number of workers on all machines; None if the solve used threads."""
    exchanged: int | None = None
    """Bytes that workers produced for each other and for the driver."""


def solve_game(
    game: Game,
    options: SolveOptions | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    warn: Callable[[str], None] | None = None,
    stop: threading.Event | None = None,
    **keywords: Unpack[SolveKeywords],
) -> Solution:
    """Solve every position of a game. The caller closes the table.

    Options are given as keywords, as `SolveOptions`, or both; keywords take precedence.

    - `backend`: `"memory"` (the default) solves in RAM and then saves; `"lmdb"` writes each tier to disk when it is
      solved, keeps anonymous memory within `memory` bytes, and resumes an unfinished table; `"ray"` does the same with
      the workers of a `cluster`, each within `memory` bytes.
    - `directory`, `save`: where to keep the table, and whether to keep it. lmdb and ray always do.
    - `values`: `"full"` (the default) stores the outcome and the remoteness of each position; `"outcome"` stores only
      the outcome, in two bits.
    - `replace_other`: solve again and replace an existing table, even one with the other kind of values.
    - `threads`: the number of threads; by default one per core.

    The table is the same, bit for bit, for any backend, number of threads or workers, budget or interruptions.

    `progress` is called a few times per second, and `warn` at most once, if memory or disk will probably not suffice.

    Raises UsageError for options that contradict each other, Interrupted when `stop` is set, TableError when the table
    cannot be written, and PluginError when the game contradicts itself.
    """
    if options is None:
        options = SolveOptions(**keywords)
    elif keywords:
        options = replace(options, **keywords)
    make_steps: Callable[[SolveState], Steps] = LocalSteps
    if isinstance(options.chosen_backend, ClusterBackend):
        make_steps = options.chosen_backend.make_steps_factory(options.cluster or Cluster())
    callbacks = Callbacks(progress=progress, warn=warn, stop=stop or threading.Event())
    return run_solve(game, options, make_steps, callbacks)


def run_solve(
    game: Game, options: SolveOptions, make_steps: Callable[[SolveState], Steps], callbacks: Callbacks | None = None
) -> Solution:
    """Solve a game with the given steps. The store, its lock, the engine and the workers are opened and closed here."""
    callbacks = callbacks or Callbacks()
    if options.memory is not None or game.kernel is None:  # a game in Python allocates millions of small objects
        return_memory_when_freed()
    started, cpu_started = time.monotonic(), cpu_seconds()
    backend, kernel, path = options.chosen_backend, game_kernel(game), table_path(game, options.directory)
    if options.save:
        remove_outdated(game, path)
    if backend.durable and options.replace_other and has_table(path):
        remove_table(path)  # a durable backend would resume it
    save_to_place = options.save and not backend.durable
    place = claim_place(game, path, None if options.replace_other else options.values) if save_to_place else None
    watch = MemoryWatch()
    with place or nullcontext(), ExitStack() as resources:
        store = resources.enter_context(closing(backend.open(game, path, new_info(game, kernel, options.values))))
        state = SolveState(game, kernel, store, options, callbacks, started)
        steps = resources.enter_context(closing(make_steps(state)))
        try:
            with watch:
                with kernel.memo(state.budget.memo_bytes):
                    _run_steps(state, steps, path)
                if place is not None:
                    state.report("saving", state.slots_done)
                    save_table(store, place)
        except BaseException as error:
            raise translate_error(error, game) from None
        digest, effort = store.info.hash or "", steps.effort
        table = _take_table(state, steps, resources)
    return Solution(
        table=table,
        stats=table.statistics,
        hash=digest,
        seconds=time.monotonic() - started,
        cpu_seconds=cpu_seconds() - cpu_started + effort.cpu_seconds,
        resumed=state.slots_resumed > 0,
        peak=watch.peak,
        workers=effort.workers,
        exchanged=effort.exchanged,
    )


def new_info(game: Game, kernel: Kernel, values: str = FULL) -> TableInfo:
    """Return the metadata of a table without any solved tier."""
    return TableInfo(
        game=game.name,
        options=game.options,
        rules_version=game.rules_version,
        host_version=version("perfectplay"),
        indexing="ranked" if kernel.ranked else "enumerated",
        status="solving" if kernel.ranked else "enumerating",
        values=values,
    )


def _run_steps(state: SolveState, steps: Steps, path: Path) -> None:
    kernel, store = state.kernel, state.store
    if not kernel.ranked:
        steps.enumerate()
    state.load_tiers()
    tiers, in_memory = state.tiers, store.scratch_directory() is None
    if in_memory:
        slots = tiers.slots + tiers.largest_component
        state.budget.require(stored_bytes(slots, 0 if store.info.outcomes else 1), state.game.name)
    if state.callbacks.warn is not None:
        room = Room(in_memory=in_memory, memory=state.options.memory, table=path if state.options.save else None)
        shape = replace(ranked_shape(kernel, tiers), outcomes=store.info.outcomes)
        if text := describe_shortage(state.game, shape, room, done_bytes=store.size_on_disk):
            state.callbacks.warn(text)
    steps.solve_components()
    if store.info.status != "complete":
        digest = table_hash(state.records.values(), state.keys.values())
        store.set_info(replace(store.info, status="complete", hash=digest))


def _take_table(state: SolveState, steps: Steps, resources: ExitStack) -> Table:
    """Open the finished table. A table in memory takes over the store, and the engine if that has the values."""
    game, store = state.game, state.store
    if store.path is not None and store.copies:
        resources.close()
        return open_table(game, store.path, memory=state.budget.engine_bytes)
    resources.pop_all()
    if store.copies:
        steps.close()
        return Table(game, store, state.kernel)
    return Table(game, store, state.kernel, engine=steps.release_engine())
