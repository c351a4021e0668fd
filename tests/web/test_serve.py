"""`solve serve` as a process: it says where, answers, stops in good order, and is fast enough."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

from . import load

SOLVE = [sys.executable, "-c", "from perfectplay.cli import main; main()"]


def test_serve_says_where_and_answers(tmp_path: Path) -> None:
    with load.served(tmp_path) as (port, _):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/games", timeout=10) as answer:
            games = json.load(answer)["games"]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/gobblet", timeout=10) as page:
            assert b"<title>perfectplay</title>" in page.read()
    assert [(game["name"], game["state"]) for game in games] == [("gobblet", "unsolved")]


def test_a_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*SOLVE, "serve", "--no-open", "--port", port, "--dir", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"port {port}" in ended.stderr
    assert "--port 0" in ended.stderr


def test_one_core_answers_1500_requests_for_evaluated_moves_a_second(gobblet_tables: Path) -> None:
    """By the server's processor time, the best of a few tries: other work on the machine slows a processor down."""
    tries = []
    for _ in range(5):
        tries.append(load.measure(gobblet_tables, seconds=2, connections=8))
        if tries[-1].cpu_for_each < 1000 / 1500:
            return
    raise AssertionError("; ".join(map(str, tries)))
