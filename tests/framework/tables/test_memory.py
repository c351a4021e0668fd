"""How much memory it takes to write a table: what is on its way to disk lies in memory once, and is not read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.records import TableInfo, TierRecord, table_hash

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
