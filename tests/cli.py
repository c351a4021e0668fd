"""Runs `solve` in this process, and checks how a command is refused."""

from __future__ import annotations

import subprocess

from click.testing import CliRunner, Result

from perfectplay.cli import root


def solve(*arguments: object, input: str | None = None, color: bool = False) -> Result:
    return CliRunner().invoke(root, [str(each) for each in arguments], prog_name="solve", input=input, color=color)


def assert_refused(done: Result | subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    """Assert that a command has this exit code, prints nothing, and reports one line with these words."""
    exit_code = done.exit_code if isinstance(done, Result) else done.returncode
    assert exit_code == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr
