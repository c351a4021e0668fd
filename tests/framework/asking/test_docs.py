"""The docs of asking are run: their Python with its output, their commands with theirs.

What they say of Gobblet needs its table, which takes a minute to make; where there is none yet, the same code and the
same commands run on the small game of these tests, and only what they print is not compared.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from perfectplay.cli import root

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


def commands() -> list[tuple[str, str]]:
    """Every command of the page, with the output that stands under it."""
    blocks = "".join(CONSOLE.findall((DOCS / "commands.md").read_text(encoding="utf-8")))
    found = re.findall(r"^\$ solve (.*)\n((?:(?!\$).*\n)*)", blocks, re.MULTILINE)
    assert found
    return found


def shape(output: str) -> str:
    """A pattern for shown output in which … stands for anything."""
    return ".*".join(map(re.escape, output.split("…")))


def test_the_code_of_explore_works_for_any_game(installed, in_tmp_path):
    printed = run_page("explore.md", replace=('load_game("gobblet")', 'load_game("race")'))
    assert printed[0][0] == "draw (endless)\n"


def test_explore_prints_what_it_says(gobblet, in_tmp_path):
    for printed, expected in run_page("explore.md"):
        assert printed == expected
    assert (in_tmp_path / "remoteness.svg").read_text() == (DOCS / "images" / "gobblet-remoteness.svg").read_text()


def test_formats_prints_what_it_says(in_tmp_path):
    for printed, expected in run_page("formats.md"):
        assert printed == expected


def test_the_commands_work_for_any_game(solve, in_tmp_path):
    for line, _ in commands():
        result = solve(*shlex.split(line.replace("gobblet", "race")), input="quit\n")
        assert result.exit_code == 0, (line, result.output)


def test_the_commands_print_what_they_say(gobblet, in_tmp_path):
    for line, expected in commands():
        result = CliRunner().invoke(root, shlex.split(line), prog_name="solve", input="quit\n")
        assert result.exit_code == 0, (line, result.output)
        assert re.match(shape(expected), result.stdout, re.DOTALL), (line, result.stdout)
