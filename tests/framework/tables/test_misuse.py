"""From Python nothing crashes the process: whatever is asked, of a table open or closed, is answered or refused."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest
from tools.campaigns import ladder

from perfectplay import open_table, solve_game
from perfectplay.errors import TableError, UsageError
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import table_path


@pytest.fixture(params=["memory", "disk", "compact"])
def table(request, game, tmp_path):
    if request.param == "memory":
        return solve_game(game, save=False).table
    solve_game(game, directory=tmp_path).table.close()
    path = table_path(game, tmp_path)
    if request.param == "compact":
        with open_table(game, path) as plain:
            compact_table(plain, None, progress=lambda done: None)
    return open_table(game, path)


asks = pytest.mark.parametrize(
    "ask",
    [
        lambda table: table.probe(0),
        lambda table: table.get(0),
        lambda table: table.probe_many([0]),
        lambda table: table.probe_few([0]),
        lambda table: table.slot(0),
        lambda table: table.values(0),
        lambda table: table.positions(0, 0, 1),
        lambda table: table.attach_all(),
    ],
)


@asks
def test_a_closed_table_says_so(table, ask):
    ask(table)
    table.close()
    with pytest.raises(TableError, match="the table of ladder is closed"):
        ask(table)
    table.close()


@asks
def test_a_table_closed_while_it_looks_says_so_too(table, ask, monkeypatch):
    """As where another thread closes it just after this one has seen that it is open."""
    table.close()
    monkeypatch.setattr(table, "_require_open", lambda: None)
    told = ""
    try:
        ask(table)
    except TableError as error:
        told = str(error)
    assert not told or told.endswith("is closed")  # what is on disk may still be read


def test_a_few_are_probed_as_many_are(table):
    """Those that are not positions, and those of tiers that nobody has asked for yet."""
    numbers = [*range(0, ladder.RING * ladder.RUNGS + 2, 3), 2**64 - 1]
    assert table.probe_few(numbers) == table.probe_many(numbers).tolist()
    assert table.probe_few([]) == []
    table.close()


def test_arrays_stay_readable_after_the_table_is_closed(table):
    with table:
        before = [block.tolist() for block in table.values(0)]
        blocks = table.values(0)
    del table
    assert [block.tolist() for block in blocks] == before


def test_a_table_may_be_closed_while_others_probe_it(game, tmp_path):
    solve_game(game, directory=tmp_path).table.close()
    everything = np.arange(ladder.RING * ladder.RUNGS, dtype=np.uint64)
    for _ in range(20):
        table = open_table(game, table_path(game, tmp_path))
        expected = table.probe_many(everything).tolist()
        problems: list[object] = []
        started = threading.Barrier(4)

        def read(table=table, expected=expected, problems=problems, started=started) -> None:
            started.wait()
            try:
                while True:
                    if table.probe_many(everything).tolist() != expected:
                        problems.append("a wrong value")
            except TableError:
                pass

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        started.wait()
        table.close()
        for thread in threads:
            thread.join()
        assert not problems


def test_a_table_is_not_copied(table):
    with table:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="a table cannot be"):
                copied(table)


@pytest.mark.parametrize("wrong", [-1, 2**64 - 1, 2**64, 10**30])
def test_numbers_that_cannot_be_positions_have_no_value(table, wrong):
    with table:
        assert table.get(wrong) is None
        assert table.slot(wrong) is None
        assert table.probe_many([wrong]).tolist() == [4]
        assert table.probe_many([0, wrong]).tolist() == [table.probe(0).code, 4]


@pytest.mark.parametrize("wrong", ["0", 0.0, None, [0], b"0"])
def test_what_is_not_a_number_is_refused(table, wrong):
    with table:
        for ask in (table.get, table.slot, table.probe):
            with pytest.raises(TypeError):
                ask(wrong)


@pytest.mark.parametrize("wrong", [[0.0], ["0"], [None], [0, "x"], 1.5])
def test_many_positions_are_integers(table, wrong):
    with table, pytest.raises(TypeError):
        table.probe_many(wrong)


def test_no_positions_have_no_values(table):
    with table:
        assert table.probe_many([]).tolist() == []


@pytest.mark.parametrize(
    ("tier", "first", "count"), [(99, 0, 1), (-1, 0, 1), (0, -1, 1), (0, 0, 10**6), (0, ladder.RING, 1), (0, 0, -1)]
)
def test_slots_that_are_not_there_are_refused(table, tier, first, count):
    with table, pytest.raises(UsageError, match="tier"):
        table.positions(tier, first, count)


@pytest.mark.parametrize(
    ("first", "count"),
    [(np.uint64(2**64 - 1), 1), (np.int64(2**63 - 1), np.int64(1)), (np.uint8(255), np.uint8(1)), (2**70, 1)],
)
def test_slots_beyond_every_number_are_refused(table, first, count):
    with table, pytest.raises(UsageError, match="tier"):
        table.positions(0, first, count)


def test_numpy_integers_name_slots_too(table):
    with table:
        last = max(table.records)
        expected = table.positions(last, 1, 2).tolist()
        assert table.positions(np.uint8(last), np.uint8(1), np.uint8(2)).tolist() == expected


def test_a_tier_that_is_not_there_is_refused(table):
    with table, pytest.raises(UsageError, match="has no tier 99"):
        table.values(99)
