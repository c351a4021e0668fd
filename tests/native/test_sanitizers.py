"""The C code under gcc's sanitizers: kernels, and complete small solves with every kind of propagation, verified."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from perfectplay_native.build import WARNINGS

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
ENGINE = ROOT / "native/perfectplay_native"
FOLDERS = [ENGINE / "src", *sorted((ROOT / "games").glob("*/perfectplay_*"))]
INCLUDES = [f"-I{folder}" for folder in (ENGINE / "include", HERE, *FOLDERS)]

# PP_NO_CLONES: the function that selects a clone would run before the sanitizers are ready.
FLAGS = ["-std=c11", "-g1", "-O1", "-pthread", "-DPP_NO_CLONES", *WARNINGS, "-Werror"]

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
"""The functions that sanitize/failing.c replaces."""

Run = Callable[..., list[str]]


@pytest.fixture(scope="session")
def build_and_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """build_and_run(gcc, sanitizer, sources, *flags): the output of a program from `sanitize`, the engine and games."""

    @cache
    def compile_library(gcc: str, sanitizer: str) -> list[str]:
        """The objects of the engine and the games, which all programs share."""
        files = [HERE / "graph_kernel.c"]
        files += (c for folder in FOLDERS for c in folder.glob("*.c") if not c.name.startswith("_"))  # _*.c: by cffi
        directory = tmp_path_factory.mktemp("objects")
        objects = []
        for number, file in enumerate(files):
            objects.append(str(directory / f"{number}.o"))
            run_gcc([gcc, *FLAGS, *sanitize_flags(sanitizer), *INCLUDES, "-c", "-o", objects[-1], str(file)])
        return objects

    def run(gcc: str, sanitizer: str, sources: list[str], *flags: str) -> list[str]:
        directory = tmp_path_factory.mktemp("program")
        program = directory / "program"
        files = [str(HERE / "sanitize" / name) for name in sources]
        objects = compile_library(gcc, sanitizer)
        run_gcc([gcc, *FLAGS, *sanitize_flags(sanitizer), *INCLUDES, *flags, "-o", str(program), *files, *objects])
        finished = subprocess.run([program, directory], capture_output=True, text=True)
        assert (finished.returncode, finished.stderr) == (0, "")
        return finished.stdout.splitlines()

    return run


def sanitize_flags(sanitizer: str) -> list[str]:
    return [f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all"]


def run_gcc(command: list[str]) -> None:
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_kernels_and_small_solves(sanitizer: str, program: Callable[[str], str], build_and_run: Run):
    output = build_and_run(program("gcc"), sanitizer, ["driver.c", "random_graph.c"])
    assert output[-1] == "large graphs: solved and verified"


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_shares_of_workers(sanitizer: str, program: Callable[[str], str], build_and_run: Run):
    output = build_and_run(program("gcc"), sanitizer, ["shares.c", "random_graph.c"])
    assert output[-1] == "units of whole blocks"


def test_boundary_cases_and_functions_outside_a_solve(program: Callable[[str], str], build_and_run: Run):
    output = build_and_run(program("gcc"), "address,undefined", ["limits.c", "random_graph.c"])
    assert output[-1] == "all limits hold"


def test_declared_indexes(program: Callable[[str], str], build_and_run: Run):
    assert build_and_run(program("gcc"), "address,undefined", ["declared.c"]) == ["7 tiers", "declared index: checked"]


TOOLKIT = """\
tic-tac-toe: 8 symmetries, 2862 slots
three men's morris and tapatan: 8 symmetries, 971 slots
mu torere: 16 symmetries, 46 slots
three kinds on a ring of 20: 40 symmetries, 177868 slots
64 cells: 124 symmetries, 670871 slots
two kinds on a ring of 22: 44 symmetries, 666701650 slots
5x5 torus: 200 symmetries, 8027141 slots
three kinds on a 5x5 torus: 200 symmetries, 732768 slots
8x8 torus: 512 symmetries, 3262397 slots
six kinds on an 8x8 torus: 512 symmetries, 105523425 slots
six kinds on a cube of four dimensions: 384 symmetries, 3913794 slots
a cube of five dimensions: 3840 symmetries, 8856 slots
200 random groups
quixo 4x4: 8 symmetries, 5398083 slots
six men's morris: 16 symmetries, 1325809 slots
nine men's morris: 16 symmetries, 8947989348 slots
toolkit: checked
"""

TOOLKIT_BUILDS = {
    "sanitizers": ([*sanitize_flags("address,undefined")], 30_000),
    "sanitizers-bmi2": ([*sanitize_flags("address,undefined"), "-mbmi2"], 30_000),
    "optimized": (["-O2"], 10_000_000),
}


@pytest.mark.parametrize("build", TOOLKIT_BUILDS)
def test_the_kernel_toolkit(build: str, program: Callable[[str], str], tmp_path: Path):
    """The headers in include/perfectplay, with table lookups and with the processor's pext and pdep."""
    flags, random_slots = TOOLKIT_BUILDS[build]
    if "-mbmi2" in flags and "bmi2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("the processor has no BMI2")
    source, output = str(HERE / "sanitize" / "toolkit.c"), str(tmp_path / "toolkit")
    run_gcc([program("gcc"), *FLAGS, *flags, *INCLUDES, "-o", output, source])
    finished = subprocess.run([output, str(random_slots)], capture_output=True, text=True)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, TOOLKIT, "")


def test_every_failing_request_is_an_error_and_leaks_nothing(program: Callable[[str], str], build_and_run: Run):
    wrap = [f"-Wl,--wrap={name}" for name in WRAPPED]
    sources = ["allocations.c", "failing.c", "random_graph.c"]
    output = build_and_run(program("gcc"), "address,undefined", sources, *wrap)
    failed = [int(line.split(": ")[1].split()[0]) for line in output]
    assert len(failed) == 21
    assert min(failed) > 0
    assert sum(failed) > 2000
