"""Lint, formatting and types, as tests: one command checks everything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("tool", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_the_code_passes(tool: list[str]) -> None:
    done = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listing.stdout.split("\0") if name]


def test_the_c_code_is_formatted() -> None:
    files = [str(path) for path in tracked_files() if path.suffix in {".c", ".h"} and path.is_file()]
    assert files
    command = [str(Path(sys.executable).with_name("clang-format")), "--dry-run", "--Werror", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_javascript_is_formatted() -> None:
    prettier = ROOT / "node_modules" / ".bin" / "prettier"
    if not prettier.exists():
        pytest.skip("prettier is not installed; run `npm ci`")
    files = [str(path) for path in tracked_files() if path.suffix == ".js" and path.is_file()]
    assert files
    done = subprocess.run([prettier, "--check", *files], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_file_names_a_place_on_somebodys_machine() -> None:
    pattern = re.compile(r"/(?:home|root|Users)/\w|/work/\w")
    for path in tracked_files():
        if path.suffix in {".png", ".svg"} or path == Path(__file__) or not path.is_file():
            continue
        found = pattern.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.relative_to(ROOT)} names {found.group() if found else ''}"


def test_c_and_python_files_say_at_their_top_why_they_exist() -> None:
    for path in tracked_files():
        if path.suffix not in {".c", ".h", ".py"} or not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        opening = re.sub(r"^(#.*\n|\s)+", "", text) if path.suffix == ".py" else text
        assert not text.strip() or opening.startswith(('"""', "/*")), path.relative_to(ROOT)
