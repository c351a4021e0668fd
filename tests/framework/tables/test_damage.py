"""Damaged, foreign and missing tables: each is answered in one clear line, never with a wrong value."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import lmdb
import numpy as np
import pytest

from perfectplay import Game, Value, open_table, solve_game, verify_table
from perfectplay.errors import NotInTable, TableError
from perfectplay.table.compaction import compact_table
from perfectplay.table.records import number_key

from ..damage import edit, flip, forge_info
from . import ladder


@pytest.fixture
def path(solved, tmp_path) -> Path:
    return shutil.copytree(solved, tmp_path / "ladder")


def probe_all(game: Game, path: Path) -> dict[int, Value]:
    with open_table(game, path) as table:
        return {position: table.probe(position) for position in range(ladder.RING * ladder.RUNGS)}


@pytest.mark.parametrize("kind", ["t", "k"])
def test_a_flipped_bit_in_any_block_is_found(game, path, kind):
    for tier in range(ladder.RUNGS):
        key = number_key(kind.encode(), tier, 0)
        flip(path, key, at=tier)
        with pytest.raises(TableError, match=rf"damaged: tier {tier}, block 0 has a wrong checksum"):
            probe_all(game, path)
        with pytest.raises(TableError, match=rf"tier {tier}, block 0"), open_table(game, path) as table:
            verify_table(table)
        flip(path, key, at=tier)
    assert len(probe_all(game, path)) == ladder.RUNGS * ladder.RING


def test_a_truncated_file_is_refused(game, path):
    size = (path / "data.mdb").stat().st_size
    for left in (size // 2, 9000, 100, 0):
        os.truncate(path / "data.mdb", left)
        with pytest.raises(TableError, match=r"damaged|no table"):
            open_table(game, path)


def test_rubbish_is_refused(game, path):
    (path / "data.mdb").write_bytes(b"this is no table" * 1000)
    with pytest.raises(TableError, match="is not a table, or is damaged"):
        open_table(game, path)


def test_an_empty_directory_says_how_to_make_a_table(game, tmp_path):
    with pytest.raises(TableError, match=r"no table of ladder .* run `solve ladder`"):
        open_table(game, tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "chess"}, "holds a table of chess, not of ladder"),
        ({"rules_version": 7}, "version 7 of the rules"),
        ({"options": {"width": 5}}, "other options"),
        ({"format": 99}, "table format 99"),
    ],
)
def test_another_games_or_formats_table_is_refused(game, path, change, message):
    forge_info(path, **change)
    with pytest.raises(TableError, match=message):
        open_table(game, path)
    with pytest.raises(TableError, match=message):
        solve_game(game, backend="lmdb", directory=path.parent)


def test_metadata_that_cannot_be_read_is_refused(game, path):
    edit(path, b"meta", lambda stored: b"{}")
    with pytest.raises(TableError, match="metadata"):
        open_table(game, path)


def test_positions_outside_are_named(game, solved):
    with open_table(game, solved) as table:
        outside = ladder.RING * ladder.RUNGS + 5
        assert table.get(outside) is None
        assert table.get(outside, "nothing") == "nothing"
        with pytest.raises(NotInTable, match=f"position {outside} is not in the table of ladder: it cannot be reached"):
            table.probe(outside)
        with pytest.raises(NotInTable, match="it is not a position of the game"):
            table.probe(-1)


def test_probing_many_agrees_with_probing_one(game, solved, compacted):
    positions = np.arange(ladder.RING * ladder.RUNGS + 3, dtype=np.uint64)
    for where in (solved, compacted):
        with open_table(game, where) as table:
            codes = table.probe_many(positions)
            single = [table.get(int(position)) for position in positions]
        assert codes.tolist() == [4 if value is None else value.code for value in single]


def test_a_compact_table_gives_the_same_answers_and_proves_itself(game, solved, compacted):
    assert probe_all(game, compacted) == probe_all(game, solved)
    with open_table(game, compacted) as table:
        assert verify_table(table).bad == 0
        assert table.statistics == open_table(game, solved).statistics


@pytest.mark.parametrize("kind", ["c", "d"])
def test_damage_in_a_compact_table_is_found(game, compacted, tmp_path, kind):
    path = shutil.copytree(compacted, tmp_path / "ladder")
    for at in range(30):
        key = number_key(kind.encode(), at % ladder.RUNGS)
        flip(path, key, at)
        with pytest.raises(TableError, match=rf"damaged: tier {at % ladder.RUNGS}, frame 0 has a wrong checksum"):
            probe_all(game, path)
        flip(path, key, at)


def test_compacting_in_place_replaces_the_table(game, path):
    before = probe_all(game, path)
    with open_table(game, path) as table:
        assert compact_table(table, None, progress=lambda done: None) == path
    assert probe_all(game, path) == before
    assert sorted(p.name for p in path.parent.iterdir()) == ["ladder"]
    with open_table(game, path) as table, pytest.raises(TableError, match="already compact"):
        compact_table(table, None, progress=lambda done: None)
    again = solve_game(game, backend="lmdb", directory=path.parent)
    with again.table as table:
        assert table.probe(0) == before[0]


def test_threads_may_read_one_table_together(game, solved):
    expected = probe_all(game, solved)
    wrong: list[int] = []
    with open_table(game, solved) as table:

        def read(seed: int) -> None:
            for position in np.random.default_rng(seed).permutation(len(expected)).tolist():
                if table.probe(position) != expected[position]:
                    wrong.append(position)

        threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_the_metadata_records_which_lmdb_wrote_the_table(game, solved):
    with open_table(game, solved) as table:
        assert table.info.storage["lmdb"] == ".".join(map(str, lmdb.version()))
        assert table.info.storage["data_version"] == 1


def test_a_table_may_be_opened_twice(game, solved):
    with open_table(game, solved) as one:
        with open_table(game, solved) as other:
            assert one.probe(5) == other.probe(5)
        assert one.probe(3) is not None
