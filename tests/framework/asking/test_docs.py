"""The Python code and the commands in the docs on queries also work for another game."""

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


def run_page(name: str, *, replace: tuple[str, str]) -> list[str]:
    """Run the Python blocks of a page in order, and return the output of each."""
    outputs, namespace = [], {}
    for code, _ in CODE.findall((DOCS / name).read_text(encoding="utf-8")):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code.replace(*replace), name, "exec"), namespace)
        outputs.append(output.getvalue())
    return outputs


def commands() -> list[str]:
    """Return all commands in commands.md."""
    blocks = "".join(CONSOLE.findall((DOCS / "commands.md").read_text(encoding="utf-8")))
    return re.findall(r"^\$ solve (.*)$", blocks, re.MULTILINE)


def test_the_code_of_explore_works_for_any_game(installed, in_tmp_path):
    outputs = run_page("explore.md", replace=('load_game("gobblet")', 'load_game("race")'))
    assert outputs[0] == "draw (endless)\n"


def test_the_commands_work_for_any_game(solve, in_tmp_path):
    assert len(commands()) > 5
    for line in commands():
        result = solve(*shlex.split(line.replace("gobblet", "race")))
        assert result.exit_code == 0, (line, result.output)
