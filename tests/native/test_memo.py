"""During a solve each function of a Python game is called once per position, and the results are stored."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from perfectplay import Status, hookimpl
from perfectplay.errors import Interrupted, PluginError
from perfectplay.game.game import Game
from perfectplay.game.loading import make_game
from perfectplay.solve.options import Budget
from perfectplay.solve.solve import solve_game
from perfectplay.solve.steps import SolveState
from perfectplay.solve.verification import verify_table

from ..propagation import solve_by

CELLS = 3000


class Walk:
    """The player who reaches the last cell wins. A step of two keeps the turn, and bit 1 is a symmetry."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, int]] = Counter()
        self.overrides: dict[tuple[str, int], object] = {}  # results to return or raise once

    def record(self, hook: str, position: int, result: object) -> object:
        self.calls[hook, position] += 1
        return self.answer(hook, position, result)

    def answer(self, hook: str, position: int, result: object) -> object:
        result = self.overrides.pop((hook, position), result)
        if isinstance(result, Exception):
            raise result
        return result

    @hookimpl
    def start(self):
        return 0

    @hookimpl
    def valid(self, position):
        return position < 4 * CELLS

    @hookimpl
    def canonicalize(self, position):
        return self.answer("canonicalize", position, position & ~2)

    @hookimpl
    def moves(self, position):
        cell = position >> 2
        return self.record("moves", position, [step for step in (0, 1, 2) if 0 <= cell + step - (step == 0) < CELLS])

    @hookimpl
    def apply(self, position, move):
        cell, turn = position >> 2, position & 1
        child = (cell + (move or -1)) << 2 | (turn if move == 2 else 1 - turn) | move & 2
        return self.answer("apply", position, child)

    @hookimpl
    def status(self, position):
        last = position >> 2 == CELLS - 1
        result = (Status.WON if position & 1 == 0 else Status.LOST) if last else Status.ONGOING
        return self.record("status", position, result)

    @hookimpl
    def mover(self, position):
        return self.record("mover", position, position & 1)

    @hookimpl
    def tier(self, position):
        return self.record("tier", position, 0)

    @hookimpl
    def score(self, position):
        return self.record("score", position, 3 if position & 1 == 0 else -3)


@pytest.fixture
def walk() -> tuple[Walk, Game]:
    plugin = Walk()
    return plugin, make_game(plugin, name="walk")


def max_calls(plugin: Walk, *, ignore: set[int]) -> dict[str, int]:
    """The largest number of calls of each hook for one position, except for some positions."""
    most: dict[str, int] = {}
    for (hook, position), times in plugin.calls.items():
        if position not in ignore:
            most[hook] = max(most.get(hook, 0), times)
    return most


def test_a_solve_calls_each_hook_once_per_position(walk) -> None:
    plugin, game = walk
    with solve_game(game, save=False).table as table:
        # the start position is checked before the solve
        assert max_calls(plugin, ignore={game.start()}) == dict.fromkeys(
            ("status", "moves", "mover", "tier", "score"), 1
        )
        plugin.calls.clear()
        assert verify_table(table).bad == 0  # which calls the hooks, not the memo
        assert {hook for hook, _ in plugin.calls} == {"status", "moves", "mover", "tier", "score"}
        assert plugin.calls["moves", 5] == 1


@pytest.mark.parametrize("limit", [0, 20_000, 60_000])
def test_a_full_memo_does_not_change_the_table(limit: int, walk, monkeypatch) -> None:
    plugin, game = walk
    expected = solve_game(game, save=False)
    expected.table.close()
    plugin.calls.clear()
    monkeypatch.setattr(Budget, "memo_bytes", limit)
    found = solve_game(game, save=False)
    found.table.close()
    assert found.hash == expected.hash
    calls = [times for (hook, _), times in plugin.calls.items() if hook == "moves"]
    assert max(calls) > 1
    assert (min(calls) == 1) == (limit > 0)


def test_a_resumed_solve_calls_each_hook_once(tmp_path: Path, walk, monkeypatch) -> None:
    """The results of the previous run are not stored, so each hook is called once more."""
    plugin, game = walk
    expected = solve_game(game, save=False)
    expected.table.close()

    def stop(solve: object) -> None:
        raise Interrupted("enough")

    with monkeypatch.context() as patch:
        patch.setattr(SolveState, "load_tiers", stop)
        with pytest.raises(Interrupted):
            solve_game(game, backend="lmdb", directory=tmp_path)
    plugin.calls.clear()
    resumed = solve_game(game, backend="lmdb", directory=tmp_path)
    resumed.table.close()
    assert max_calls(plugin, ignore={game.start()}) == dict.fromkeys(("status", "moves", "mover", "tier", "score"), 1)
    assert resumed.hash == expected.hash


@pytest.mark.parametrize("hook", ["status", "moves", "apply", "canonicalize", "mover", "tier"])
def test_an_error_that_a_hook_raises_only_once_is_reported(hook: str, walk) -> None:
    """A repeated call succeeds, so only the traceback shows the hook. The parent of position 400 is 397."""
    plugin, game = walk
    plugin.overrides[hook, 400] = RuntimeError("broken")
    with pytest.raises(PluginError, match=f"walk: hook '{hook}' raised RuntimeError: broken in position (400|397)"):
        solve_game(game, save=False)
    solve_game(game, save=False).table.close()


def test_a_game_whose_moves_change_is_an_error(monkeypatch) -> None:
    """Without a memo each step calls the game again, and the reverse graph has room for the first result only."""

    class Fickle(Walk):
        @hookimpl
        def moves(self, position):
            self.calls["moves", position] += 1
            return range(1, 3 if self.calls["moves", position] < 3 else 100)

        @hookimpl
        def apply(self, position, move):
            return (position + 28 * move + 1) % 400

    game = make_game(Fickle(), name="fickle")
    monkeypatch.setattr(Budget, "memo_bytes", 0)
    with pytest.raises(PluginError, match=r"position \d+ had other moves"):
        solve_by(game, "graph", save=False)
