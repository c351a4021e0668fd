"""A game in Python may take long to read a position (OpenSpiel's are played through), or fail: others do not suffer."""

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


def get(address: str, body: dict[str, str] | None = None) -> int:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
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


def assert_holds_nobody_up(
    server: str, slow: Callable[[str], int], asked: threading.Event, go_on: threading.Event
) -> None:
    """While the slow request waits in a hook, from `asked` until `go_on`, another is answered; then it is itself."""
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(slow(server)))
    waiting.start()
    assert asked.wait(10)
    assert get(f"{server}/api/tictactoe/position") == 200
    go_on.set()
    waiting.join()
    assert found == [200]


@pytest.mark.parametrize("slow", SLOW)
def test_a_slow_game_holds_nobody_up(slow, small_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(hook):
        def ask(game, given):
            if game.name == "stones" and given in (5, "5") and not go_on.is_set():
                asked.set()
                assert go_on.wait(10)
            return hook(game, given)

        return ask

    monkeypatch.setattr(Game, "valid", slowly(Game.valid))
    monkeypatch.setattr(Game, "encode", slowly(Game.encode))
    monkeypatch.setattr(Game, "status", slowly(Game.status))
    assert_holds_nobody_up(small_server, slow, asked, go_on)


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
def test_no_hook_in_python_runs_where_all_are_answered(
    path: str, games, small_tables, serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever hook it is: of a game with a title and a notation of its own, all are slow."""
    hooks = """
from perfectplay import About
@hookimpl
def about(): return About("Stones")
@hookimpl
def encode(text): return int(text)
@hookimpl
def decode(position): return str(position)
"""
    stones = games.game_of(games.codes["SUBTRACTION"] + hooks, "stones")
    server = serve(Library(small_tables, [stones, games.tic_tac_toe()]))
    asked, go_on, call = threading.Event(), threading.Event(), Hooks.call

    def slowly(hooks: Hooks, hook: object, *arguments: object) -> object:
        if hooks.game == "stones" and not go_on.is_set():
            asked.set()
            assert go_on.wait(10)
        return call(hooks, hook, *arguments)

    monkeypatch.setattr(Hooks, "call", slowly)
    assert_holds_nobody_up(server, lambda server: get(f"{server}{path}"), asked, go_on)


@pytest.mark.parametrize("wrong", ["-1", "2**64", "'x'", "1.5"])
def test_a_move_to_what_cannot_be_a_position_is_the_games_fault(games, small_tables, serve, wrong: str) -> None:
    code = games.codes["SUBTRACTION"].replace(
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
def test_a_hook_that_exits_or_raises_spoils_one_answer_alone(games, small_tables, serve, hook: str, fault: str) -> None:
    code = games.codes["SUBTRACTION"] + "\n@hookimpl\ndef format_move(position, move): return str(move)\n"
    broken = code.replace(f"def {hook}: ", f"def {hook}:\n    if position == 2: raise {fault}\n    ")
    server = serve(Library(small_tables, [games.game_of(broken, "stones")]))
    for question in ("moves/evaluated", "position"):
        with pytest.raises(HTTPError) as refused:
            get(f"{server}/api/stones/{question}?id=2")
        assert refused.value.code == 500
        assert f"stones: hook '{hook.partition('(')[0]}' raised {fault}" in refused.value.read().decode()
    assert get(f"{server}/api/stones/position?id=5") == 200
