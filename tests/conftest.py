"""What tests all over the tree share: `solve` as a process of its own, and one complete Gobblet table."""

from __future__ import annotations

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

# No deadline: no test asserts speed, and a busy machine or a reference written for reading takes its time.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

GIVEN_TABLES = "PERFECTPLAY_TEST_TABLES"
"""Names a directory with a finished Gobblet table, for developers who do not want to wait for one."""

solve_report = pytest.StashKey[dict[str, Any]]()


@pytest.fixture(scope="session")
def run_solve() -> Callable[..., subprocess.CompletedProcess[str]]:
    """run_solve("show", "gobblet", tables=…): the command as users run it, in a process of its own."""

    def run(*arguments: str, tables: Path | None = None, **how: Any) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PERFECTPLAY_")}
        if tables is not None:
            environment["PERFECTPLAY_TABLES"] = str(tables)
        command = [str(Path(sys.executable).with_name("solve")), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, **how)

    return run


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """program("npm"): where a program is. Without it a test is skipped, but not in CI, which has to install it."""

    def find(name: str) -> str:
        if path := shutil.which(name):
            return path
        complain = pytest.fail if os.environ.get("CI") else pytest.skip
        return complain(f"{name} is not installed")

    return find


@pytest.fixture(scope="session")
def gobblet_tables(
    tmp_path_factory: pytest.TempPathFactory,
    run_solve: Callable[..., subprocess.CompletedProcess[str]],
    pytestconfig: pytest.Config,
) -> Iterator[Path]:
    """A directory with the finished table of Gobblet Gobblers, for reading; solved once a session."""
    if given := os.environ.get(GIVEN_TABLES):
        yield Path(given)
        return
    directory = tmp_path_factory.mktemp("tables")
    done = run_solve("gobblet", "--json", tables=directory)
    assert done.returncode == 0, done.stderr
    pytestconfig.stash[solve_report] = json.loads(done.stdout)
    yield directory
    shutil.rmtree(directory)  # pytest would keep a quarter of a gigabyte of each of the last runs


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if report := config.stash.get(solve_report, None):
        terminalreporter.write_line(
            f"gobblet solved in {report['seconds']:.1f} s, {report['cpu_seconds']:.1f} CPU seconds, "
            f"peak memory {report['peak_memory'] >> 20} MiB"
        )
