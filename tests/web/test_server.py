"""The server: limits, caching, compression, host names, and many positions at once."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import socket
import threading
import time
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from perfectplay.game.loading import load_game
from perfectplay.solve.solve import solve_game
from perfectplay.table.compact import CompactTable
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import open_table
from perfectplay.web import app as app_module
from perfectplay.web import matches
from perfectplay.web import pages as pages_module
from perfectplay.web.api import OPERATIONS
from perfectplay.web.app import make_app
from perfectplay.web.library import Library
from perfectplay.web.operations import describe

from .. import zoo


@contextmanager
def running_server(library: Library, *, open_to_others: bool = False) -> Iterator[int]:
    """Run a server as `solve serve` does; yields its port."""
    options = app_module.server_options(open_to_others=open_to_others)
    app = make_app(library, open_to_others=open_to_others)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off", **options))
    thread = threading.Thread(target=server.run, name="server", daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def ask(port: int, path: str = "/api/games") -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


# ---- connections ----


@contextmanager
def unfinished_requests(port: int) -> Iterator[list[socket.socket]]:
    """Open 200 connections, half with a part of the headers, half with a part of a body."""
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=120)) for _ in range(200)]
        for connection in slow[::2]:
            connection.sendall(b"GET /api/games HTTP/1.1\r\nHost: loc")
        for connection in slow[1::2]:
            connection.sendall(b"POST /api/tictactoe/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
        yield slow


def test_unfinished_requests_do_not_block_others(library: Library) -> None:
    with running_server(library) as port, unfinished_requests(port) as slow:
        assert ask(port).startswith(b"HTTP/1.1 200")
        for connection in slow:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):  # it is still open, and has no answer
                connection.recv(100)


def test_connections_are_limited(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MAX_CONNECTIONS", 5)
    with running_server(library) as port:
        with ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=120))
            while not ask(port).startswith(b"HTTP/1.1 503"):  # until the server has accepted them all
                time.sleep(0.01)
        while not ask(port).startswith(b"HTTP/1.1 200"):  # until the server has noticed that they are closed
            time.sleep(0.01)


def test_headers_are_limited_where_other_machines_can_connect(library: Library) -> None:
    with running_server(library, open_to_others=True) as port:
        answer = b""
        with (
            socket.create_connection(("127.0.0.1", port), timeout=120) as greedy,
            suppress(ConnectionResetError, BrokenPipeError),
        ):
            greedy.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(100):
                greedy.sendall(b"X-Long: " + b"x" * 1000 + b"\r\n")
            answer = greedy.recv(100)
        assert answer == b"" or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 431"))
        assert ask(port).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("open_to_others", [False, True])
def test_a_connection_is_used_for_many_requests(library: Library, open_to_others: bool) -> None:
    with running_server(library, open_to_others=open_to_others) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        for method, path, has_body in [
            ("HEAD", "/api/games", False),
            ("GET", "/static/main.js", True),
            ("GET", "/api/games", True),
        ]:
            connection.request(method, path)
            answer = connection.getresponse()
            assert (answer.status, bool(answer.read())) == (200, has_body)
        connection.close()


# ---- files and compression ----


def test_the_page_is_small_and_its_files_are_cached(client: TestClient) -> None:
    head = client.get("/tictactoe").text.partition("</head>")[0]
    linked = list(dict.fromkeys(re.findall(r'(?:href|src)="([^"]+)"', head)))
    scripts = {f"/static/{path.name}" for path in pages_module.STATIC.iterdir()} - {
        f"/static/{name}" for name in ("index.html", *pages_module.LATER)
    }
    assert scripts | {"/static/vocabulary.js", "/api/games", "/api/tictactoe/replay?ply=0"} == set(linked)
    total = 0
    for path in ["/tictactoe", *linked]:
        with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
            assert answer.status_code == 200
            assert answer.headers["cache-control"] == "no-cache"
            total += len(b"".join(answer.iter_raw()))
            etag = answer.headers.get("etag")
        if path in scripts:
            assert client.get(path, headers={"if-none-match": etag}).status_code == 304, path
    assert total <= 60_000, total


def test_json_is_compressed_only_on_request(client: TestClient) -> None:
    plain = client.get("/api/tictactoe/position", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with client.stream("GET", "/api/tictactoe/position", headers={"accept-encoding": "gzip"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(b"".join(packed.iter_raw()))) == plain.json()


def test_a_wrong_method_is_answered_with_the_allowed_ones(client: TestClient) -> None:
    allowed = client.put("/api/tictactoe/solve").headers["allow"]
    assert set(allowed.replace(" ", "").split(",")) == {"GET", "HEAD", "POST", "DELETE"}
    refused = client.get("/api/tictactoe/move")
    assert refused.status_code == 405
    assert "GET" in refused.json()["error"]
    assert "405" in describe(OPERATIONS)["paths"]["/api/{game}/move"]["post"]["responses"]


def test_the_api_describes_itself(client: TestClient) -> None:
    summary = client.get("/api").json()
    assert "POST /api/{game}/probe: The values of up to 10,000 positions" in summary["paths"]
    document = client.get("/api/openapi.json").json()
    assert document == json.loads(json.dumps(describe(OPERATIONS)))  # it does not depend on the games


def test_every_operation_has_a_unique_name_and_a_known_tag() -> None:
    document = describe(OPERATIONS)
    operations = [
        operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in ("get", "post", "delete")
    ]
    assert len(operations) == len(OPERATIONS)
    names = [operation["operationId"] for operation in operations]
    assert len({*names}) == len(names)
    assert all(re.fullmatch("[a-z][A-Za-z]+", name) for name in names)
    tags = {tag["name"] for tag in document["tags"]}
    assert {tag for operation in operations for tag in operation["tags"]} == tags
    assert all(len(operation["tags"]) == 1 for operation in operations)
    assert "OutcomeName" in document["components"]["schemas"]  # a named type in generated clients


def test_a_browser_gets_a_readable_description(client: TestClient) -> None:
    page = client.get("/api", headers={"accept": "text/html,*/*;q=0.8"})
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["vary"].lower().count("accept")
    for operation in OPERATIONS:
        assert f"{operation.method} {operation.path}" in page.text
    examples = re.findall(r'href="(/(?:uw)?api[^"]*)"', page.text)
    assert len(examples) > 10
    assert {client.get(path).status_code for path in examples} == {200}


# ---- host names ----


def test_a_server_open_to_others_checks_the_host_name(library: Library) -> None:
    app = make_app(library, hosts={"localhost", "games.example"}, open_to_others=True)
    for host, status in [("localhost", 200), ("games.example", 200), ("192.0.2.7", 200), ("rebound.example", 403)]:
        assert TestClient(app, base_url=f"http://{host}:8017").get("/api/games").status_code == status, host
    closed = make_app(library, hosts={"localhost"})
    assert TestClient(closed, base_url="http://192.0.2.7:8017").get("/api/games").status_code == 403


# ---- many positions ----


def test_long_headers_are_refused(client: TestClient) -> None:
    assert client.get("/api/games", headers={"x": "a" * 30_000}).status_code == 200
    assert client.get("/api/games", headers={"x": "a" * 120_000}).status_code == 431


def test_a_table_that_is_removed_while_it_is_open_is_still_served(games: types.SimpleNamespace, tmp_path: Path) -> None:
    game = games.tic_tac_toe()
    solve_game(game, directory=tmp_path).table.close()
    client = TestClient(make_app(Library(tmp_path, [game])))
    shutil.rmtree(tmp_path / "tictactoe")
    for path in ("overview", "evaluate", "position", "find", "solve"):
        assert client.get(f"/api/tictactoe/{path}").status_code == 200, path
    assert client.get("/api/games").json()["games"][0]["state"] == "ready"


def test_many_positions_are_probed_at_once(client: TestClient, games: types.SimpleNamespace) -> None:
    game = games.tic_tac_toe()
    start = game.start()
    children = [game.apply(start, move) for move in game.moves(start)]
    answer = client.post("/api/tictactoe/probe", json={"ids": [str(child) for child in children] * 1000})
    assert answer.status_code == 200
    assert answer.json()["outcomes"] == ["draw"] * 9000
    assert answer.json()["remoteness"] == [8] * 9000
    texts = client.post("/api/tictactoe/probe", json={"positions": [".........", "XX.OO...."]}).json()
    assert (texts["outcomes"], texts["remoteness"]) == (["draw", "win"], [9, 1])
    assert client.post("/api/tictactoe/probe", json={"ids": []}).json()["outcomes"] == []


@pytest.mark.parametrize(
    ("body", "status", "part"),
    [
        ({"ids": ["1"] * 10_001}, 413, "at most 10,000"),
        ({"ids": [1]}, 400, "ids[0]: expected a string"),
        ({"ids": ["x"]}, 400, "whole number"),
        ({"ids": ["1"], "positions": []}, 400, "the body must be"),
        ({}, 400, "the body must be"),
        ({"positions": ["?"]}, 400, "nine of"),
    ],
)
def test_a_wrong_probe_is_refused(client: TestClient, body: object, status: int, part: str) -> None:
    answer = client.post("/api/tictactoe/probe", json=body)
    assert (answer.status_code, part in answer.json()["error"]) == (status, True), answer.text


def test_a_line_of_a_compact_table_does_not_block_other_requests(
    tmp_path: Path, games: types.SimpleNamespace, small_tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each probe unpacks a frame, outside the event loop."""
    game = games.tic_tac_toe()
    with open_table(game, small_tables / "tictactoe") as table:
        compact_table(table, tmp_path / "tictactoe", progress=lambda done: None)
    compact, plain = Library(tmp_path, [game]), Library(small_tables, [game])
    assert isinstance(compact.games["tictactoe"].table, CompactTable)
    started, resume, probe = threading.Event(), threading.Event(), CompactTable.get

    def slow_probe(table: CompactTable, *arguments: Any) -> Any:
        if threading.current_thread() is not loop:
            started.set()
            resume.wait(120)
        return probe(table, *arguments)

    monkeypatch.setattr(CompactTable, "get", slow_probe)
    found: list[bytes] = []
    with running_server(compact) as port:
        loop = next(thread for thread in threading.enumerate() if thread.name == "server")
        waiting = threading.Thread(target=lambda: found.append(ask(port, "/api/tictactoe/line")))
        waiting.start()
        assert started.wait(120), "the line is computed outside the event loop"
        assert ask(port, "/api/tictactoe/check?position=.........").startswith(b"HTTP/1.1 200")
        assert waiting.is_alive()
        resume.set()
        waiting.join()
    line = TestClient(make_app(plain)).get("/api/tictactoe/line").json()
    assert json.loads(found[0].partition(b"\r\n\r\n")[2]) == line
    assert len(line["line"]) == 9
    compact.close()
    plain.close()


