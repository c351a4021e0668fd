"""The server as such: limits, caching, the names it answers to, whole tables and many positions at once."""

from __future__ import annotations

import gzip
import json
import re
import socket
import threading
import time
import types
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.testclient import TestClient

from perfectplay.game.loading import load_game
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import open_table
from perfectplay.table.compact import CompactTable
from perfectplay.web import api, connections, request_guard
from perfectplay.web.app import make_app
from perfectplay.web.connections import server_options
from perfectplay.web.library import Library
from perfectplay.web.openapi import description
from perfectplay.web.wire import etag_of


@contextmanager
def careful_server(library: Library) -> Iterator[int]:
    """A server as `solve serve` runs it; yields its port."""
    config = uvicorn.Config(make_app(library), port=0, log_level="error", lifespan="off", **server_options())
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="careful server", daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def ask(port: int, path: str = "/api/games") -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


# ---- connections ----


class Written:
    """A transport that notes what it is given."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.pieces.append(data)

    def close(self) -> None:
        self.closed = True


def test_the_head_of_an_answer_goes_out_with_its_body() -> None:
    written = Written()
    transport = connections._InOnePiece(written)  # type: ignore[arg-type]
    transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert written.pieces.pop() == b"HTTP/1.1 100 Continue\r\n\r\n"  # the client waits for it before it sends more
    for piece in (b"HTTP/1.1 200 OK\r\n\r\n", b"one", b"two"):
        transport.write(piece)
    assert written.pieces == [b"HTTP/1.1 200 OK\r\n\r\none", b"two"]
    transport.write(b"HTTP/1.1 304 Not Modified\r\n\r\n")
    transport.flush()
    transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    transport.close()
    assert written.pieces[2:] == [b"HTTP/1.1 304 Not Modified\r\n\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"]
    assert written.closed


def test_answers_without_a_body_and_several_on_one_connection(library: Library) -> None:
    with careful_server(library) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for method, path, more in (
            ("HEAD", "/api/games", ""),
            ("GET", "/static/page.css", f"If-None-Match: {etag_of(_page_css(port))}\r\n"),
            ("GET", "/api/games", ""),
        ):
            connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode())
            answer = b""
            while b"\r\n\r\n" not in answer:
                answer += connection.recv(65536)
            assert answer.split()[1] == (b"304" if more else b"200")
            head, _, body = answer.partition(b"\r\n\r\n")
            while method == "GET" and not more and len(body) < int(re.findall(rb"content-length: (\d+)", head)[0]):
                body += connection.recv(65536)
            assert bool(body) == (method == "GET" and not more)


def _page_css(port: int) -> bytes:
    return ask(port, "/static/page.css").partition(b"\r\n\r\n")[2]


@contextmanager
def half_sent(port: int) -> Iterator[list[socket.socket]]:
    """Two hundred connections, half with a part of a head, half with a part of a body."""
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30)) for _ in range(200)]
        for connection in slow[::2]:
            connection.sendall(b"GET /api/games HTTP/1.1\r\nHost: loc")
        for connection in slow[1::2]:
            connection.sendall(b"POST /api/tictactoe/move HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n{")
        yield slow


def test_half_sent_requests_do_not_stop_the_others(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 3600.0)
    with careful_server(library) as port, half_sent(port) as slow:
        assert ask(port).startswith(b"HTTP/1.1 200")
        for connection in slow:
            connection.setblocking(False)
            with pytest.raises(BlockingIOError):  # it is still open, and has no answer
                connection.recv(100)


def test_half_sent_requests_are_given_up(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.5)
    with careful_server(library) as port, half_sent(port) as slow:
        for connection in slow:
            with suppress(ConnectionResetError):
                assert connection.recv(100) == b""
        assert ask(port).startswith(b"HTTP/1.1 200")


def test_connections_are_bounded(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 5)
    with careful_server(library) as port:
        with ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            one_more = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            with suppress(ConnectionResetError):
                assert one_more.recv(100) == b""
        while not answer_or_nothing(port).startswith(b"HTTP/1.1 200"):  # until the server has seen that they are gone
            time.sleep(0.01)


def answer_or_nothing(port: int) -> bytes:
    with suppress(ConnectionResetError, BrokenPipeError):
        return ask(port)
    return b""


def test_the_head_of_a_request_is_bounded(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 3600.0)
    with careful_server(library) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as greedy:
        with suppress(ConnectionResetError, BrokenPipeError):
            greedy.sendall(b"GET / HTTP/1.1\r\n")
            for _ in range(100):
                greedy.sendall(b"X-Long: " + b"x" * 1000 + b"\r\n")
            answer = greedy.recv(100)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
        assert ask(port).startswith(b"HTTP/1.1 200")


def test_a_connection_is_used_for_many_requests(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 2.0)
    with careful_server(library) as port, socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        for _ in range(4):
            connection.sendall(b"GET /api/tictactoe/evaluate HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(0.6)  # idle between requests, in all longer than a request may take


# ---- the wire ----


def test_a_cold_page_is_small_and_a_warm_one_only_asks(client: TestClient) -> None:
    head = client.get("/tictactoe").text.partition("</head>")[0]
    linked = re.findall(r'(?:href|src)="([^"]+)"', head)
    needed = {"/static/page.js", "/static/page.css", "/api/games", "/api/tictactoe/replay"}
    assert needed <= set(linked), "all it needs is asked for at once, two steps deep"
    total = 0
    for path in ["/tictactoe", *linked]:
        with client.stream("GET", path, headers={"accept-encoding": "gzip"}) as answer:
            assert answer.status_code == 200
            headers = sum(len(name) + len(value) + 4 for name, value in answer.headers.raw)
            total += len(b"".join(answer.iter_raw())) + headers
            etag = answer.headers["etag"]
        assert client.get(path, headers={"if-none-match": etag}).status_code == 304, path
    assert total <= 40_000, total


def test_json_is_packed_only_for_those_who_unpack(client: TestClient) -> None:
    plain = client.get("/api/tictactoe/position", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    with client.stream("GET", "/api/tictactoe/position", headers={"accept-encoding": "gzip"}) as packed:
        assert packed.headers["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(b"".join(packed.iter_raw()))) == plain.json()


def test_a_method_that_is_not_possible_is_told_the_ones_that_are(client: TestClient) -> None:
    allowed = client.put("/api/tictactoe/solve").headers["allow"]
    assert set(allowed.replace(" ", "").split(",")) == {"GET", "HEAD", "POST", "DELETE"}
    assert client.get("/api/tictactoe/move").status_code == 405


def test_the_interface_describes_itself(client: TestClient) -> None:
    said = client.get("/api").json()
    assert "POST /api/{game}/probe: The values of up to 10,000 positions" in said["paths"]
    document = client.get("/api/openapi.json").json()
    names = document["paths"]["/api/{game}/evaluate"]["parameters"][0]["schema"]["enum"]
    assert names == ["tictactoe", "stones", "gobblet"]
    assert document["components"] == json.loads(json.dumps(description()["components"]))


# ---- who may ask ----


def test_a_server_open_to_others_still_checks_the_host(library: Library) -> None:
    app = make_app(library, hosts={"localhost", "games.example"}, open_to_others=True)
    for host, status in [("localhost", 200), ("games.example", 200), ("192.0.2.7", 200), ("rebound.example", 403)]:
        assert TestClient(app, base_url=f"http://{host}:8017").get("/api/games").status_code == status, host
    closed = make_app(library, hosts={"localhost"})
    assert TestClient(closed, base_url="http://192.0.2.7:8017").get("/api/games").status_code == 403


def test_who_is_too_fast_is_told_when_to_come_again(library: Library) -> None:
    guarded = request_guard.Guard(make_app(library), hosts=None, clock=lambda: 0.0)
    client = TestClient(guarded, client=("192.0.2.7", 1234))
    answers_ = [client.get("/static/icon.svg") for _ in range(int(request_guard.BURST) + 1)]
    assert answers_[-1].status_code == 429
    assert answers_[-1].headers["retry-after"] == "1"


# ---- many positions ----


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
        ({"ids": [1]}, 400, "53 bits"),
        ({"ids": ["x"]}, 400, "whole number"),
        ({"ids": ["1"], "positions": []}, 400, "the body must be"),
        ({}, 400, "the body must be"),
        ({"positions": ["?"]}, 400, "nine of"),
    ],
)
def test_a_wrong_batch_is_refused(client: TestClient, body: object, status: int, part: str) -> None:
    answer = client.post("/api/tictactoe/probe", json=body)
    assert (answer.status_code, part in answer.json()["error"]) == (status, True), answer.text


def test_a_line_of_a_compact_table_does_not_keep_the_others_waiting(
    tmp_path: Path, games: types.SimpleNamespace, small_tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each probe unpacks a frame, beside the loop: while one line is on its way, others are answered."""
    game = games.tic_tac_toe()
    with open_table(game, small_tables / "tictactoe") as table:
        compact_table(table, tmp_path / "tictactoe", progress=lambda done: None)
    compact, plain = Library(tmp_path, [game]), Library(small_tables, [game])
    assert isinstance(compact.games["tictactoe"].table, CompactTable)
    begun, go_on, probe = threading.Event(), threading.Event(), CompactTable.get

    def slow_probe(table: CompactTable, *arguments: Any) -> Any:
        if threading.current_thread() is not loop:
            begun.set()
            go_on.wait(10)
        return probe(table, *arguments)

    monkeypatch.setattr(CompactTable, "get", slow_probe)
    found: list[bytes] = []
    with careful_server(compact) as port:
        loop = next(thread for thread in threading.enumerate() if thread.name == "careful server")
        waiting = threading.Thread(target=lambda: found.append(ask(port, "/api/tictactoe/line")))
        waiting.start()
        assert begun.wait(10), "the line is worked out beside the loop"
        assert ask(port, "/api/tictactoe/check?position=.........").startswith(b"HTTP/1.1 200")
        assert waiting.is_alive()
        go_on.set()
        waiting.join()
    line = TestClient(make_app(plain)).get("/api/tictactoe/line").json()
    assert json.loads(found[0].partition(b"\r\n\r\n")[2]) == line
    assert len(line["line"]) == 9
    compact.close()
    plain.close()


