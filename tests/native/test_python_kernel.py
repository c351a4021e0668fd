"""A game in plain Python: an error of its functions is raised by the call that met it, and by no other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from perfectplay.analysis.selection import random_positions
from perfectplay.errors import PluginError
from perfectplay.game import hooks
from perfectplay.game.loading import make_game
from perfectplay.game.spec import hookimpl
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import verify_table
from perfectplay.table.table import Table
from perfectplay_native import limits
from perfectplay_native.positions import canonicalize_many, children_of_many, rule_codes, tiers_of_many
from perfectplay_native.search import Search

from .graphs import TieredGraphPlugin, random_graph


class Breakable(TieredGraphPlugin):
    """A game that works until one of its hooks is made to fail."""

    broken: str = ""

    def check(self, hook: str) -> None:
        if hook == self.broken:
            raise RuntimeError("broken")

    @hookimpl
    def moves(self, position):
        self.check("moves")
        return super().moves(position)

    @hookimpl
    def canonicalize(self, position):
        self.check("canonicalize")
        return super().canonicalize(position)

    @hookimpl
    def status(self, position):
        self.check("status")
        return super().status(position)

    @hookimpl
    def tier(self, position):
        self.check("tier")
        return super().tier(position)


@pytest.fixture
def game() -> tuple[Breakable, Table]:
    plugin = Breakable(random_graph(Random(11)))
    with solve_game(make_game(plugin, name="graph"), save=False).table as table:
        yield plugin, table


START = np.zeros(1, dtype=np.uint64)

CALLS: list[tuple[str, Callable[[Table], object]]] = [
    ("canonicalize", lambda table: table.slot(table.game.start())),
    ("canonicalize", lambda table: table.get(table.game.start())),
    ("canonicalize", lambda table: table.probe_many([table.game.start()])),
    ("canonicalize", lambda table: random_positions(table, 3)),
    ("tier", lambda table: table.slot(table.game.start())),
    ("moves", lambda table: table.engine.best_moves(START + table.game.start())),
    ("canonicalize", lambda table: canonicalize_many(table.kernel, START)),
    ("tier", lambda table: tiers_of_many(table.kernel, START)),
    ("status", lambda table: rule_codes(table.kernel, START)),
    ("status", lambda table: children_of_many(table.kernel, START, room=10)),
    ("status", verify_table),
    ("moves", verify_table),
    ("status", lambda table: table.kernel.status(0)),
    ("status", lambda table: Search(table.kernel).run(table.game.start())),
    ("canonicalize", lambda table: Search(table.kernel).outcome(0)),
]


@pytest.mark.parametrize(("hook", "call"), CALLS)
def test_the_call_that_meets_an_error_raises_it(hook: str, call: Callable[[Table], object], game) -> None:
    plugin, table = game
    plugin.broken = hook
    with pytest.raises(PluginError, match=f"graph: hook '{hook}' raised RuntimeError: broken in position"):
        call(table)
    plugin.broken = ""
    assert table.get(table.game.start()) is not None  # no error is left for another call to raise
    assert verify_table(table).bad == 0


def test_an_error_is_raised_in_the_thread_of_the_call(game) -> None:
    """Two threads read one table, and only the one whose call fails gets the error."""
    _, table = game
    inside, proceed = threading.Event(), threading.Event()
    failed: list[BaseException] = []

    def canonicalize(position):
        if threading.current_thread().name == "failing":
            inside.set()
            proceed.wait(120)
            raise RuntimeError("broken")
        return position & ~1

    def read() -> None:
        try:
            table.slot(0)
        except PluginError as error:
            failed.append(error)

    object.__setattr__(table.kernel.rules, "canonicalize", canonicalize)
    thread = threading.Thread(target=read, name="failing")
    thread.start()
    assert inside.wait(120)
    table.slot(0)
    proceed.set()
    thread.join()
    assert len(failed) == 1


def test_the_host_has_the_limits_of_the_header() -> None:
    assert (hooks.MAX_POSITION, hooks.MAX_MOVE) == (limits.MAX_POSITION, limits.MAX_MOVE) == (2**64 - 2, 2**32 - 1)
    assert (limits.MAX_SCORE, limits.MAX_TIER) == (2**15 - 1, 2**23 - 2)
