"""The core works without optional packages; a command that needs one names the extra to install."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

EXTRAS = {
    "cbor": ["cbor2"],
    "parquet": ["pyarrow"],
    "plot": ["matplotlib"],
    "web": ["httptools", "msgspec", "starlette", "uvicorn", "uvloop"],
}
PACKAGES = [package for packages in EXTRAS.values() for package in packages]

SCRIPT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None  # as if it were not installed
from perfectplay.cli import main
main()
"""


@pytest.fixture
def solve_without_extras(tmp_path: Path, installed_stones: dict[str, str]):
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SCRIPT, ",".join(PACKAGES), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=installed_stones)

    return run


@pytest.fixture
def installed_stones(install, codes, tmp_path: Path) -> dict[str, str]:
    """An environment with one small game and a separate table directory."""
    install("stones", codes.subtraction)
    limits = {"PERFECTPLAY_PLUGINS": "stones", "PERFECTPLAY_TABLES": str(tmp_path / "tables")}
    return {**os.environ, "PYTHONPATH": str(install.path), **limits}


def test_optional_packages_are_not_required():
    mandatory = {line for line in requires("perfectplay") or [] if "extra ==" not in line}
    for package in PACKAGES:
        assert not any(line.startswith(package) for line in mandatory), package


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_is_in_all(extra: str):
    declared = [line.replace('"', "'") for line in requires("perfectplay") or []]
    assert any(line.startswith("perfectplay[") and extra in line and "extra == 'all'" in line for line in declared)


def test_importing_works_without_unix_modules():
    script = (
        "import sys; sys.modules['fcntl'] = sys.modules['resource'] = None\n"
        "import perfectplay, perfectplay.cli\n"
        "for name in dir(perfectplay): getattr(perfectplay, name)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_game_is_solved_shown_verified_and_compacted_without_any_extra(solve_without_extras):
    for command in (["stones"], ["show", "stones"], ["line", "stones"], ["stats", "stones"], ["verify", "stones"]):
        done = solve_without_extras(*command)
        assert done.returncode == 0, (command, done.stderr)
    assert solve_without_extras("compact", "stones").returncode == 0
    assert solve_without_extras("export", "stones", "csv", "stones.csv").returncode == 0


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["serve"], "`solve serve` needs uvicorn: pip install 'perfectplay[web]'"),
        (["export", "stones", "parquet", "x"], "parquet needs pyarrow: pip install 'perfectplay[parquet]'"),
        (["stats", "stones", "--plot", "x.png"], "needs matplotlib: pip install 'perfectplay[plot]'"),
    ],
)
def test_a_command_names_the_missing_extra(solve_without_extras, command: list[str], words: str):
    solve_without_extras("stones")
    done = solve_without_extras(*command)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
