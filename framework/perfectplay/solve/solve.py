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

from perfectplay.compile.kernel import describe_rules, solving_kernel
from perfectplay.files import free_disk
from perfectplay.game import wording
from perfectplay.game.engine import cpu_seconds, translate_error
from perfectplay.game.game import Game
from perfectplay.memory import Available, Memory, MemoryWatch, available_memory, limit_freed_memory
from perfectplay.plan.sizes import shape_of
from perfectplay.solve.options import Callbacks, Cluster, ClusterBackend, SolveKeywords, SolveOptions
from perfectplay.solve.steps import LocalSteps, SolveState, Steps
from perfectplay.table.backends import Replacement, claim_place, is_outdated, save_table
from perfectplay.table.locations import open_table, require_same_game, require_same_values, table_path
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
    rules: str
    """The rules that the solve used: "C kernel", "Python, compiled" or "Python"."""
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
    started, cpu_started = time.monotonic(), cpu_seconds()
    backend, kernel, path = options.chosen_backend, solving_kernel(game), table_path(game, options.directory)
    if options.memory is not None or not kernel.cheap:  # a game in Python allocates millions of small objects
        limit_freed_memory(options.memory or 0)
    replacing = options.save and (options.replace_other or is_outdated(game, path))
    place = replacement = None
    if replacing or (options.save and not backend.durable):
        place = claim_place(game, path, None if replacing else options.values)
    if place is not None and backend.durable:
        replacement = Replacement(backend, place)
    watch = MemoryWatch()
    with place or nullcontext(), ExitStack() as resources:
        info = new_info(game, kernel, options.values)
        opened = backend.open(game, path, info) if replacement is None else replacement.open(game, info)
        store = resources.enter_context(closing(opened))
        require_same_game(store, game)  # again, in case that the backend of a plugin does not check
        require_same_values(store, game, options.values)
        state = SolveState(game, kernel, store, options, callbacks, started)
        steps = resources.enter_context(closing(make_steps(state)))
        try:
            with watch:
                with kernel.memo(state.budget.memo_bytes):
                    _run_steps(state, steps, path)
                if place is not None and replacement is None:
                    state.report("saving", state.slots_done)
                    save_table(store, place)
        except BaseException as error:
            if replacement is not None and not store.key_records() and not store.tier_records():
                resources.close()
                replacement.remove()  # there is nothing to resume
            raise translate_error(error, game) from None
        digest, effort = store.info.hash or "", steps.effort
        table = _take_table(state, steps, resources, replacement)
    return Solution(
        table=table,
        stats=table.statistics,
        hash=digest,
        seconds=time.monotonic() - started,
        cpu_seconds=cpu_seconds() - cpu_started + effort.cpu_seconds,
        resumed=state.slots_resumed > 0,
        peak=watch.peak,
        rules=describe_rules(game),
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
    if state.callbacks.warn is not None and (text := _describe_shortage(state, path)):
        state.callbacks.warn(text)
    steps.solve_components()
    if store.info.status != "complete":
        digest = table_hash(state.records.values(), state.keys.values())
        store.set_info(replace(store.info, status="complete", hash=digest))


def _describe_shortage(state: SolveState, path: Path) -> str | None:
    """Return a warning if the rest of the solve will not fit, else None."""
    options, store, needs = state.options, state.store, []
    shape = replace(shape_of(state.kernel, state.tiers), outcomes=store.info.outcomes)
    available = available_memory() if options.memory is None else Available(options.memory, "--memory")
    if store.scratch_directory() is None and shape.memory_backend > available.bytes:
        size, limit = wording.size(shape.memory_backend), wording.size(available.bytes)
        needs.append(f"solving {state.game.name} in memory takes about {size}, but {available.limit} leaves {limit}")
    needed = shape.table_bytes - store.size_on_disk
    if options.save and needed > (free := free_disk(path)):
        needs.append(f"the table takes about {wording.size(needed)} on disk, but only {wording.size(free)} is free")
    return f"{' and '.join(needs)}; see `solve plan {state.game.command_word}`" if needs else None


def _take_table(state: SolveState, steps: Steps, resources: ExitStack, replacement: Replacement | None) -> Table:
    """Open the finished table. A table in memory takes over the store, and the engine if that has the values."""
    game, store = state.game, state.store
    if store.path is not None and store.copies:
        resources.close()
        path = store.path if replacement is None else replacement.install()
        return open_table(game, path, memory=state.budget.engine_bytes)
    resources.pop_all()
    if store.copies:
        steps.close()
        return Table(game, store, state.kernel)
    return Table(game, store, state.kernel, engine=steps.release_engine())
