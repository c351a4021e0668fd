"""The distribution: the sdist builds the wheel, the wheel works alone, and third parties can build C kernels."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
NOT_SHIPPED = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "*.so", "*.egg-info", "build", "dist", "__pycache__", "node_modules"
)

pytestmark = pytest.mark.packaging


def run(*command: str | Path, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PERFECTPLAY_", "PYTHON"))}
    environment["PERFECTPLAY_TABLES"] = str(cwd / "tables")
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin directory of a fresh environment with nothing but the wheel built from this checkout's sdist."""
    place = tmp_path_factory.mktemp("packaging")
    source = shutil.copytree(ROOT, place / "source", ignore=NOT_SHIPPED)
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", place / "dist")
    run(*build, source, cwd=place)
    (wheel,) = (place / "dist").glob("*.whl")
    run(sys.executable, "-m", "venv", place / "venv", cwd=place)
    run(place / "venv/bin/pip", "install", "--quiet", wheel, cwd=place)
    return place / "venv/bin"


def test_the_sdist_is_the_whole_project(installed: Path):
    (sdist,) = (installed.parents[1] / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"docs/tutorial.md", "docs/images/page.png", "tests/conftest.py", "tests/perft/gobblet.txt"} <= names
    assert {"native/perfectplay_native/src/engine.h", "CHANGELOG.md", ".ci/run"} <= names
    assert not [name for name in names if name.endswith((".so", ".o", ".pyc"))]


def test_the_wheel_supports_every_python_from_3_11(installed: Path):
    (wheel,) = (installed.parents[1] / "dist").glob("*.whl")
    assert "-cp311-abi3-" in wheel.name


def test_cibuildwheel_builds_and_tests_manylinux_and_macos_wheels(installed: Path, tmp_path: Path):
    """One wheel per system, for the oldest Python and not for musl, with a test command that works."""
    wheels = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["cibuildwheel"]
    known = [f"cp{minor}-{system}" for minor in (311, 312) for system in ("manylinux_x86_64", "macosx_arm64")]
    chosen = [name for name in known if fnmatch(name, wheels["build"]) and not fnmatch(name, wheels["skip"])]
    assert chosen == ["cp311-manylinux_x86_64", "cp311-macosx_arm64"]
    assert fnmatch("cp311-musllinux_x86_64", wheels["skip"])
    assert {system: wheels[system]["archs"] for system in ("linux", "macos")} == {
        "linux": ["auto64"],
        "macos": ["auto64"],
    }
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    assert jobs["wheels"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
    command, *words = shlex.split(wheels["test-command"])
    proven = json.loads(run(installed / command, *words, cwd=tmp_path))
    assert (proven["outcome"], proven["verdict"]) == ("loss", "Second player wins")


def test_the_installed_wheel_contains_the_games(installed: Path, tmp_path: Path):
    games = {game["name"]: game for game in json.loads(run(installed / "solve", "games", "--json", cwd=tmp_path))}
    assert {"connect4", "gobblet", "quantik", "quixo"} <= set(games)
    openspiel = games.pop("openspiel")
    assert "pip install 'perfectplay[openspiel]'" in openspiel["needs"]
    for name, game in games.items():
        kind = "Python, compiled" if name in ("connect4", "dots", "kalah") else "C kernel"
        assert (game["broken"], game["needs"], game["kind"]) == (None, None, kind)


def test_a_third_party_builds_a_kernel_against_it(installed: Path, tmp_path: Path):
    run(installed / "pip", "install", "--quiet", "hypothesis", cwd=tmp_path)  # the extra `check`
    printed = run(installed / "solve", "new", "quick", "--c", cwd=tmp_path)
    for advice in re.findall(r"^    (.*)$", printed, re.MULTILINE):
        command, *words = shlex.split(advice)
        run(installed / command, *words, cwd=tmp_path)
    summary = json.loads(run(installed / "solve", "quick", "--json", cwd=tmp_path))
    assert (summary["outcome"], summary["remoteness"]) == ("loss", 6)
    assert "proven" in run(installed / "solve", "verify", "quick", cwd=tmp_path)
