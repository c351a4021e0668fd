"""The hook `walk`: a game returns the results of its other hooks for all positions at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from perfectplay import Game, PluginError, PositionBatch, Status, hookimpl, make_game, solve_game, verify_table
from perfectplay.solve.options import Budget
from perfectplay.testing import Effort, run_checks

from .seeded import quick_checks

COUNTERS = 3000
WON_BY = 5


class Take:
    """Take one counter, or two of an even number, which keeps the turn. Taking the last one wins by five."""

    def __init__(self, change: Callable[[PositionBatch], object] = lambda rows: rows) -> None:
        self.calls: Counter[str] = Counter()
        self.change = change

    @hookimpl
    def start(self):
        return 2 * COUNTERS

    @hookimpl
    def valid(self, position):
        return position < 2 * COUNTERS + 2

    @hookimpl
    def moves(self, position):
        self.calls["moves"] += 1
        left = position >> 1
        return [] if not left else [1, 2] if left % 2 == 0 else [1]

    @hookimpl
    def apply(self, position, move):
        return position - 2 * move if move == 2 else (position - 2) ^ 1

    @hookimpl
    def status(self, position):
        self.calls["status"] += 1
        return Status.ONGOING if position >> 1 else Status.LOST

    @hookimpl
    def mover(self, position):
        return position & 1

    @hookimpl
    def score(self, position):
        return -WON_BY

    @hookimpl
    def walk(self) -> Iterator[object]:
        for begin in range(0, 2 * COUNTERS + 2, 1000):
            positions = np.arange(begin, min(2 * COUNTERS + 2, begin + 1000), dtype=np.uint64)
            left = positions >> 1
            degrees = np.where(left == 0, 0, 2 - left % 2).astype(np.int64)
            children = np.stack([(positions - 2) ^ 1, positions - 4], axis=1)
            kept = np.arange(2) < degrees[:, None]
            statuses = np.where(left == 0, Status.LOST, Status.ONGOING)
            scores = np.where(left == 0, -WON_BY, 0)
            rows = PositionBatch(
                positions, statuses, children[kept], np.cumsum(degrees), movers=positions & 1, scores=scores
            )
            yield self.change(rows)


class TakeByHooks(Take):
    walk = None


def test_a_solve_uses_the_walk_instead_of_the_hooks():
    plugin = Take()
    game = make_game(plugin, name="take")
    plugin.calls.clear()
    solution = solve_game(game, save=False)
    assert not plugin.calls
    with solution.table as table:
        assert verify_table(table).bad == 0
        assert plugin.calls["moves"] >= COUNTERS
    by_hooks = solve_game(make_game(TakeByHooks(), name="take"), save=False)
    by_hooks.table.close()
    assert solution.hash == by_hooks.hash


def test_hooks_are_called_for_positions_missing_from_the_walk_or_the_memo(monkeypatch):
    expected = solve_game(make_game(TakeByHooks(), name="take"), save=False)
    expected.table.close()
    short = Take(lambda rows: replace(rows) if rows.positions[0] else _empty(rows))
    incomplete = solve_game(make_game(short, name="take"), save=False)
    incomplete.table.close()
    assert incomplete.hash == expected.hash
    assert short.calls["moves"] > 100
    monkeypatch.setattr(Budget, "memo_bytes", 20_000)
    no_room = solve_game(make_game(Take(), name="take"), save=False)
    no_room.table.close()
    assert no_room.hash == expected.hash


def _empty(rows: PositionBatch) -> PositionBatch:
    return PositionBatch(
        *(column[:0] for column in (rows.positions, rows.statuses, rows.children, rows.ends)), *2 * [rows.ends[:0]]
    )


def _raise(rows: PositionBatch) -> PositionBatch:
    raise RuntimeError("lost my way")


WRONG: dict[str, tuple[Callable[[PositionBatch], object], str]] = {
    "no PositionBatch": (lambda rows: None, "expected a PositionBatch, not None"),
    "a list": (lambda rows: replace(rows, statuses=[0]), "'statuses' must be an array of 1,000 integers"),
    "too few": (lambda rows: replace(rows, movers=rows.movers[1:]), "'movers' must be an array of 1,000 integers"),
    "no movers": (lambda rows: replace(rows, movers=None), "'movers' must be an array of 1,000 integers"),
    "fractions": (lambda rows: replace(rows, scores=rows.scores / 2), "'scores' must be an array of 1,000 integers"),
    "a status of 4": (lambda rows: replace(rows, statuses=rows.statuses + 3), "'statuses' must be from 0 to 3"),
    "a score too high": (lambda rows: replace(rows, scores=rows.scores + 40_000), "must be from -32,767 to 32,767"),
    "stuck": (
        lambda said: replace(said, ends=0 * said.ends, children=said.children[:0]),
        "an ongoing position must have children",
    ),
    "falling ends": (lambda said: replace(said, ends=_swapped(said.ends)), "'ends' must not decrease"),
    "no position": (lambda said: replace(said, children=~(0 * said.children)), "'children' must be from 0 to"),
    "an error": (_raise, "hook 'walk' raised RuntimeError: lost my way"),
}


def _swapped(ends: np.ndarray) -> np.ndarray:
    return np.concatenate([ends[:10], ends[9::-1][:1], ends[5:6], ends[12:]])


def check(game: Game) -> dict[str, str]:
    """Return the broken laws."""
    with quick_checks():
        return run_checks(game, Effort(seconds=0.3)).breaches


@pytest.mark.parametrize("mistake", WRONG)
def test_an_inconsistent_walk_is_rejected(mistake):
    change, words = WRONG[mistake]
    game = make_game(Take(change), name="take")
    with pytest.raises(PluginError, match="take: hook 'walk'") as caught:
        solve_game(game, save=False)
    assert words in str(caught.value)
    assert check(game)["walk"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: replace(rows, movers=1 - rows.movers), "'walk' yields mover 1 for position 0"),
        (lambda rows: replace(rows, scores=-rows.scores), "'walk' yields score 5 for position 0"),
        (
            lambda rows: replace(rows, children=rows.children ^ np.uint64(1)),
            "'walk' yields children [0] for position 2",
        ),
    ],
)
def test_a_walk_that_contradicts_the_hooks_breaks_a_law(change, words):
    assert words in check(make_game(Take(change), name="take"))["walk"]


def test_a_walk_that_is_right_breaks_no_law():
    assert not check(make_game(Take(), name="take"))
