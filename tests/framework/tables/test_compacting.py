"""Compaction: the same result for any number of threads, within a memory limit, with exact probes."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest
from tools.campaigns import four

from perfectplay import hookimpl, load_game, make_game, open_table, solve_game
from perfectplay.compile.kernel import compile_rules
from perfectplay.errors import TableError, UsageError
from perfectplay.table.compact import Layout
from perfectplay.table.compaction import CompactionLimits, compact_table
from perfectplay.table.lmdb_reader import DATA_FILE, read_snapshot
from perfectplay.table.locations import table_path
from perfectplay_connect4.rules import ConnectFour
from perfectplay_native.compact import count_kept, mark_kept, pack_keys, unpack_keys
from perfectplay_native.engine import Engine
from perfectplay_native.limits import NO_POSITION
from perfectplay_native.positions import one_ply_codes, rule_codes

SMALL_FRAMES = CompactionLimits(layout=Layout(frame_slots=1 << 10, run_slots=1 << 7), keys_per_dictionary=1 << 12)


@pytest.fixture(scope="module")
def game():
    return make_game(four, name="four", width=4, height=4)  # some tiers have several frames


@pytest.fixture(scope="module")
def table(game, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tables")
    solve_game(game, directory=directory).table.close()
    with open_table(game, table_path(game, directory)) as table:
        yield table


def test_result_is_the_same_for_any_number_of_threads(game, table, tmp_path):
    one = compact_table(table, tmp_path / "one", threads=1, limits=SMALL_FRAMES)
    many = compact_table(table, tmp_path / "many", threads=5, memory=256 << 20, limits=SMALL_FRAMES)
    entries = [read_snapshot(path / DATA_FILE).entries for path in (one, many)]
    assert entries[0] == entries[1]
    with open_table(game, many) as compact:
        assert compact.info.hash == table.info.hash
        assert all(compact.store.is_intact(record) for record in [*compact.records.values(), *compact.keys.values()])
        for position in [game.start(), *(game.apply(game.start(), move) for move in game.moves(game.start()))]:
            assert compact.probe(position) == table.probe(position)


def test_kept_values_are_those_that_do_not_follow_from_the_rules(game, table):
    """`mark_kept` uses the stored values to save work; `one_ply_codes`, which reads them back, does not know them."""
    with closing(Engine(game.kernel, tiers=max(table.records) + 1)) as engine:
        for tier, record in table.records.items():
            keys = np.concatenate([np.frombuffer(b, np.uint64) for b in table.store.key_blocks(table.keys[tier])])
            values = np.concatenate(list(table.values(tier)))
            codes = one_ply_codes(game.kernel, keys)
            kept, wrong = mark_kept(engine, tier, 0, values, keys)
            assert (kept == (codes == 0)).all()
            assert count_kept(engine, tier, 0, len(keys), keys) == np.count_nonzero(kept)
            assert not wrong
            if (decided := np.flatnonzero(codes)).size:
                values[decided[0]] ^= 2
                assert mark_kept(engine, tier, 0, values, keys)[1] == 1, record


def test_compact_table_contains_what_its_layout_says(game, table, tmp_path):
    path = compact_table(table, tmp_path / "small", limits=SMALL_FRAMES)
    with open_table(game, path) as compact:
        large = max(compact.keys.values(), key=lambda record: record.size)
        packed = compact.store._packed_keys(large.tier)
        assert packed.layout == Layout(1 << 10, 1 << 10)
        assert len(packed.index.ends) == -(-large.size // 1024)
        assert len(packed.trailer()), "a tier of this size has a dictionary"
        keys = np.concatenate([np.frombuffer(b, np.uint64) for b in table.store.key_blocks(large)])
        sample = keys[::37]
        assert compact.probe_many(sample).tolist() == table.probe_many(sample).tolist()
        assert compact.get(int(keys[0]) - 1) == table.get(int(keys[0]) - 1)


def test_damaged_differences_of_keys_are_refused():
    random = np.random.default_rng(3)
    keys = np.sort(random.integers(0, 2**63, 500, dtype=np.uint64) >> random.integers(0, 60, 500, dtype=np.uint64))
    packed = pack_keys(keys)
    assert unpack_keys(packed, int(keys[0]), len(keys)).tolist() == keys.tolist()
    for data, count in ((packed[:-1], 500), (packed, 499), (packed, 501), (b"", 1), (b"\x00\xff\x01", 2)):
        with pytest.raises(ValueError, match="differences"):
            unpack_keys(data, 0, count)


def test_progress_increases_to_the_number_of_slots(table, tmp_path):
    reports: list[int] = []
    compact_table(table, tmp_path / "small", progress=reports.append, limits=SMALL_FRAMES)
    assert reports == sorted(reports)
    assert reports[-1] == sum(record.size for record in table.store.tier_records().values())
    assert len(reports) > 3 * len(table.store.tier_records()), "progress is reported for every frame"


def test_compact_table_of_a_kernel_that_the_game_no_longer_has_is_refused(tmp_path):
    """It omits the values that `wins_now` gives. Rules in Python once answered with other values."""
    in_python = make_game(ConnectFour(3, 3, 3, True), name="connect4")
    in_c = make_game(SimpleNamespace(kernel=hookimpl(lambda: compile_rules(in_python))), name="connect4")
    with solve_game(in_c, backend="lmdb", directory=tmp_path).table as table:
        path = compact_table(table)
    for read in (lambda: open_table(in_python, path), lambda: solve_game(in_python, directory=tmp_path)):
        with pytest.raises(TableError, match=r"made compact with a C kernel.*--force"):
            read()
    solve_game(in_python, directory=tmp_path, replace_other=True).table.close()
    with open_table(in_python, path) as table:
        assert table.probe(in_python.start())


def test_memory_below_the_minimum_is_refused(table, tmp_path):
    with pytest.raises(UsageError, match="at least 48M"):
        compact_table(table, tmp_path / "small", memory=1 << 20)


def test_tier_that_does_not_fit_is_refused_and_leaves_no_files(table, tmp_path):
    limits = CompactionLimits(fixed_memory=0, thread_memory=100)
    with pytest.raises(UsageError, match=r"tier \d+ needs more, even compressed"):
        compact_table(table, tmp_path / "small", memory=300, limits=limits)
    assert not list((tmp_path / "small").glob("data*"))


def test_one_ply_codes_equal_those_of_the_table(game, table):
    """Some positions are not decided by the rules, but all of their children are; most of them are lost in 2."""
    more = 0
    for record in table.store.key_records().values():
        keys = np.concatenate([np.frombuffer(block, np.uint64) for block in table.store.key_blocks(record)])
        foreseen, ruled = one_ply_codes(game.kernel, keys), rule_codes(game.kernel, keys)
        decided = foreseen != 0
        assert (foreseen[decided] == table.probe_many(keys[decided])).all()
        assert (foreseen[ruled != 0] == ruled[ruled != 0]).all()
        more += int(np.count_nonzero(decided & (ruled == 0)))
    assert more > 1000


def test_every_slot_of_a_ranked_game_is_probed_correctly(tmp_path):
    """Including the last slot of a tier: counting from the end of its run once used slots beyond the tier."""
    game = load_game("quixo", width=3, height=3)
    with solve_game(game, directory=tmp_path).table as plain:
        path = compact_table(plain, tmp_path / "small", limits=SMALL_FRAMES)
        every = np.concatenate([plain.positions(r.tier, 0, r.size) for r in plain.records.values()])
        positions = every[every != NO_POSITION]
        with open_table(game, path) as compact:
            assert compact.probe_many(positions).tolist() == plain.probe_many(positions).tolist()
