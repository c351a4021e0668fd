"""`solve serve` as a process: it prints its address, answers, and reports a port in use."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

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


def test_a_port_in_use_is_reported_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [*SERVE, "--port", port, "--dir", str(tmp_path)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert f"port {port}" in ended.stderr
    assert "--port 0" in ended.stderr
