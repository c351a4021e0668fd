"""A server under hostile requests, and a table with two writers, readers and a server at the same time.

    python -m tools.campaigns.server_campaign [--requests 2500] [--seconds 60] [--seed 1]

Requests: any method, path, query, header and body, also cut off or not HTTP at all. The answer must not be an
internal error (status 500), values must be right, and the server must still answer at the end. Writers: two processes
replace and compact one table in turn while others read it. Every answer must be right or a one-line error, and the
table is complete at the end.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

from perfectplay import load_game, open_table, solve_game
from perfectplay.errors import PerfectPlayError
from perfectplay.web.api import OPERATIONS

SOLVE = [sys.executable, "-m", "perfectplay"]
GAME, OPTIONS = "connect4", {"width": 4, "height": 4}
WORDS = [GAME, "--width", "4", "--height", "4"]
Counts = collections.Counter[str]

NAMES = (
    *(
        "connect4",
        "connect4-width=4",
        "connect4-width=0",
        "connect4-width=99999999999",
        "quixo-width=3-height=3",
        "kalah",
    ),
    *("openspiel-game=chess", "openspiel-game=nim(pile_sizes=1;3000000)", "openspiel-game=go(board_size=19)"),
    *("openspiel-game=" + "misere(game=" * n + "tic_tac_toe()" + ")" * n for n in (1, 20, 50, 400)),
    *(
        "openspiel-game=",
        "openspiel-game=\0",
        "..",
        ".",
        "%2e%2e%2fetc",
        "a" * 300,
        "é",
        "dots-rows=1-columns=2",
        "gobblet",
    ),
)
TEXTS = (
    *(
        "",
        "0",
        "1",
        "-1",
        "8",
        str(2**64 - 1),
        str(2**64),
        "9" * 400,
        "1e2",
        "nan",
        "..../..../..../....",
        "a1",
        "\0",
        "é",
    ),
    *("x" * 2000, "[" * 500, "{}", "null", "true", "../../etc/passwd", "<script>", "%", "a b c d " * 100),
)
PARAMETERS = ("position", "id", "moves", "ply", "strength", "seed", "kind", "remoteness", "level", "unknown", "")
HEADERS = (
    *(("Sec-Fetch-Site", site) for site in ("same-origin", "none", "cross-site", "odd")),
    *(
        ("Origin", "http://elsewhere"),
        ("Host", "elsewhere"),
        ("Cookie", "perfectplay_session=x; perfectplay_variants=!!%"),
    ),
    *(
        ("Content-Length", "-1"),
        ("Content-Length", "99999999"),
        ("Transfer-Encoding", "chunked"),
        ("Expect", "100-continue"),
    ),
    *(
        ("X-Long", "x" * 40_000),
        ("Accept-Encoding", "gzip"),
        ("Range", "bytes=0-1"),
        ("Upgrade", "websocket"),
        ("", ""),
    ),
)
COMPLETE = (b"\r\n\r\n", b"}", b"]", b"null", b"\xff", b"[")
"""How a request ends, unless it is cut off."""
LONG_BODY = b"Content-Length: 99999999"
"""A header that promises more than any request here contains."""
SECONDS = 30
"""Time for one answer."""
BODIES = (
    b"",
    b"{}",
    b"[]",
    b"null",
    b'{"ids": ["0"]}',
    b'{"move": "a"}',
    b'{"position": 1}',
    b"\xff" * 99,
    b"[" * 9999,
)


@contextlib.contextmanager
def served(directory: Path) -> Iterator[int]:
    """Run `solve serve`; yields its port."""
    command = [*SOLVE, "serve", "--port", "0", "--no-open", "--dir", str(directory)]
    log = directory / "server.log"
    with log.open("w") as file, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True) as server:
        assert server.stdout is not None
        match = re.search(r":(\d+)/", server.stdout.readline())
        assert match is not None, log.read_text()
        try:
            yield int(match[1])
        finally:
            server.terminate()
            if server.wait(60):
                print(f"the server ended with exit code {server.returncode}", file=sys.stderr)
    if "Traceback" in log.read_text():
        print(log.read_text()[-3000:], file=sys.stderr)


def get(port: int, path: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()


def send_requests(directory: Path, count: int, dice: random.Random) -> Counts:
    game, counts = load_game(GAME, **OPTIONS), Counts()
    with solve_game(game, directory=directory).table as table, served(directory) as port:
        known = [game.start(), *(child for _, child in game.follow(game.start()))]
        expected = {position: table.probe(position) for position in known}
        for _ in range(count):
            raw = _random_request(dice)
            status = _send(port, raw)
            counts[status] += 1
            if status == "500":
                print(f"500 for {raw[:300]!r}", file=sys.stderr)
        for position, value in expected.items():
            status_code, body = get(port, f"/api/{game.identity}/evaluate?id={position}")
            right = status_code == 200 and json.loads(body)["outcome"] == value.outcome.name.lower()
            counts["right values afterwards" if right else "WRONG"] += 1
    return counts


def _random_request(dice: random.Random) -> bytes:
    operation = dice.choice(OPERATIONS)
    path = operation.path.replace("{game}", quote(dice.choice(NAMES), safe="=;(),%"))
    path = path.replace("{variant}", quote(dice.choice(NAMES), safe="=;(),%"))
    if dice.random() < 0.15:
        path = "/" + quote(dice.choice((*NAMES, *TEXTS)), safe="=;(),%/")
    query = "&".join(f"{dice.choice(PARAMETERS)}={quote(dice.choice(TEXTS))}" for _ in range(dice.choice((0, 1, 1, 2))))
    method = (
        operation.method
        if dice.random() < 0.8
        else dice.choice(("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "X"))
    )
    body = dice.choice(BODIES) if method == "POST" else b""
    lines = [f"{method} {path}{'?' + query if query else ''} HTTP/1.1", "Connection: close"]
    chosen = dict(dice.choice(HEADERS) for _ in range(dice.choice((0, 0, 0, 0, 1, 2))))
    fields = {"Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": str(len(body)), **chosen}
    lines += [f"{name}: {text}" for name, text in fields.items()]
    raw = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body
    if dice.random() < 0.05:
        raw = raw[: dice.randrange(len(raw))]
    if dice.random() < 0.05:
        place = dice.randrange(len(raw))
        raw = raw[:place] + dice.randbytes(3) + raw[place + 3 :]
    return raw


def _send(port: int, raw: bytes) -> str:
    """Return the status; or that the connection was closed, or that the server waits for the rest of the request."""
    complete = raw.endswith(COMPLETE) and LONG_BODY not in raw
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(SECONDS if complete else 0.2)
        try:
            connection.sendall(raw)
            answer = connection.recv(64)
        except TimeoutError:
            return "no answer to a complete request" if complete else "waits for the rest"
        except OSError:
            return "closed"
    match = re.match(rb"HTTP/1.1 (\d+)", answer)
    return match[1].decode() if match else "closed"


# ---- writers, readers and a server ----


def write_and_read(directory: Path, seconds: float) -> Counts:
    game, counts = load_game(GAME, **OPTIONS), Counts()
    with solve_game(game, directory=directory).table as table:
        right_hash = table.info.hash
    here = [sys.executable, "-m", "tools.campaigns.server_campaign", "--dir", str(directory), "--seconds", str(seconds)]
    roles = ["writer", "writer", "reader", "reader"]
    with served(directory) as port:
        works = [subprocess.Popen([*here, "--role", each], stdout=subprocess.PIPE, text=True) for each in roles]
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                status, body = get(port, f"/api/{game.identity}/evaluate")
            except (OSError, HTTPException) as error:
                counts[f"WRONG: the server {type(error).__name__}"] += 1
                continue
            right = status == 200 and json.loads(body)["outcome"] == "draw"
            counts["server: right" if right else f"server: {status}"] += 1
        for role, work in zip(roles, works, strict=True):
            for name, often in json.loads(work.communicate()[0] or '{"CRASHED": 1}').items():
                counts[f"{role}: {name}"] += often
    with solve_game(game, directory=directory).table as table:  # resumes or repairs, if that is needed
        counts["complete at the end" if table.info.hash == right_hash else "LOST"] += 1
    return counts


def write_tables(directory: Path, deadline: float) -> Counts:
    counts: Counts = Counts()
    commands = [[*WORDS, "--force", "--backend", "lmdb"], ["compact", *WORDS], [*WORDS, "--force"], ["tables"]]
    while time.monotonic() < deadline:
        for command in commands:
            done = subprocess.run([*SOLVE, *command, "--dir", str(directory)], capture_output=True, text=True)
            last = (done.stderr.strip().splitlines() or [""])[-1]
            internal = "internal error" in done.stderr or "Traceback" in done.stderr or done.returncode not in (0, 1, 2)
            counts["INTERNAL ERROR" if internal else "done" if done.returncode == 0 else "refused"] += 1
            if internal or (done.returncode and "in use" not in last and "another" not in last):
                print(f"{' '.join(command)}: {done.returncode} {last}", file=sys.stderr)
    return counts


def read_tables(directory: Path, deadline: float) -> Counts:
    game, counts = load_game(GAME, **OPTIONS), Counts()
    expected: dict[int, int] = {}
    while time.monotonic() < deadline:
        try:
            with open_table(game, directory / game.identity) as table:
                known = [game.start(), *(child for _, child in game.follow(game.start()))]
                codes = {each: table.probe(each).code for each in known}
        except PerfectPlayError as error:
            counts[f"reported: {str(error).replace(str(directory), '')[:80]}"] += 1
            continue
        expected = expected or codes
        counts["right" if codes == expected else "WRONG"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--role", choices=["writer", "reader"], help=argparse.SUPPRESS)  # the processes it starts
    parser.add_argument("--dir", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.role:
        work = write_tables if given.role == "writer" else read_tables
        print(json.dumps(work(given.dir, time.monotonic() + given.seconds)))
        return
    for count, run in (
        (given.requests, lambda place: send_requests(place, given.requests, random.Random(given.seed))),
        (given.seconds, lambda place: write_and_read(place, given.seconds)),
    ):
        if count:
            with tempfile.TemporaryDirectory(prefix="server-") as directory:
                for what, often in sorted(run(Path(directory)).items()):
                    print(f"{often:7}  {what}")


if __name__ == "__main__":
    main()
