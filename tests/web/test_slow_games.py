"""A game in Python may be slow (OpenSpiel replays whole games) or fail, without effects on other requests."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable
from urllib.error import HTTPError

import pytest

from perfectplay import Game
from perfectplay.game.hooks import Hooks
from perfectplay.web.library import Library

from .. import zoo


def get(address: str, body: dict[str, str] | None = None) -> int:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        return int(answer.status)


SLOW: list[Callable[[str], int]] = [
    lambda server: get(f"{server}/api/stones/position?id=5"),
    lambda server: get(f"{server}/api/stones/position?position=5"),
    lambda server: get(f"{server}/api/stones/check?position=5"),
    lambda server: get(f"{server}/api/stones/replay?position=5"),
    lambda server: get(f"{server}/api/stones/replay?moves=2+1"),
    lambda server: get(f"{server}/api/stones/game?position=5"),
    lambda server: get(f"{server}/api/stones/move", {"move": "2"}),
    lambda server: get(f"{server}/api/stones/state/import", {"position": "5"}),
    lambda server: get(f"{server}/uwapi/stones/regular/positions/?p=5"),
]


def assert_does_not_block(
    server: str, slow: Callable[[str], int], called: threading.Event, resume: threading.Event
) -> None:
    """While a slow request waits in a hook, from `called` until `resume`, another one is answered."""
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(slow(server)))
    waiting.start()
    assert called.wait(120)
    assert get(f"{server}/api/tictactoe/position") == 200
    resume.set()
    waiting.join()
    assert found == [200]


@pytest.mark.parametrize("slow", SLOW)
def test_a_slow_game_does_not_block_other_requests(slow, small_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    called, resume = threading.Event(), threading.Event()

    def slow_down(hook):
        def call(game, given):
            if game.name == "stones" and given in (5, "5") and not resume.is_set():
                called.set()
                assert resume.wait(120)
            return hook(game, given)

        return call

    monkeypatch.setattr(Game, "valid", slow_down(Game.valid))
    monkeypatch.setattr(Game, "encode", slow_down(Game.encode))
    monkeypatch.setattr(Game, "status", slow_down(Game.status))
    assert_does_not_block(small_server, slow, called, resume)


@pytest.mark.parametrize(
    "path",
    [
        "/api/games",
        "/api/stones/evaluate",
        "/api/stones/game",
        "/uwapi/",
        "/uwapi/stones/",
        "/uwapi/stones/regular/",
        "/uwapi/stones/regular/instructions/",
    ],
)
def test_no_python_hook_runs_in_the_event_loop(
    path: str, games, small_tables, serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All hooks are slow, of a game that also has a title and its own notation."""
    hooks = """
from perfectplay import About
@hookimpl
def about(): return About("Stones")
@hookimpl
def encode(text): return int(text)
@hookimpl
def decode(position): return str(position)
"""
    stones = games.game_of(zoo.read("subtraction") + hooks, "stones")
    server = serve(Library(small_tables, [stones, games.tic_tac_toe()]))
    called, resume, call = threading.Event(), threading.Event(), Hooks.call

    def call_slowly(hooks: Hooks, hook: object, *arguments: object) -> object:
        if hooks.game == "stones" and not resume.is_set():
            called.set()
            assert resume.wait(120)
        return call(hooks, hook, *arguments)

    monkeypatch.setattr(Hooks, "call", call_slowly)
    assert_does_not_block(server, lambda server: get(f"{server}{path}"), called, resume)


@pytest.mark.parametrize("wrong", ["-1", "2**64", "'x'", "1.5"])
def test_a_move_to_an_impossible_position_is_reported_as_the_games_error(
    games, small_tables, serve, wrong: str
) -> None:
    code = zoo.read("subtraction").replace(
        "def apply(position, move): ", f"def apply(position, move):\n    if position == 2: return {wrong}\n    "
    )
    server = serve(Library(small_tables, [games.game_of(code, "stones")]))
    with pytest.raises(HTTPError) as refused:
        get(f"{server}/api/stones/moves/evaluated?id=2")
    assert refused.value.code == 500
    assert "stones: hook 'apply' returned" in refused.value.read().decode()
    assert get(f"{server}/api/stones/moves/evaluated?id=5") == 200


@pytest.mark.parametrize("fault", ["SystemExit", "KeyError"])
@pytest.mark.parametrize("hook", ["moves(position)", "format_move(position, move)"])
def test_a_hook_that_exits_or_raises_affects_one_answer(games, small_tables, serve, hook: str, fault: str) -> None:
    code = zoo.read("subtraction") + "\n@hookimpl\ndef format_move(position, move): return str(move)\n"
    broken = code.replace(f"def {hook}: ", f"def {hook}:\n    if position == 2: raise {fault}\n    ")
    server = serve(Library(small_tables, [games.game_of(broken, "stones")]))
    for question in ("moves/evaluated", "position"):
        with pytest.raises(HTTPError) as refused:
            get(f"{server}/api/stones/{question}?id=2")
        assert refused.value.code == 500
        assert f"stones: hook '{hook.partition('(')[0]}' raised {fault}" in refused.value.read().decode()
    assert get(f"{server}/api/stones/position?id=5") == 200
