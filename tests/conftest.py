"""Shared by all tests: layers, `solve` as a separate process, and solved tables of Gobblet and Quantik."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# No deadline: tests do not check speed, and the reference implementations are slow.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

TESTS = Path(__file__).parent

GIVEN_TABLES = "PERFECTPLAY_TEST_TABLES"
"""An environment variable with a directory that has a finished Gobblet table, which saves solving it."""

LAYERS = {
    "": "unit",
    "agents": "engine",
    "compile": "engine",
    "docs": "cli",
    "docs/test_references": "unit",
    "framework": "cli",
    "framework/tables/test_campaign": "campaign",
    "framework/test_authoring": "unit",
    "framework/test_files": "unit",
    "framework/test_game": "unit",
    "framework/test_memory_limits": "unit",
    "framework/test_plugins": "unit",
    "framework/test_progress": "unit",
    "framework/test_python_api": "unit",
    "framework/test_ray": "cluster",
    "framework/test_ray_nodes": "cluster",
    "framework/test_render": "unit",
    "framework/test_solve": "unit",
    "framework/test_wording": "unit",
    "games": "engine",
    "games/dobutsu/test_notation": "unit",
    "games/gobblet/test_notation": "unit",
    "games/quantik/test_formats": "unit",
    "games/quixo/test_notation": "unit",
    "native": "engine",
    "native/test_misuse": "unit",
    "native/test_schedule": "unit",
    "native/test_sorted_keys": "unit",
    "test_bad_input": "cli",
    "test_gobblet_solved": "cli",
    "test_packaging": "packaging",
    "web": "browser",
}
"""The layer of each folder or file under tests/; the longest matching path counts."""

SLOW_FILES = [
    "web/test_page",
    "docs/test_pages",
    "native/test_sanitizers",
    "web/test_every_state",
    "web/test_whole_games",
    "framework/tables/test_campaign",
    "framework/test_seeded_kernels",
    "framework/test_seeded_mistakes",
    "docs/test_examples",
    "test_packaging",
    "web/test_boards",
    "web/test_play",
    "compile/test_host",
    "framework/test_ray",
    "framework/test_ray_nodes",
    "web/test_robustness",
    "web/test_exploring",
    "web/test_accessibility",
    "web/test_schemathesis",
    "games/test_all_games",
    "test_gobblet_solved",
    "framework/test_plan",
    "framework/asking/test_playing",
    "compile/test_translation",
    "games/gobblet/test_kernel",
    "native/test_turns_and_scores",
    "native/test_engine",
    "games/openspiel/test_openspiel",
]
"""The files that take longest, the slowest first. Started last, one of them would leave the other workers idle."""

solve_report = pytest.StashKey[dict[str, Any]]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with its layer, and let pytest-xdist's workers begin with the slow files."""
    for item in items:
        path = item.path.relative_to(TESTS)
        layer = next(LAYERS[name] for parent in (path, *path.parents) if (name := _name(parent)) in LAYERS)
        item.add_marker(layer)
    if "PYTEST_XDIST_WORKER" in os.environ:
        order = {name: number for number, name in enumerate(SLOW_FILES)}
        items.sort(key=lambda item: order.get(_name(item.path.relative_to(TESTS)), len(order)))


def _name(path: Path) -> str:
    return "" if path == Path() else path.with_suffix("").as_posix()


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep compiled rules out of the user's cache. All of pytest-xdist's workers share them."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(base / "cache"))
        yield


@pytest.fixture(scope="session")
def run_solve() -> Callable[..., subprocess.CompletedProcess[str]]:
    """run_solve("show", "gobblet", tables=…): runs the command as users do, in a separate process."""

    def run(*arguments: str, tables: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PERFECTPLAY_")}
        if tables is not None:
            environment["PERFECTPLAY_TABLES"] = str(tables)
        command = [str(Path(sys.executable).with_name("solve")), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, **options)

    return run


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """program("npm"): the path of a program. If it is missing, the test is skipped; in CI it fails."""

    def find(name: str) -> str:
        if path := shutil.which(name):
            return path
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        return give_up(f"{name} is not installed")

    return find


Make = Callable[[Path], None]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Make], Path]:
    """shared("tables", make): a directory that `make` fills once for all of pytest-xdist's workers."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def shared(name: str, make: Make) -> Path:
        place, unfinished = base / name, base / f"{name}.unfinished"
        with (base / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                shutil.rmtree(unfinished, ignore_errors=True)  # left by a worker that failed
                unfinished.mkdir()
                make(unfinished)
                unfinished.rename(place)
        return place

    return shared


@pytest.fixture(scope="session")
def solved(
    shared: Callable[[str, Make], Path], run_solve: Callable[..., subprocess.CompletedProcess[str]]
) -> Callable[[str], Path]:
    """solved("quantik"): a directory with the finished table of a game, for reading, and what the solve reported."""

    def solved(game: str) -> Path:
        def solve(directory: Path) -> None:
            done = run_solve(game, "--json", tables=directory)
            assert done.returncode == 0, done.stderr
            (directory / "report.json").write_text(done.stdout)

        given = os.environ.get(GIVEN_TABLES)
        return Path(given) if given and (Path(given) / game).exists() else shared(f"{game}-tables", solve)

    return solved


@pytest.fixture(scope="session")
def gobblet_tables(solved: Callable[[str], Path], pytestconfig: pytest.Config) -> Path:
    """A directory with the finished table of Gobblet Gobblers, for reading."""
    directory = solved("gobblet")
    if (directory / "report.json").exists():
        report = json.loads((directory / "report.json").read_text())
        pytestconfig.stash[solve_report] = report
        if hasattr(pytestconfig, "workeroutput"):  # only the main process writes to the terminal
            pytestconfig.workeroutput["gobblet"] = report
    return directory


@pytest.fixture(scope="session")
def quantik_tables(solved: Callable[[str], Path]) -> Path:
    """A directory with the finished table of Quantik, for reading."""
    return solved("quantik")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """One of pytest-xdist's workers has ended."""
    if report := getattr(node, "workeroutput", {}).get("gobblet"):
        node.config.stash[solve_report] = report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if report := config.stash.get(solve_report, None):
        terminalreporter.write_line(
            f"gobblet solved in {report['seconds']:.1f} s, {report['cpu_seconds']:.1f} CPU seconds, "
            f"peak memory {report['peak_memory'] >> 20} MiB"
        )
