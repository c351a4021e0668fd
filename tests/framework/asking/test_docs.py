"""The docs of asking are run: their Python with what it prints, and their commands for another game than the docs'."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"
CODE = re.compile(r"```python\n(.*?)```\n```text\n(.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)


@pytest.fixture
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_page(name: str, *, replace: tuple[str, str] = ("", "")) -> list[tuple[str, str]]:
    """Run a page's Python in order; what each block printed, and what the page says."""
    printed, space = [], {}
    for code, expected in CODE.findall((DOCS / name).read_text(encoding="utf-8")):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            exec(compile(code.replace(*replace), name, "exec"), space)
        printed.append((shown.getvalue(), expected))
    return printed


def commands() -> list[str]:
    """Every command of the page."""
    blocks = "".join(CONSOLE.findall((DOCS / "commands.md").read_text(encoding="utf-8")))
    return re.findall(r"^\$ solve (.*)$", blocks, re.MULTILINE)


def test_the_code_of_explore_works_for_any_game(installed, in_tmp_path):
    printed = run_page("explore.md", replace=('load_game("gobblet")', 'load_game("race")'))
    assert printed[0][0] == "draw (endless)\n"


def test_the_commands_work_for_any_game(solve, in_tmp_path):
    assert len(commands()) > 5
    for line in commands():
        result = solve(*shlex.split(line.replace("gobblet", "race")))
        assert result.exit_code == 0, (line, result.output)
