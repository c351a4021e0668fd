"""While a solve runs, a game in Python is asked once about each position; what it then said is remembered."""

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
    """Who steps on the last cell wins; one may step back, and a step of two keeps the turn. Cells are folded by 2."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, int]] = Counter()
        self.fails: dict[tuple[str, int], object] = {}  # what to answer, or raise, once

    def note(self, hook: str, position: int, answer: object) -> object:
        self.asked[hook, position] += 1
        answer = self.fails.pop((hook, position), answer)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @hookimpl
    def start(self):
        return 0

    @hookimpl
    def valid(self, position):
        return position < 4 * CELLS

    @hookimpl
    def canonicalize(self, position):
        return position & ~2

    @hookimpl
    def moves(self, position):
        cell = position >> 2
        return self.note("moves", position, [step for step in (0, 1, 2) if 0 <= cell + step - (step == 0) < CELLS])

    @hookimpl
    def apply(self, position, move):
        cell, turn = position >> 2, position & 1
        return (cell + (move or -1)) << 2 | (turn if move == 2 else 1 - turn) | move & 2

    @hookimpl
    def status(self, position):
        last = position >> 2 == CELLS - 1
        stands = (Status.WON if position & 1 == 0 else Status.LOST) if last else Status.ONGOING
        return self.note("status", position, stands)

    @hookimpl
    def mover(self, position):
        return self.note("mover", position, position & 1)

    @hookimpl
    def tier(self, position):
        return self.note("tier", position, 0)

    @hookimpl
    def score(self, position):
        return self.note("score", position, 3 if position & 1 == 0 else -3)


@pytest.fixture
def walk() -> tuple[Walk, Game]:
    plugin = Walk()
    return plugin, make_game(plugin, name="walk")


def most_asked(plugin: Walk, *, but: set[int]) -> dict[str, int]:
    """How often each hook was asked about one position at most, all but a few positions counted."""
    most: dict[str, int] = {}
    for (hook, position), times in plugin.asked.items():
        if position not in but:
            most[hook] = max(most.get(hook, 0), times)
    return most


def test_a_solve_asks_each_hook_once_a_position(walk) -> None:
    plugin, game = walk
    with solve_game(game, save=False).table as table:
        # the start is looked at before
        assert most_asked(plugin, but={game.start()}) == dict.fromkeys(("status", "moves", "mover", "tier", "score"), 1)
        plugin.asked.clear()
        assert verify_table(table).bad == 0  # which asks the game itself
        assert {hook for hook, _ in plugin.asked} == {"status", "moves", "mover", "tier", "score"}
        assert plugin.asked["moves", 5] == 1


@pytest.mark.parametrize("limit", [0, 20_000, 60_000])
def test_what_has_no_room_is_asked_again_and_the_table_is_the_same(limit: int, walk, monkeypatch) -> None:
    plugin, game = walk
    expected = solve_game(game, save=False)
    expected.table.close()
    plugin.asked.clear()
    monkeypatch.setattr(Budget, "memo_bytes", limit)
    found = solve_game(game, save=False)
    found.table.close()
    assert found.hash == expected.hash
    asked = [times for (hook, _), times in plugin.asked.items() if hook == "moves"]
    assert max(asked) > 1
    assert (min(asked) == 1) == (limit > 0)


def test_a_solve_that_resumes_asks_once_too(tmp_path: Path, walk, monkeypatch) -> None:
    """What was enumerated in another run is not remembered, so it is asked again: once."""
    plugin, game = walk
    expected = solve_game(game, save=False)
    expected.table.close()

    def stop(solve: object) -> None:
        raise Interrupted("enough")

    with monkeypatch.context() as patch:
        patch.setattr(SolveState, "load_tiers", stop)
        with pytest.raises(Interrupted):
            solve_game(game, backend="lmdb", directory=tmp_path)
    plugin.asked.clear()
    resumed = solve_game(game, backend="lmdb", directory=tmp_path)
    resumed.table.close()
    assert most_asked(plugin, but={game.start()}) == dict.fromkeys(("status", "moves", "mover", "tier", "score"), 1)
    assert resumed.hash == expected.hash


@pytest.mark.parametrize(
    ("hook", "answer", "words"),
    [
        ("status", RuntimeError("broken"), "hook 'status' raised RuntimeError: broken in position 400"),
        ("moves", RuntimeError("broken"), "hook 'moves' raised RuntimeError: broken in position 400"),
        ("mover", RuntimeError("broken"), "hook 'mover' raised RuntimeError: broken in position 400"),
        ("tier", RuntimeError("broken"), "hook 'tier' raised RuntimeError: broken in position 400"),
    ],
)
def test_what_a_hook_raises_only_once_is_told_all_the_same(hook: str, answer, words: str, walk) -> None:
    plugin, game = walk
    plugin.fails[hook, 400] = answer
    with pytest.raises(PluginError, match=words):
        solve_game(game, save=False)
    solve_game(game, save=False).table.close()


def test_a_game_that_changes_its_mind_is_told_so(monkeypatch) -> None:
    """Nothing is remembered here: each step asks anew, and there was room for as many children as before."""

    class Fickle(Walk):
        @hookimpl
        def moves(self, position):
            self.asked["moves", position] += 1
            return range(1, 3 if self.asked["moves", position] < 3 else 100)

        @hookimpl
        def apply(self, position, move):
            return (position + 28 * move + 1) % 400

    game = make_game(Fickle(), name="fickle")
    monkeypatch.setattr(Budget, "memo_bytes", 0)
    with pytest.raises(PluginError, match=r"asked again, position \d+ has other moves"):
        solve_by(game, "graph", save=False)
