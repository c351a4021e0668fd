"""The C code under gcc's sanitizers: kernels, complete small solves by every way, and their proofs."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ENGINE = ROOT / "native/perfectplay_native"
GAMES = sorted((ROOT / "games").glob("*/perfectplay_*"))

# PP_NO_CLONES: choosing a clone runs before the sanitizers do.
FLAGS = ["-std=c11", "-g", "-O1", "-pthread", "-DPP_NO_CLONES", "-Wall", "-Wextra", "-Wconversion", "-Werror"]


WRAPPED = (
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "mmap",
    "munmap",
    "open",
    "close",
    "posix_fallocate",
    "pthread_create",
)
"""What sanitize/failing.c stands in for."""


def build_and_run(sources: list[str], sanitizer: str, gcc: str, directory: Path, *flags: str) -> list[str]:
    """The lines that a program says, made of sources of `sanitize`, the engine and the games."""
    folders = [ENGINE / "src", *GAMES]
    files = [HERE / "graph_kernel.c", *(HERE / "sanitize" / name for name in sources)]
    files += (c for each in folders for c in each.glob("*.c") if not c.name.startswith("_"))  # a build left those
    includes = [f"-I{folder}" for folder in (ENGINE / "include", HERE, *folders)]
    made = directory / "program"
    sanitize = [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]
    build = [gcc, *FLAGS, *sanitize, *includes, *flags, "-o", str(made), *(str(c) for c in files)]
    built = subprocess.run(build, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([made, directory], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.splitlines()


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_kernels_and_small_solves_are_clean(sanitizer: str, program: Callable[[str], str], tmp_path: Path):
    said = build_and_run(["driver.c", "random_graph.c"], sanitizer, program("gcc"), tmp_path)
    assert said[-1] == "a large graph is solved and proven"


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_shares_of_workers_are_clean(sanitizer: str, program: Callable[[str], str], tmp_path: Path):
    said = build_and_run(["shares.c", "random_graph.c"], sanitizer, program("gcc"), tmp_path)
    assert said[-1] == "and whole blocks"


def test_limits_and_what_no_solve_comes_by_are_clean(program: Callable[[str], str], tmp_path: Path):
    said = build_and_run(["limits.c", "random_graph.c"], "address,undefined", program("gcc"), tmp_path)
    assert said[-1] == "all limits hold"


def test_every_request_that_fails_once_is_an_error_and_leaks_nothing(program: Callable[[str], str], tmp_path: Path):
    wrap = [f"-Wl,--wrap={name}" for name in WRAPPED]
    sources = ["allocations.c", "failing.c", "random_graph.c"]
    said = build_and_run(sources, "address,undefined", program("gcc"), tmp_path, *wrap)
    failed = [int(line.split(": ")[1].split()[0]) for line in said]
    assert len(failed) == 21
    assert min(failed) > 0
    assert sum(failed) > 2000
