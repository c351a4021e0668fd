"""The Python code and the commands in the docs on queries also work for another game."""

from __future__ import annotations

import shlex

import pytest

from ...docs.test_pages import blocks, commands


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_code_of_explore_works_for_any_game(installed, capsys):
    variables: dict[str, object] = {}
    for code in blocks("docs/explore.md", "python"):
        exec(compile(code.replace('load_game("gobblet")', 'load_game("race")'), "explore.md", "exec"), variables)
    assert capsys.readouterr().out.startswith("draw (endless)\n")


def test_the_commands_work_for_any_game(solve):
    lines = [command for block in blocks("docs/commands.md", "console") for command, _ in commands(block)]
    lines = [line.removeprefix("solve ") for line in lines if line.startswith("solve ")]
    assert len(lines) > 5
    for line in lines:
        result = solve(*shlex.split(line.replace("gobblet", "race")))
        assert result.exit_code == 0, (line, result.output)
