"""Solves games with less memory than their components need, in a control group that enforces the limit.

    python benchmarks/large/bounded.py             Dōbutsu shōgi and Quixo 5×4; as root, twenty minutes of CPU time
    python benchmarks/large/bounded.py dobutsu     one of them

Each game is solved twice to disk: without a limit, and with `--memory` in a memory control group of twice that size,
which also counts the page cache. Fails if the limited solve takes more than twice the CPU time, or if the tables
differ. Both versions of control groups work. TMPDIR must be on a disk, because files in memory would count too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
MAX_CPU_RATIO = 2.0
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Case:
    """A solve and its memory in MiB."""

    command: tuple[str, ...]
    memory: int
    hash: str


CASES = {
    "dobutsu": Case(("dobutsu",), 512, "8e4b75d2a2d0c446"),
    "quixo": Case(("quixo", "--width", "5", "--height", "4"), 256, "2ff1daaff079cddf"),
}


@contextmanager
def control_group(limit: int) -> Iterator[Path]:
    """A memory control group with this limit in bytes, without swap."""
    unified = (CGROUPS / "cgroup.controllers").exists()  # version 2
    parent = CGROUPS if unified else CGROUPS / "memory"
    bounds = ("memory.max", "memory.swap.max") if unified else ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
    group = parent / f"perfectplay-{os.getpid()}"
    try:
        if unified:
            (parent / "cgroup.subtree_control").write_text("+memory")
        group.mkdir()
    except OSError as error:
        sys.exit(f"cannot create a memory control group in {parent}: {error.strerror}")
    try:
        (group / bounds[0]).write_text(str(limit))
        swap = group / bounds[1]
        if swap.exists():
            swap.write_text("0" if unified else str(limit))
        yield group
    finally:
        group.rmdir()


@dataclass(frozen=True, slots=True)
class Run:
    """The cost and the result of a solve."""

    cpu: float
    hash: str


def solve(case: Case, group: Path | None) -> Run:
    """Solve to disk, within the group and the case's memory or without a limit."""
    with tempfile.TemporaryDirectory() as directory:
        bound = ("--memory", f"{case.memory}M") if group else ()
        command = ["solve", *case.command, "--backend", "lmdb", *bound, "--dir", directory, "--json"]
        print("$", *command, f"(in {2 * case.memory} MiB)" if group else "", flush=True)

        def join() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text(str(os.getpid()))

        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=join)
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"the solve failed with exit code {os.waitstatus_to_exitcode(status)}")
    answer = json.loads(output)
    print(
        f"    CPU {used.ru_utime:.0f} + {used.ru_stime:.0f} s, wall {answer['seconds']:.0f} s, peak "
        f"{used.ru_maxrss >> 10} MiB, {used.ru_majflt:,} major faults, {used.ru_inblock >> 11:,} MiB read, "
        f"{used.ru_oublock >> 11:,} MiB written, hash {answer['hash']}",
        flush=True,
    )
    return Run(used.ru_utime + used.ru_stime, answer["hash"])


def check(name: str) -> bool:
    case = CASES[name]
    free = solve(case, None)
    with control_group(2 * case.memory * MIB) as group:
        bound = solve(case, group)
    ratio = bound.cpu / free.cpu
    print(f"{name}: {ratio:.2f} times the CPU time (at most {MAX_CPU_RATIO:.0f})", flush=True)
    return ratio <= MAX_CPU_RATIO and free.hash == bound.hash == case.hash


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"of {', '.join(CASES)}")
    arguments = parser.parse_args()
    if unknown := set(arguments.games) - set(CASES):
        parser.error(f"unknown case {', '.join(sorted(unknown))}; choose from {', '.join(CASES)}")
    failed = [name for name in arguments.games or CASES if not check(name)]
    sys.exit(f"FAILED: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
