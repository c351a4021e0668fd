"""Runs the Python code in the docs of queries and compares its output, and runs their commands for another game."""

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
    """Run the Python blocks of a page in order. Returns pairs of actual and documented output."""
    outputs, namespace = [], {}
    for code, expected in CODE.findall((DOCS / name).read_text(encoding="utf-8")):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(code.replace(*replace), name, "exec"), namespace)
        outputs.append((output.getvalue(), expected))
    return outputs


def commands() -> list[str]:
    """Return all commands in commands.md."""
    blocks = "".join(CONSOLE.findall((DOCS / "commands.md").read_text(encoding="utf-8")))
    return re.findall(r"^\$ solve (.*)$", blocks, re.MULTILINE)


def test_the_code_of_explore_works_for_any_game(installed, in_tmp_path):
    outputs = run_page("explore.md", replace=('load_game("gobblet")', 'load_game("race")'))
    assert outputs[0][0] == "draw (endless)\n"


def test_the_output_in_explore_is_correct(gobblet, in_tmp_path):
    for printed, expected in run_page("explore.md"):
        assert printed == expected
    assert (in_tmp_path / "remoteness.svg").read_text() == (DOCS / "images" / "gobblet-remoteness.svg").read_text()


@pytest.mark.filterwarnings("ignore")  # from PettingZoo and pygame
def test_the_output_in_agents_is_correct(in_tmp_path, monkeypatch):
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(in_tmp_path / "tables"))
    for printed, expected in run_page("agents.md"):
        assert printed == expected
    assert (in_tmp_path / "q-learning.svg").read_text() == (DOCS / "images" / "q-learning.svg").read_text()


def test_the_output_in_formats_is_correct(in_tmp_path):
    for printed, expected in run_page("formats.md"):
        assert printed == expected


def test_the_commands_work_for_any_game(solve, in_tmp_path):
    assert len(commands()) > 5
    for line in commands():
        result = solve(*shlex.split(line.replace("gobblet", "race")))
        assert result.exit_code == 0, (line, result.output)
