"""Measures the speed of `solve serve` with requests about random Gobblet positions.

python benchmarks/serve.py [--dir TABLES] [--seconds 10] [--connections 8] [--path moves/evaluated]

Prints the rate, the latencies and the server's CPU time per request. The client sends plain HTTP over asyncio streams,
so that it is not the bottleneck. With --least RATE the exit status is 1 if one core cannot answer RATE requests per
second, by the server's CPU time; the promise for evaluated moves is 1,500.
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
    """A measurement. Times are in milliseconds."""

    requests: int
    rate: float
    median: float
    p99: float
    cpu_per_request: float

    @property
    def rate_per_core(self) -> float:
        return 1000 / self.cpu_per_request

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests, {self.rate:,.0f}/s, median {self.median:.2f} ms, p99 {self.p99:.2f} ms; "
            f"{self.cpu_per_request:.3f} ms of CPU time per request, or {self.rate_per_core:,.0f}/s per core"
        )


@contextmanager
def run_server(directory: Path) -> Iterator[tuple[int, int]]:
    """Run `solve serve` on these tables; yields its port and process id."""
    environment = {**os.environ, "PERFECTPLAY_PLUGINS": "gobblet"}
    command = [sys.executable, "-c", "from perfectplay.cli import main; main()"]
    command += ["serve", "--no-open", "--port", "0", "--dir", str(directory)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            greeting = server.stdout.readline()
            address = re.search(r":(\d+)/", greeting)
            assert address, greeting
            yield int(address[1]), server.pid
        finally:
            server.terminate()


def random_positions(count: int, seed: int = 1) -> list[int]:
    """Return unfinished positions of random play, with about 24 moves each."""
    game, generator = load_game("gobblet"), random.Random(seed)
    positions = []
    while len(positions) < count:
        position = game.start()
        for _ in range(generator.randrange(1, 30)):
            child = game.apply(position, generator.choice(game.moves(position)))
            if game.status(child):
                break
            position = child
        positions.append(position)
    return positions


async def _request(port: int, path: str, positions: list[int], until: float, times: list[float]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (start := time.perf_counter()) < until:
        position = random.choice(positions)
        writer.write(f"GET /api/gobblet/{path}?id={position} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"content-length: (\d+)", head)
        assert length
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - start)
    writer.close()


async def _request_all(port: int, path: str, positions: list[int], seconds: float, connections: int) -> list[float]:
    times: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(_request(port, path, positions, until, times) for _ in range(connections)))
    return times


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(directory: Path, *, seconds: float, connections: int, path: str = "moves/evaluated") -> Load:
    positions = random_positions(5000)
    with run_server(directory) as (port, process):
        asyncio.run(_request_all(port, path, positions, 1.0, connections))  # loads every tier
        before = _cpu_seconds(process)
        times = sorted(asyncio.run(_request_all(port, path, positions, seconds, connections)))
        cpu = _cpu_seconds(process) - before
    return Load(
        requests=len(times),
        rate=len(times) / seconds,
        median=1000 * times[len(times) // 2],
        p99=1000 * times[len(times) * 99 // 100],
        cpu_per_request=1000 * cpu / len(times),
    )


if __name__ == "__main__":
    from perfectplay.table.locations import table_directory

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dir", type=Path, default=table_directory())
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--path", default="moves/evaluated", help="the endpoint to request for each position")
    parser.add_argument("--least", type=float, default=0.0, metavar="RATE", help="fail below this rate per core")
    options = parser.parse_args()
    load = measure(options.dir, seconds=options.seconds, connections=options.connections, path=options.path)
    print(load)
    sys.exit(load.rate_per_core < options.least)
