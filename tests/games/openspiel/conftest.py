"""Runs commands in separate processes, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Run `solve` and return its output, or its error output if `code` is not 0."""

    def run(*words: str, code: int = 0, typed: str = "", **environment: str) -> str:
        command = [sys.executable, "-c", "from perfectplay.cli import main; main()", *words]
        variables = {**os.environ, "PERFECTPLAY_TABLES": str(tmp_path), **environment}
        result = subprocess.run(command, capture_output=True, text=True, env=variables, input=typed)
        assert result.returncode == code, f"{words}\n{result.stdout}\n{result.stderr}"
        return result.stderr if code else result.stdout

    return run
