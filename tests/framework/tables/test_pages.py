"""Reading LMDB's file beside a writer."""

from __future__ import annotations

import pytest

from perfectplay import make_game, solve_game
from perfectplay.errors import DamagedTable
from perfectplay.tables import pages
from perfectplay.tables.locations import table_path

from . import ladder


@pytest.fixture
def file(tmp_path):
    game = make_game(ladder, name="ladder")
    solve_game(game, directory=tmp_path).table.close()
    return table_path(game, tmp_path) / "data.mdb"


def test_a_file_that_grows_after_it_was_mapped_is_read_again(file, monkeypatch):
    whole = pages._map(file)
    maps = [whole[: len(whole) // 2], whole]
    monkeypatch.setattr(pages, "_map", lambda path: maps.pop(0))
    assert pages.read_snapshot(file).entries
    assert not maps


def test_a_truncated_file_is_damaged(file):
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])
    with pytest.raises(DamagedTable, match="truncated"):
        pages.read_snapshot(file)
