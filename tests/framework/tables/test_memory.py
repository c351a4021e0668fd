"""How much memory it takes to make a table: no more than the budget; what goes to disk is not read back from there."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from perfectplay import load_game, open_table, solve_game
from perfectplay.memory import SAMPLE_SECONDS, MemoryWatch
from perfectplay.plan.sizes import FIXED_MEMORY, SMALLEST_BUDGET
from perfectplay.solve import options as budget
from perfectplay.table.lmdb_store import LmdbStore
from perfectplay.table.records import TableInfo, TierRecord, table_hash

MEBIBYTES = 48


def file_pages() -> int:
    """Mapped file pages in memory, in bytes."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["RssFile"].split()[0]) * 1024


def test_finishing_a_table_does_not_read_it_back(tmp_path):
    info = TableInfo(game="g", options={}, rules_version=1, host_version="0", indexing="ranked")
    store = LmdbStore(tmp_path / "data.mdb", info=info)
    values = np.full(MEBIBYTES << 20, 3, dtype=np.uint8)
    record = TierRecord.of(0, values)
    store.write_values(record, values)
    before = file_pages()
    store.set_info(replace(store.info, status="complete", hash=table_hash([record], [])))
    assert file_pages() - before < 8 << 20
    store.close()


def test_a_watch_tells_memory_of_its_own_from_pages_of_files(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(MEBIBYTES << 20))
    with MemoryWatch() as watch:
        before = watch.peak
        own = np.ones(2 * MEBIBYTES << 20, dtype=np.uint8)
        mapped = np.memmap(file, dtype=np.uint8, mode="r")
        assert int(mapped[::4096].sum()) == 0
        time.sleep(4 * SAMPLE_SECONDS)
        del own
    peak = watch.peak
    assert (MEBIBYTES - 1) << 20 <= peak.mapped - before.mapped < (MEBIBYTES + 8) << 20  # the kernel counts in lumps
    assert peak.anonymous - before.anonymous >= (2 * MEBIBYTES - 8) << 20
    assert peak.total >= peak.anonymous


@pytest.mark.parametrize("threads", ["1", "2", "16"])
def test_what_is_enumerated_and_solved_stays_within_the_budget(run_solve, tmp_path, threads):
    board = ["--width", "5", "--height", "4", "--threads", threads]  # 2 million positions
    bound = ["--backend", "lmdb", "--memory", f"{SMALLEST_BUDGET >> 20}M"]
    ran = run_solve("connect4", *board, *bound, "--dir", str(tmp_path), "--json", "-q")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["peak_anonymous"] <= SMALLEST_BUDGET


def test_the_index_of_what_was_solved_stays_within_the_budget_too(tmp_path, monkeypatch):
    """Half a byte a position: of 95 million that was more than a budget of 64M leaves."""
    monkeypatch.setattr(budget, "SMALLEST_BUDGET", FIXED_MEMORY)
    game, rest = load_game("connect4"), 16 << 10
    solution = solve_game(game, backend="lmdb", directory=tmp_path, memory=FIXED_MEMORY + rest)
    path = solution.table.store.path
    with solution.table as table, open_table(game, path) as free:
        assert free.engine.progress.memory > 2 * rest
        assert 0 < table.engine.progress.memory <= rest
        sample = free.positions(8, 0, 1000)
        assert table.probe_many(sample).tolist() == free.probe_many(sample).tolist()
    assert {each.name for each in path.iterdir()} == {"data.mdb", "writer.lock"}


def test_a_table_that_nobody_may_write_beside_is_opened_all_the_same(game, solved, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with open_table(game, solved, memory=1) as table:
        assert table.probe(game.start())