def test_only_existing_variants_have_an_address(client: TestClient) -> None:
    assert client.get("/tictactoe-width=5").status_code == 404
    assert client.get("/api/tictactoe-width=5/evaluate").status_code == 404


def test_an_address_may_omit_default_options(tmp_path: Path) -> None:
    library = Library(tmp_path, [load_game("dots", rows=1), load_game("dots"), load_game("morris")])
    client = TestClient(make_app(library), follow_redirects=False)
    for short, whole in {
        "dots": "dots-columns=2-rows=2",
        "dots-rows=1": "dots-columns=2-rows=1",
        "dots-rows=1-columns=1": "dots-columns=1-rows=1",
        "morris-men=six": "morris-flying=no-men=six",
    }.items():
        answer = client.get(f"/{short}?moves=a+b(1)&ply=1")
        assert (answer.status_code, answer.headers["location"]) == (307, f"/{whole}?moves=a+b(1)&ply=1"), short
        assert client.get(f"/{whole}").status_code == 200
        assert client.get(f"/api/{short}/position").json()["game"] == whole
    for wrong in ("dot", "dots-", "dots-rows", "dots-rows=1-rows=2", "dots2"):
        assert client.get(f"/{wrong}").status_code == 404, wrong
        assert client.get(f"/api/{wrong}/position").status_code == 404, wrong
    for refused in ("dots-rows=0", "dots-rows=1-x=2"):
        assert client.get(f"/{refused}").status_code == client.get(f"/api/{refused}/position").status_code == 422
    library.close()


# ---- sessions and links ----


def test_a_sessions_games_are_limited(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MAX_GAMES", 1)
    assert client.post("/api/tictactoe/move", json={"move": "b2"}).json()["ply"] == 1
    assert client.get("/api/tictactoe/game").json()["ply"] == 1
    client.post("/api/stones/move", json={"move": "2"})
    assert client.get("/api/stones/game").json()["ply"] == 1
    assert client.get("/api/tictactoe/game").json()["ply"] == 0, "the least recently played game is dropped"


def test_white_space_in_a_moves_name_is_kept(games: types.SimpleNamespace, small_tables: Path) -> None:
    hook = "\n@hookimpl\ndef format_move(position, move): return f'take\u00a0{move} now'\n"
    game = games.game_of(zoo.read("subtraction") + hook, "stones")
    client = TestClient(make_app(Library(small_tables, [game])))
    answer = client.get("/api/stones/replay", params={"moves": "take\u00a02_now take\u00a01_now"}).json()
    assert [entry["move"] for entry in answer["timeline"]] == [None, "take\u00a02 now", "take\u00a01 now"]
