"""Commands in processes of their own, as a user gives them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Run `solve` with some words; what it prints, or with code=2 its complaint."""

    def run(*words: str, code: int = 0, typed: str = "", **environment: str) -> str:
        command = [sys.executable, "-c", "from perfectplay.cli import main; main()", *words]
        variables = {**os.environ, "PERFECTPLAY_TABLES": str(tmp_path), **environment}
        done = subprocess.run(command, capture_output=True, text=True, env=variables, input=typed)
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
        return done.stderr if code else done.stdout

    return run
