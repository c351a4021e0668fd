"""Variants named in an address: who may open them, limits on their hooks, and who sees them in lists."""

from __future__ import annotations

import asyncio
import os
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from perfectplay import make_game, solve_game
from perfectplay.game.loading import load_game
from perfectplay.web import bounded
from perfectplay.web import library as library_module
from perfectplay.web.app import make_app
from perfectplay.web.bounded import BoundedError, run_bounded
from perfectplay.web.library import Library

CODE = '''
"""Subtraction. The option chooses a mistake: a hook that hangs, uses much memory or crashes."""
import os
from perfectplay import Option, Status, hookimpl

LOADED = []

@hookimpl
def options(): return [Option("rule", "plain", text=True), Option("stones", 7, minimum=1, maximum=9)]

@hookimpl
def configure(options):
    LOADED.append(options["rule"])
    if options["rule"] == "slow to load":
        while True: pass
    return Rules(options["rule"], options["stones"])

class Rules:
    def __init__(self, rule, stones): self.rule, self.stones = rule, stones
    @hookimpl
    def start(self): return self.stones
    @hookimpl
    def valid(self, position):
        while self.rule == "hang" and position == 3: pass
        if self.rule == "large" and position == 3: self.memory = bytearray(1 << 30)
        if self.rule == "crash" and position == 3: os.abort()
        return position <= self.stones
    @hookimpl
    def moves(self, position): return [taken for taken in {"error": None}.get(self.rule, (1, 2)) if taken <= position]
    @hookimpl
    def apply(self, position, move): return position - move
    @hookimpl
    def status(self, position): return Status.ONGOING if position else Status.LOST
'''
OWN = {"sec-fetch-site": "same-origin"}
TYPED = {"sec-fetch-site": "none"}
OTHER_SITE = {"sec-fetch-site": "cross-site"}


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType("stones")
    exec(CODE, vars(module))

    def load(name: str, **options: object) -> Any:
        return make_game(module, name=name, **options)

    monkeypatch.setattr(library_module, "load_game", load)
    return module


@pytest.fixture
def library(module: types.ModuleType, tmp_path: Path) -> Iterator[Library]:
    default = make_game(module, name="stones")
    solve_game(default, directory=tmp_path).table.close()
    library = Library(tmp_path, [default])
    module.LOADED.clear()
    yield library
    library.close()


@pytest.fixture
def client(library: Library, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    monkeypatch.setattr(bounded, "SECONDS", 6.0)
    return TestClient(make_app(library))


def test_only_the_own_page_opens_a_variant_with_free_text(client: TestClient, module: types.ModuleType) -> None:
    for headers in (OTHER_SITE, {}):
        for path in ("/api/stones-rule=new/position", "/stones-rule=new", "/stones-rule=new-stones=5"):
            assert client.get(path, headers=headers).status_code == 404
    assert not module.LOADED
    assert client.get("/api/stones-rule=new/position", headers=OWN).json()["game"] == "stones-rule=new-stones=7"
    assert client.get("/stones-rule=typed-stones=7", headers=TYPED).status_code == 200


def test_a_server_open_to_others_opens_only_what_is_solved(library: Library) -> None:
    client = TestClient(make_app(library, open_to_others=True))
    for name in ("stones-rule=new", "stones-rule=plain-stones=5"):
        assert client.get(f"/api/{name}/position", headers=OWN).status_code == 404
    assert client.get("/api/stones-rule=plain-stones=7/evaluate").status_code == 200


def test_a_solved_variant_is_opened_for_everybody(client: TestClient, module: types.ModuleType, tmp_path: Path) -> None:
    game = make_game(module, name="stones", rule="new", stones=4)
    solve_game(game, directory=tmp_path).table.close()
    assert client.get(f"/api/{game.identity}/evaluate", headers=OTHER_SITE).json()["outcome"] == "win"
    assert game.identity in {each["name"] for each in client.get("/api/games").json()["games"]}


@pytest.mark.parametrize(("rule", "word"), [("hang", "seconds"), ("large", "memory"), ("crash", "crashes")])
def test_a_hook_that_hangs_or_grows_is_stopped(client: TestClient, rule: str, word: str) -> None:
    address = f"/api/stones-rule={rule}-stones=7"
    started = client.get(f"{address}/position", headers=OWN)
    assert started.status_code == 200, started.text
    began = time.monotonic()
    answer = client.get(f"{address}/position?id=3", headers=OWN)
    assert answer.status_code == 409
    assert word in answer.json()["error"]
    assert time.monotonic() - began < 30
    assert client.get(f"{address}/moves?id=5", headers=OWN).status_code == 200
    assert client.get(f"{address}/position?id=8", headers=OWN).status_code == 400
    moved = client.post(f"{address}/move", json={"move": "2"}, headers=OWN)
    assert moved.json()["ply"] == 1


def test_a_variant_that_takes_too_long_to_load_is_refused(client: TestClient, library: Library) -> None:
    assert client.get("/api/stones-rule=slow%20to%20load/position", headers=OWN).status_code == 409
    assert not library.requested


def test_a_requested_variant_is_listed_only_for_its_client(client: TestClient, library: Library) -> None:
    name = "stones-rule=mine-stones=7"
    assert client.get(f"/{name}", headers=TYPED).status_code == 200

    def names(client: TestClient) -> set[str]:
        return {each["name"] for each in client.get("/api/games").json()["games"]}

    assert names(client) == {"stones-rule=plain-stones=7", name}
    other = TestClient(make_app(library))
    assert names(other) == {"stones-rule=plain-stones=7"}
    assert name not in other.get("/api/openapi.json").text
    assert [each["id"] for each in client.get("/uwapi/stones/").json()["variants"]] == ["rule=plain-stones=7"]


def test_names_that_are_nested_or_long_are_not_found(tmp_path: Path) -> None:
    client = TestClient(make_app(Library(tmp_path, [load_game("openspiel")])))
    for depth in (50, 100, 400):  # the first is short enough for a variant, but too long for a file
        name = "misere(game=" * depth + "tic_tac_toe()" + ")" * depth
        for headers in (OTHER_SITE, {}) if depth == 50 else (OWN, OTHER_SITE, {}):
            answer = client.get(f"/api/openspiel-game={name}/position", headers=headers)
            assert answer.status_code == 404, answer.text
            assert str(tmp_path) not in answer.text


def test_a_variant_whose_hooks_fail_is_refused(client: TestClient) -> None:
    answer = client.get("/api/stones-rule=error/position", headers=OWN)
    assert (answer.status_code, "'moves' raised TypeError" in answer.json()["error"]) == (409, True)


def test_the_process_ends_when_the_client_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        async def is_disconnected(self) -> bool:
            return True

    reader, writer = os.pipe()

    def hang() -> None:
        os.write(writer, str(os.getpid()).encode())
        while True:
            pass

    began = time.monotonic()
    with pytest.raises(BoundedError, match="gone"):
        asyncio.run(run_bounded(Gone(), asyncio.Semaphore(1), hang))  # type: ignore[arg-type]
    assert time.monotonic() - began < bounded.SECONDS
    os.set_blocking(reader, False)
    try:
        pid = int(os.read(reader, 100))
    except BlockingIOError:  # it was killed before it began
        return
    assert not Path(f"/proc/{pid}").exists()