def test_variants_are_known_by_their_address_only_if_they_exist(client: TestClient) -> None:
    assert client.get("/tictactoe-width=5").status_code == 404
    assert client.get("/api/tictactoe-width=5/evaluate").status_code == 404


def test_options_with_their_defaults_may_be_left_out_of_an_address(tmp_path: Path) -> None:
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
    for wrong in ("dot", "dots-", "dots-rows", "dots-rows=0", "dots-rows=1-rows=2", "dots-rows=1-x=2", "dots2"):
        assert client.get(f"/{wrong}").status_code == 404, wrong
        assert client.get(f"/api/{wrong}/position").status_code == 404, wrong
    library.close()


# ---- sessions and links ----


def test_a_session_has_so_many_games(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MAX_GAMES", 1)
    assert client.post("/api/tictactoe/move", json={"move": "b2"}).json()["ply"] == 1
    assert client.get("/api/tictactoe/game").json()["ply"] == 1
    client.post("/api/stones/move", json={"move": "2"})
    assert client.get("/api/stones/game").json()["ply"] == 1
    assert client.get("/api/tictactoe/game").json()["ply"] == 0, "the game that was longest not played is forgotten"


def test_a_blank_that_is_part_of_a_move_stays_in_it(games: types.SimpleNamespace, small_tables: Path) -> None:
    hook = "\n@hookimpl\ndef format_move(position, move): return f'take\u00a0{move} now'\n"
    game = games.game_of(games.codes["SUBTRACTION"] + hook, "stones")
    client = TestClient(make_app(Library(small_tables, [game])))
    answer = client.get("/api/stones/replay", params={"moves": "take\u00a02_now take\u00a01_now"}).json()
    assert [entry["move"] for entry in answer["timeline"]] == [None, "take\u00a02 now", "take\u00a01 now"]
