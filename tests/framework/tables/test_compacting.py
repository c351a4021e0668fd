"""Making a table compact: on all threads, within a memory limit, the same whatever they are."""

from __future__ import annotations

import numpy as np
import pytest
import zstandard

from perfectplay import load_game, open_table, solve_game
from perfectplay.errors import TableError, UsageError
from perfectplay.table import compaction as compacting
from perfectplay.table.compact import RUN_SLOTS
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.locations import table_path
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.positions import one_ply_codes, rule_codes


def quiet(done: int) -> None: ...


@pytest.fixture(scope="module")
def game():
    return load_game("connect4", width=4, height=4)  # in C, enumerated, some tiers of several frames


@pytest.fixture
def table(game, tmp_path):
    solve_game(game, directory=tmp_path / "tables").table.close()
    with open_table(game, table_path(game, tmp_path / "tables")) as table:
        yield table


@pytest.fixture(autouse=True)
def small_frames(monkeypatch):
    for module in ("compaction", "compact"):
        monkeypatch.setattr(f"perfectplay.table.{module}.FRAME_SLOTS", 1 << 10)


def entries(path):
    return {key: bytes(value) for key, value in TableReader(path).snapshot.entries.items()}


def test_any_number_of_threads_writes_the_same(game, table, tmp_path):
    one = compact_table(table, tmp_path / "one", threads=1, progress=quiet)
    many = compact_table(table, tmp_path / "many", threads=5, memory=256 << 20, progress=quiet)
    assert entries(one) == entries(many)
    with open_table(game, many) as compacted:
        assert compacted.info.hash == table.info.hash
        assert all(compacted.store.is_intact(record) for record in compacted.store.tier_records().values())
        start = game.start()
        assert compacted.probe(start) == table.probe(start)


def test_progress_goes_up_to_all_slots(table, tmp_path):
    told: list[int] = []
    compact_table(table, tmp_path / "small", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == sum(record.size for record in table.store.tier_records().values())
    assert len(told) > 3 * len(table.store.tier_records()), "it is told frame by frame"


def test_less_than_threads_need_is_refused(table, tmp_path):
    with pytest.raises(UsageError, match="the least that works is 48M"):
        compact_table(table, tmp_path / "small", memory=1 << 20, progress=quiet)


def test_a_tier_that_does_not_fit_is_refused_and_nothing_is_left(table, tmp_path, monkeypatch):
    monkeypatch.setattr(compacting, "THREAD_MEMORY", 100)
    with pytest.raises(UsageError, match=r"tier \d+ needs more, even compressed"):
        compact_table(table, tmp_path / "small", memory=compacting.FIXED_MEMORY + 300, progress=quiet)
    assert not list((tmp_path / "small").glob("data*"))


def test_what_all_moves_decide_is_foreseen_as_the_table_has_it(game, table):
    """Positions that the rules leave open, but not one of their moves: most of them are lost in 2."""
    more = 0
    for record in table.store.key_records().values():
        keys = np.concatenate([np.frombuffer(block, np.uint64) for block in table.store.key_blocks(record)])
        foreseen, ruled = one_ply_codes(game.kernel, keys), rule_codes(game.kernel, keys)
        decided = foreseen != 0
        assert (foreseen[decided] == table.probe_many(keys[decided])).all()
        assert (foreseen[ruled != 0] == ruled[ruled != 0]).all()
        more += int(np.count_nonzero(decided & (ruled == 0)))
    assert more > 1000


class FirstForm:
    """How values were packed at first: raw codes under zstd."""

    def __init__(self, record):
        pass

    def pack(self, codes, kept):
        counts = np.add.reduceat(kept, np.arange(0, len(codes), RUN_SLOTS)).astype("<u2")
        return zstandard.compress(counts.tobytes() + codes[kept].tobytes())


def test_a_table_of_the_first_form_is_still_read(game, table, tmp_path, monkeypatch):
    monkeypatch.setattr(compacting, "FORM", 1)
    monkeypatch.setattr(compacting, "ValueFrames", FirstForm)
    monkeypatch.setattr(compacting, "one_ply_codes", rule_codes)
    old = compact_table(table, tmp_path / "old", progress=quiet)
    with open_table(game, old) as compacted:
        for position in [game.start(), *(game.apply(game.start(), move) for move in game.moves(game.start()))]:
            assert compacted.probe(position) == table.probe(position)
        assert all(compacted.store.is_intact(record) for record in compacted.store.tier_records().values())


def test_a_form_of_the_future_is_refused_in_one_line(game, table, tmp_path, monkeypatch):
    monkeypatch.setattr(compacting, "FORM", 3)
    with pytest.raises(TableError, match="has compact form 3: it needs a newer perfectplay"):
        compact_table(table, tmp_path / "new", progress=quiet)


def test_every_slot_of_a_game_with_an_index_is_probed_right(tmp_path):
    """The last slot of a tier, too: counting from the end of its run once asked the kernel for slots beyond it."""
    game = load_game("quixo", width=3, height=3)
    with solve_game(game, directory=tmp_path).table as plain:
        place = compact_table(plain, tmp_path / "small", progress=quiet)
        with open_table(game, place) as compacted:
            for record in plain.records.values():
                positions = plain.positions(record.tier, 0, record.size)
                for position in positions[positions != NO_POSITION].tolist():
                    assert compacted.probe(position) == plain.probe(position)
