"""Writing and opening tables stays within the memory budget, and does not read back what was written."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfectplay import load_game, make_game, open_table, solve_game
from perfectplay.compile.kernel import solving_kernel
from perfectplay.memory import SAMPLE_SECONDS, MemoryWatch
from perfectplay.plan.sizes import FIXED_MEMORY, SMALLEST_BUDGET
from perfectplay.solve import options
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TableInfo, TierRecord, table_hash
from perfectplay.table.store import MemoryStore
from perfectplay.tiers import enumeration, external_set
from perfectplay.tiers.enumeration import enumerate_positions
from perfectplay.tiers.external_set import ExternalSet, SortedRun, SpillBudget

from ... import zoo

MEBIBYTES = 48


def mapped_file_bytes() -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["RssFile"].split()[0]) * 1024


def test_finishing_a_table_does_not_read_it_back(tmp_path):
    info = TableInfo(game="g", options={}, rules_version=1, host_version="0", indexing="ranked")
    values = np.full(MEBIBYTES << 20, 3, dtype=np.uint8)
    record = TierRecord.of(0, values)
    with LmdbStore(tmp_path / "data.mdb", info=info) as store:
        store.write_values(record, values)
        before = mapped_file_bytes()
        store.set_info(replace(store.info, status="complete", hash=table_hash([record], [])))
        assert mapped_file_bytes() - before < 8 << 20


def test_watch_separates_anonymous_memory_from_mapped_files(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(MEBIBYTES << 20))
    with MemoryWatch() as watch:
        before = watch.peak
        array = np.ones(2 * MEBIBYTES << 20, dtype=np.uint8)
        mapped = np.memmap(file, dtype=np.uint8, mode="r")
        assert int(mapped[::4096].sum()) == 0
        time.sleep(20 * SAMPLE_SECONDS)  # a busy machine may miss some samples
        del array
    peak = watch.peak
    assert (MEBIBYTES - 1) << 20 <= peak.mapped - before.mapped < (MEBIBYTES + 8) << 20  # the kernel's count is coarse
    assert peak.anonymous - before.anonymous >= (2 * MEBIBYTES - 8) << 20
    assert peak.total >= peak.anonymous


@pytest.mark.parametrize("threads", ["1", "2", "16"])
def test_enumerating_and_solving_stay_within_the_budget(run_solve, tmp_path, threads):
    board = ["--width", "5", "--height", "4", "--threads", threads]  # 2 million positions
    budget = ["--backend", "lmdb", "--memory", f"{SMALLEST_BUDGET >> 20}M"]
    done = run_solve("connect4", *board, *budget, "--dir", str(tmp_path), "--json", "-q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["peak_anonymous"] <= SMALLEST_BUDGET


def enumerate_game(game, store, directory=None, limit=None, budget=None):
    """Enumerate into `store` and return its tiers."""
    enumerate_positions(
        solving_kernel(game),
        store,
        threads=2,
        budget=budget or SpillBudget(limit, directory),
        report=lambda tier, positions: None,
        check=lambda: None,
    )
    return sorted(map(str, store.key_records().values()))


class RecordingStore(MemoryStore):
    """A table in memory that lists the tiers in the order in which they were written."""

    def __init__(self):
        super().__init__(TableInfo(game="g", options={}, rules_version=1, host_version="0", indexing="enumerated"))
        self.attempts = []

    def write_key_blocks(self, tier, blocks, record):
        self.attempts.append(tier)
        super().write_key_blocks(tier, blocks, record)


class CountingStore(RecordingStore):
    """A table in memory that counts the bytes of keys, sets and free segments whenever it takes a block."""

    def __init__(self, budget):
        super().__init__()
        self.budget, self.key_bytes, self.peak_bytes = budget, 0, 0

    def write_key_blocks(self, tier, blocks, record):
        super().write_key_blocks(tier, self._count(blocks), record)

    def _count(self, blocks):
        for block in blocks:
            self.key_bytes += block.nbytes
            free = sum(segment.nbytes for segment in self.budget.pool.free)
            self.peak_bytes = max(self.peak_bytes, self.key_bytes + self.budget.memory_bytes + free)
            yield block


@pytest.mark.parametrize(("name", "positions"), [("wide", 130_322), ("connect4", 161_029)])
def test_positions_are_not_in_memory_twice_while_a_table_in_memory_takes_them(name, positions, monkeypatch):
    monkeypatch.setattr(external_set, "SEGMENT", 1 << 8)
    monkeypatch.setattr(external_set, "MERGE_BYTES", 1 << 12)
    monkeypatch.setattr(enumeration, "BLOCK_SLOTS", 1 << 9)
    game = zoo.make(name) if name == "wide" else load_game(name, mirror=False)
    store = CountingStore(SpillBudget(1 << 30, None))
    enumerate_game(game, store, budget=store.budget)
    assert store.key_bytes == 8 * positions
    assert store.peak_bytes < 8.5 * positions


def test_few_positions_are_written_to_temporary_files(tmp_path, monkeypatch):
    """The budget has room for the largest tier and a part of the next one, but not for both."""
    spilled, in_file = [], SortedRun.in_file
    monkeypatch.setattr(SortedRun, "in_file", lambda *run: spilled.append(in_file(*run)) or spilled[-1])
    monkeypatch.setattr(enumeration, "STREAMING_BYTES", 0)
    game, positions = load_game("connect4", mirror=False), 161_029
    tiers = enumerate_game(game, RecordingStore(), tmp_path, 3 * positions // 2)
    assert sum(map(len, spilled)) < positions / 4
    assert tiers == enumerate_game(game, RecordingStore())


@pytest.mark.parametrize(("seen", "attempts"), [(True, 1), (False, 2)])
def test_large_tier_with_moves_inside_is_not_written_before_they_are_made(tmp_path, monkeypatch, seen, attempts):
    monkeypatch.setattr(enumeration, "STREAMING_BYTES", 0)
    rules = zoo.EXAMPLES / "tapatan" / "perfectplay_tapatan" / "rules.py"
    game = make_game(zoo.module_of(rules.read_text(encoding="utf-8")), name="tapatan")
    tiers = enumerate_game(game, RecordingStore())
    store, moving = RecordingStore(), 15
    if not seen:
        monkeypatch.setattr(ExternalSet, "sample", lambda *count: np.empty(0, dtype=np.uint64))
    assert enumerate_game(game, store, tmp_path, 2000) == tiers
    assert store.attempts.count(moving) == attempts


def test_index_of_a_solved_table_stays_within_the_budget(tmp_path, monkeypatch):
    """It takes half a byte per position. For 95 million positions, that once exceeded a budget of 64M."""
    monkeypatch.setattr(options, "SMALLEST_BUDGET", FIXED_MEMORY)
    game, rest = load_game("connect4"), 16 << 10
    solution = solve_game(game, backend="lmdb", directory=tmp_path, memory=FIXED_MEMORY + rest)
    path = solution.table.store.path
    with solution.table as table, open_table(game, path) as free:
        assert free.engine.progress.memory > 2 * rest
        assert 0 < table.engine.progress.memory <= rest
        sample = free.positions(8, 0, 1000)
        assert table.probe_many(sample).tolist() == free.probe_many(sample).tolist()
    assert {each.name for each in path.iterdir()} == {"data.mdb", "writer.lock"}


def test_table_in_a_directory_without_write_permission_is_opened(game, solved, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with open_table(game, solved, memory=1) as table:
        assert table.probe(game.start())
