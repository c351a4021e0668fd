"""Load: requests about random Gobblet positions, against a `solve serve` in a process of its own.

    python tests/web/load.py [--dir TABLES] [--seconds 10] [--connections 8] [--ask moves/evaluated]

prints the rate, the latencies and the server's processor time for each request. The client speaks bare HTTP over
asyncio streams, so that it is not what is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from perfectplay import load_game


@dataclass(frozen=True, slots=True)
class Load:
    """What was measured; times in milliseconds."""

    requests: int
    rate: float
    median: float
    p99: float
    cpu_for_each: float

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests, {self.rate:,.0f}/s, median {self.median:.2f} ms, p99 {self.p99:.2f} ms; "
            f"{self.cpu_for_each:.3f} ms of the server's processor each: "
            f"{1000 / self.cpu_for_each:,.0f}/s on a core of its own"
        )


@contextmanager
def served(directory: Path) -> Iterator[tuple[int, int]]:
    """A `solve serve` on these tables: its port and its process."""
    environment = {**os.environ, "PERFECTPLAY_PLUGINS": "gobblet"}
    command = [sys.executable, "-c", "from perfectplay.cli import main; main()"]
    command += ["serve", "--no-open", "--port", "0", "--dir", str(directory)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            greeting = server.stdout.readline()
            found = re.search(r":(\d+)/", greeting)
            assert found, greeting
            yield int(found[1]), server.pid
        finally:
            server.terminate()


def random_positions(count: int, seed: int = 1) -> list[int]:
    """Positions of random play that is not over, some 24 moves each."""
    game, choice = load_game("gobblet"), random.Random(seed)
    found = []
    while len(found) < count:
        position = game.start()
        for _ in range(choice.randrange(1, 30)):
            following = game.apply(position, choice.choice(game.moves(position)))
            if game.status(following):
                break
            position = following
        found.append(position)
    return found


async def _ask(port: int, path: str, positions: list[int], until: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (began := time.perf_counter()) < until:
        position = random.choice(positions)
        writer.write(f"GET /api/gobblet/{path}?id={position} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"content-length: (\d+)", head)
        assert length
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - began)
    writer.close()


async def _ask_all(port: int, path: str, positions: list[int], seconds: float, connections: int) -> list[float]:
    times: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(_ask(port, path, positions, until, times) for _ in range(connections)))
    return times


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(directory: Path, *, seconds: float, connections: int, path: str = "moves/evaluated") -> Load:
    positions = random_positions(5000)
    with served(directory) as (port, process):
        asyncio.run(_ask_all(port, path, positions, 1.0, connections))  # every tier at hand
        before = _cpu_seconds(process)
        times = sorted(asyncio.run(_ask_all(port, path, positions, seconds, connections)))
        cpu = _cpu_seconds(process) - before
    return Load(
        requests=len(times),
        rate=len(times) / seconds,
        median=1000 * times[len(times) // 2],
        p99=1000 * times[len(times) * 99 // 100],
        cpu_for_each=1000 * cpu / len(times),
    )


if __name__ == "__main__":
    from perfectplay.table.locations import table_directory

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=table_directory())
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--ask", default="moves/evaluated", help="what is asked of each position")
    asked = parser.parse_args()
    print(measure(asked.dir, seconds=asked.seconds, connections=asked.connections, path=asked.ask))
