"""A game in Python may take long to read a position (OpenSpiel's are played through), or fail: others do not suffer."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable
from urllib.error import HTTPError

import pytest

from perfectplay import Game
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
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(slow(small_server)))
    waiting.start()
    assert asked.wait(10)
    assert get(f"{small_server}/api/tictactoe/position") == 200
    go_on.set()
    waiting.join()
    assert found == [200]


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
