"""From Python, nothing crashes the process: every call on an open or closed table returns a result or raises."""

from __future__ import annotations

import copy
import inspect
import pickle
import signal
import threading
from contextlib import suppress
from itertools import product

import numpy as np
import pytest
from tools.campaigns import ladder
from tools.campaigns.campaign import RIGHT, in_child

from perfectplay import Game, load_game, open_table, solve_game
from perfectplay.errors import NotInTable, PerfectPlayError, TableError, UsageError

SLOTS = ladder.RING * ladder.RUNGS


@pytest.fixture(params=["memory", "disk", "compact"])
def table(request, game, solved, compacted):
    if request.param == "memory":
        return solve_game(game, save=False).table
    return open_table(game, solved if request.param == "disk" else compacted)


@pytest.mark.parametrize("name", ["connect4", "dobutsu", "dots", "gobblet", "kalah", "morris", "quantik", "quixo"])
def test_an_illegal_move_never_crashes_a_kernel(name):
    """Kernels need not check moves, so every method that takes a move checks it."""
    game = load_game(name)
    taking_moves = [
        method for method, function in vars(Game).items() if "move" in getattr(signature_of(function), "parameters", ())
    ]
    assert {"apply", "format_move"} <= {*taking_moves}

    def call_all() -> int:
        signal.alarm(60)  # a kernel may also loop for ever
        for method, move in product(taking_moves, [0, 31, 999, 2**31, 2**32 - 1, -1, 2**64, "a1", None]):
            with suppress(PerfectPlayError, TypeError):
                getattr(game, method)(game.start(), move)
        return RIGHT

    assert in_child(call_all) == RIGHT


def signature_of(function: object) -> inspect.Signature | None:
    return inspect.signature(function) if inspect.isfunction(function) else None


queries = pytest.mark.parametrize(
    "query",
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


@queries
def test_closed_table_refuses_queries(table, query):
    query(table)
    table.close()
    with pytest.raises(TableError, match="the table of ladder is closed"):
        query(table)
    table.close()


@queries
def test_table_closed_during_a_query_answers_or_refuses(table, query, monkeypatch):
    """Another thread closes the table after the query has checked that it is open."""
    table.close()
    monkeypatch.setattr(table, "_require_open", lambda: None)
    message = ""
    try:
        query(table)
    except TableError as error:
        message = str(error)
    assert not message or message.endswith("is closed")  # a table on disk may still be read


def test_table_may_be_closed_while_threads_probe_it(game, solved):
    everything = np.arange(SLOTS, dtype=np.uint64)
    for _ in range(20):
        table = open_table(game, solved)
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


def test_arrays_stay_readable_after_the_table_is_closed(table):
    with table:
        before = [block.tolist() for block in table.values(0)]
        blocks = table.values(0)
    del table
    assert [block.tolist() for block in blocks] == before


def test_table_cannot_be_copied(table):
    with table:
        for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="a table cannot be"):
                duplicate(table)


def test_probe_few_equals_probe_many(table):
    """Including numbers that are not positions, and tiers that are not loaded yet."""
    numbers = [*range(0, SLOTS + 2, 3), 2**64 - 1]
    with table:
        assert table.probe_few(numbers) == table.probe_many(numbers).tolist()
        assert table.probe_few([]) == table.probe_many([]).tolist() == []


@pytest.mark.parametrize("wrong", [-1, SLOTS + 5, 2**64 - 1, 2**64, 10**30])
def test_numbers_that_are_not_positions_have_no_value(table, wrong):
    with table:
        assert table.get(wrong) is None
        assert table.get(wrong, "nothing") == "nothing"
        assert table.slot(wrong) is None
        assert table.probe_many([wrong]).tolist() == [4]
        assert table.probe_many([0, wrong]).tolist() == [table.probe(0).code, 4]
        reason = "it cannot be reached" if wrong == SLOTS + 5 else "it is not a position"
        with pytest.raises(NotInTable, match=f"position {wrong} is not in the table of ladder: {reason}"):
            table.probe(wrong)


@pytest.mark.parametrize("wrong", ["0", 0.0, None, [0], b"0"])
def test_objects_that_are_not_integers_are_refused(table, wrong):
    with table:
        for query in (table.get, table.slot, table.probe):
            with pytest.raises(TypeError):
                query(wrong)


@pytest.mark.parametrize("wrong", [[0.0], ["0"], [None], [0, "x"], 1.5])
def test_arrays_that_are_not_of_integers_are_refused(table, wrong):
    with table, pytest.raises(TypeError):
        table.probe_many(wrong)


def test_a_number_is_not_a_list_of_positions(table):
    with table, pytest.raises(TypeError):
        table.probe_few(2**45)


@pytest.mark.parametrize(
    ("tier", "first", "count"),
    [
        (99, 0, 1),
        (-1, 0, 1),
        (0, -1, 1),
        (0, 0, 10**6),
        (0, ladder.RING, 1),
        (0, 0, -1),
        (0, np.uint64(2**64 - 1), 1),
        (0, np.int64(2**63 - 1), np.int64(1)),
        (0, np.uint8(255), np.uint8(1)),
        (0, 2**70, 1),
    ],
)
def test_slots_outside_the_table_are_refused(table, tier, first, count):
    with table:
        with pytest.raises(UsageError, match="tier"):
            table.positions(tier, first, count)
        with pytest.raises(UsageError, match="has no tier 99"):
            table.values(99)


def test_slots_may_be_numpy_integers(table):
    with table:
        last = max(table.records)
        expected = table.positions(last, 1, 2).tolist()
        assert table.positions(np.uint8(last), np.uint8(1), np.uint8(2)).tolist() == expected
