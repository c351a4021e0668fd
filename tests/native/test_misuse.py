"""Wrong use of the engine's Python classes raises an exception and never crashes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from perfectplay.errors import UsageError
from perfectplay.game.loading import load_game
from perfectplay.solve.solve import solve_game
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Numbering
from perfectplay_native.search import Search


@pytest.fixture
def kernel() -> Kernel:
    kernel = load_game("quixo", width=3, height=3).kernel
    assert kernel is not None
    return kernel


@pytest.mark.parametrize(
    "call",
    [
        lambda search: search.run(0),
        lambda search: search.prove_reachable(),
        lambda search: search.outcome(0),
        lambda search: search.counts,
        lambda search: search.entries(),
        lambda search: search.add_entries(np.array([0]), np.array([1])),
        lambda search: search.use_tablebase(Engine(search.kernel, tiers=1)),
        lambda search: search.stop(),
    ],
)
def test_a_closed_search_raises(call: Callable[[Search], object], kernel: Kernel):
    search = Search(kernel)
    search.run(kernel.start())
    search.close()
    with pytest.raises(EngineError, match="the search is closed"):
        call(search)
    search.close()


def test_unused_numbers_have_no_position():
    numbering = Numbering()
    for number in (-1, 0, 2**40):
        with pytest.raises(IndexError):
            numbering.position(number)
        with pytest.raises(IndexError):
            numbering.positions(np.array([number]))
    numbering.add(np.array([70, 30], dtype=np.uint64))
    assert (numbering.position(1), numbering.positions(np.array([1, 0])).tolist()) == (30, [30, 70])
    for number in (-1, 2, 2**40):
        with pytest.raises(IndexError):
            numbering.position(number)


@pytest.mark.parametrize("name", ["connect4", "quixo", "morris"])
def test_ranges_outside_a_tier_are_refused(name: str):
    """An empty range at the end of a tier once divided by zero in Quixo's kernel."""
    options = {"connect4": {"width": 3, "height": 3}, "quixo": {"width": 3, "height": 3}, "morris": {"men": "three"}}
    with solve_game(load_game(name, **options[name]), save=False).table as table:
        for tier, record in table.records.items():
            assert table.positions(tier, record.size, 0).size == 0
            assert table.engine.positions(tier, record.size, 0).size == 0
            for first, count in ((record.size, 1), (0, record.size + 1), (-1, 1), (0, -1), (2**63, 1)):
                with pytest.raises(UsageError):
                    table.positions(tier, first, count)
                with pytest.raises(IndexError):
                    table.engine.positions(tier, first, count)
                with pytest.raises(IndexError):
                    table.engine.verify_slots(tier, first, count, examples=1)
        for tier in (-1, max(table.records) + 1000, 2**32, 2**70):
            with pytest.raises(UsageError):
                table.positions(tier, 0, 0)
            for call in (
                lambda tier: table.engine.positions(tier, 0, 0),
                lambda tier: table.engine.verify(tier),
                lambda tier: table.engine.values(tier, 0),
                lambda tier: table.engine.define(tier, 1),
                lambda tier: table.engine.attach(tier, 1, []),
                lambda tier: table.engine.drop(tier),
            ):
                with pytest.raises(IndexError):
                    call(tier)
                if table.kernel.ranked:
                    with pytest.raises(ValueError, match="no slot"):
                        table.kernel.unrank(tier, 0)
        for empty in ([], np.empty(0, dtype=np.uint64), np.empty((0, 3), dtype=np.int64)):
            assert table.probe_many(empty).size == 0
