"""`solve serve` as a process: it prints its address, answers, and reports a port in use."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from .. import zoo

SERVE = [sys.executable, "-c", "from perfectplay.cli import main; main()", "serve", "--no-open"]


def test_serve_prints_its_address_and_answers(tmp_path: Path) -> None:
    command = [*SERVE, "--port", "0", "--dir", str(tmp_path)]
    environment = {**os.environ, "PERFECTPLAY_PLUGINS": "gobblet"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
        assert address
        with urllib.request.urlopen(f"{address[0]}/api/games", timeout=120) as answer:
            games = json.load(answer)["games"]
        with urllib.request.urlopen(f"{address[0]}/gobblet", timeout=120) as page:
            assert b"<title>perfectplay</title>" in page.read()
        server.terminate()
        assert server.wait(60) == 0, "SIGTERM ends the server in order"
    assert [(game["name"], game["state"]) for game in games] == [("gobblet", "unsolved")]


def test_a_server_that_is_open_to_others_prints_an_address_for_them(tmp_path: Path) -> None:
    command = [*SERVE, "--host", "0.0.0.0", "--port", "0", "--dir", str(tmp_path)]
    environment = {**os.environ, "PERFECTPLAY_PLUGINS": "gobblet"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith(f"Serving at http://{socket.gethostname()}:")
        assert server.stdout.readline() == "Other machines can connect to this server.\n"
        server.kill()


@contextmanager
def running_server(directory: Path, *files: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `solve serve` with its output in pipes; yields the process and its port. The caller ends the process."""
    command = [*SERVE, "--port", "0", "--no-compile", "--dir", str(directory), *map(str, files)]
    environment = {**os.environ, "PERFECTPLAY_PLUGINS": "dots"}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        address = re.search(r":(\d+)/", server.stdout.readline())
        assert address
        try:
            yield server, int(address[1])
        finally:
            server.kill()


def list_games(port: int) -> None:
    """Ask three times; the last answer comes after the server has handled all that others sent before."""
    for _ in range(3):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/games", timeout=120) as answer:
            assert answer.status == 200


def test_clients_that_vanish_without_reading_their_answers_are_not_logged(tmp_path: Path) -> None:
    with running_server(tmp_path) as (server, port):
        clients = []
        for _ in range(20):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() resets
            client.connect(("127.0.0.1", port))
            client.sendall(b"GET /static/view.js HTTP/1.1\r\nHost: localhost\r\n\r\n" * 60)
            clients.append(client)
        list_games(port)
        for client in clients:
            client.close()
        list_games(port)
        server.terminate()
        _, errors = server.communicate(timeout=60)
        assert (server.returncode, errors) == (0, "")


def test_a_client_that_vanishes_in_the_middle_of_a_body_is_not_logged(tmp_path: Path) -> None:
    with running_server(tmp_path) as (server, port):
        with socket.create_connection(("127.0.0.1", port)) as client:
            head = "POST /api/gobblet/move HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            client.sendall(f'{head}Content-Length: 999\r\n\r\n{{"move"'.encode())
            list_games(port)
        list_games(port)
        server.terminate()
        _, errors = server.communicate(timeout=60)
        assert (server.returncode, errors) == (0, "")


SLOW_TEXTS = """
@hookimpl
def decode(position): return str(position)

@hookimpl
def encode(text):
    import pathlib, time
    (pathlib.Path(__file__).parent / text).touch()
    time.sleep(float(text))
    return 7
"""


def test_sigterm_ends_the_server_soon_and_every_request_is_answered(tmp_path: Path) -> None:
    game = tmp_path / "slow.py"
    game.write_text(zoo.read("subtraction") + SLOW_TEXTS, encoding="utf-8")
    with running_server(tmp_path, game) as (server, port), ThreadPoolExecutor() as clients:

        def ask(seconds: str) -> tuple[int, dict[str, object]]:
            connection = HTTPConnection("127.0.0.1", port, timeout=120)
            connection.request("GET", f"/api/slow/position?position={seconds}")
            answer = connection.getresponse()
            return answer.status, json.load(answer)

        slow, endless = clients.submit(ask, "3"), clients.submit(ask, "900")
        while not (tmp_path / "3").exists() or not (tmp_path / "900").exists():
            time.sleep(0.01)
        server.terminate()
        assert server.wait(60) == 0
        assert slow.result()[0] == 200
        assert endless.result() == (503, {"error": "the server is stopping"})
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*SERVE, "--port", port, "--dir", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"port {port}" in ended.stderr
    assert "--port 0" in ended.stderr
