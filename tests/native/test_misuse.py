"""Wrong use of the engine's Python classes raises an exception and never crashes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from perfectplay.game.loading import load_game
from perfectplay_native.engine import Engine
from perfectplay_native.errors import EngineError
from perfectplay_native.kernel import Kernel
from perfectplay_native.positions import Numbering
from perfectplay_native.search import Search


@pytest.fixture
def kernel() -> Kernel:
    kernel = load_game("connect4", width=3, height=3, connect=3).kernel
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
