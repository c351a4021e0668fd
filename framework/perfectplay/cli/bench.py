"""`solve bench GAME`: measure the speed of a game on this machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from perfectplay.cli._common import (
    GameCommand,
    compile_option,
    directory_option,
    is_quiet,
    json_option,
    note_rules,
    print_json,
    quiet_option,
)
from perfectplay.compile.kernel import solving_kernel
from perfectplay.game.game import Game
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.locations import has_table, open_table, table_path
from perfectplay.table.records import TableInfo, TierRecord
from perfectplay.table.table import Table
from perfectplay_native.kernel import Kernel
from perfectplay_native.limits import BLOCK_SLOTS
from perfectplay_native.positions import Positions, children_of_many, rule_codes


@click.command("bench", cls=GameCommand)
@directory_option
@compile_option
@quiet_option
@json_option
def command(game: Game, directory: Path | None, as_json: bool) -> None:
    """Measure the speed of GAME, and of its table if it is solved, on one core."""
    note_rules(game)
    lines = []
    for line in run_benchmarks(game, directory, announce=_announce):
        lines.append({"what": line.what, "value": line.value, "unit": line.unit})
        if not as_json:
            value = f"{line.value:,.0f}" if line.value >= 100 else f"{line.value:.3f}"
            click.echo(f"{line.what:40} {value:>14} {line.unit}")
    if as_json:
        print_json({"game": game.name, "options": game.options, "measurements": lines})


def _announce(what: str) -> None:
    if not is_quiet():
        click.echo(click.style(f"measuring: {what} …", dim=True), err=True)


# ---- measurements: rates in units per CPU second, the best of a few runs, for comparing two versions ----

REPEATS = 3
SAMPLE = 100_000


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the output."""

    what: str
    value: float
    unit: str


def run_benchmarks(
    game: Game, directory: Path | None = None, *, announce: Callable[[str], None] = lambda what: None
) -> Iterator[Measurement]:
    """Yield the measurements of a game, including those of its table if it is solved.

    `announce` is called before each step, because some of them take a while.
    """
    announce("random games")
    kernel = solving_kernel(game)
    sample = random_positions(kernel, SAMPLE if kernel.cheap else SAMPLE // 100)
    announce("settling and expanding positions")
    yield Measurement("positions settled by rule", measure_rate(lambda: _settle(kernel, sample)), "positions/s")
    yield Measurement("positions expanded", measure_rate(lambda: expand_all(kernel, sample)), "positions/s")
    announce("the game's benchmarks")
    for what, value, unit in game.benchmarks():
        yield Measurement(what, value, unit)
    path = table_path(game, directory)
    if has_table(path):
        with open_table(game, path, kernel=kernel) as table:
            yield from _table_benchmarks(table, sample, announce)
    announce("writing and reading blocks")
    yield from _block_benchmarks()


def _table_benchmarks(table: Table, sample: Positions, announce: Callable[[str], None]) -> Iterator[Measurement]:
    positions = table.statistics.positions
    announce("probing the table")
    table.probe_many(sample)  # warm up
    yield Measurement("probes, many at once", measure_rate(lambda: len(table.probe_many(sample))), "probes/s")
    few = sample[:2000].tolist()
    yield Measurement(
        "probes, one by one", measure_rate(lambda: sum(table.probe(p) is not None for p in few)), "probes/s"
    )
    if table.info.compact:
        yield Measurement("compact table", table.size_on_disk / positions, "bytes/position")
        return
    yield Measurement("table", table.size_on_disk / positions, "bytes/position")
    if table.outcomes_only:
        return
    with tempfile.TemporaryDirectory() as folder:
        announce("compacting a copy of the table")
        small = compact_table(table, Path(folder) / "compact", progress=lambda done: None)
        with open_table(table.game, small) as compact:
            yield Measurement("compact table", compact.size_on_disk / positions, "bytes/position")
            rate = measure_rate(lambda: sum(compact.probe(p) is not None for p in few))
            yield Measurement("compact probes, one by one", rate, "probes/s")


def _block_benchmarks() -> Iterator[Measurement]:
    """Measure how fast blocks are written and read."""
    values = np.random.default_rng(0).integers(0, 64, 64 * BLOCK_SLOTS, dtype=np.uint8)
    record = TierRecord.of(0, values)
    info = TableInfo(game="bench", options={}, rules_version=0, host_version="", indexing="ranked")
    with tempfile.TemporaryDirectory() as folder:
        store = LmdbStore(Path(folder) / "blocks.mdb", info=info)

        def write_all() -> int:
            store.write_values(record, values)
            return values.nbytes

        try:
            write = measure_rate(write_all, once=True)
            yield Measurement("blocks written", write / 2**20, "MiB/s")
            reader = TableReader(Path(folder), file="blocks.mdb")
            read = measure_rate(lambda: sum(len(block) for block in reader.value_blocks(record)), once=True)
            yield Measurement("blocks read and checked", read / 2**20, "MiB/s")
        finally:
            store.close()


def random_positions(kernel: Kernel, count: int) -> Positions:
    """Return unfinished positions from random play, the same in every run."""
    random = np.random.default_rng(0)
    positions: list[int] = []
    while len(positions) < count:
        position = kernel.start()
        while moves := kernel.moves(position):
            positions.append(position)
            position = kernel.apply(position, int(random.choice(moves)))
    return np.array(positions[:count], dtype=np.uint64)


def _settle(kernel: Kernel, positions: Positions) -> int:
    return len(rule_codes(kernel, positions))


def expand_all(kernel: Kernel, positions: Positions) -> int:
    """Compute the canonical children of every position, as enumeration does."""
    done = 0
    while done < len(positions):
        _, used = children_of_many(kernel, positions[done:], room=1 << 20)
        done += used
    return done


def measure_rate(work: Callable[[], int], *, once: bool = False) -> float:
    """Return the units of work per CPU second, the best of a few runs. With `once`, one run in wall time, for disks."""
    best = 0.0
    for _ in range(1 if once else REPEATS):
        clock = time.perf_counter if once else time.process_time
        started = clock()
        done = work()
        best = max(best, done / max(clock() - started, 1e-9))
    return best
