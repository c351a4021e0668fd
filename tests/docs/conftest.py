"""A fresh virtual environment for plugins to be installed into: perfectplay is there, and nothing else of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class FreshVenv:
    """`run` runs a shell command in it. `pip` is the real one, but has no index to ask."""

    place: Path
    work: Path

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PERFECTPLAY", "PYTEST"))}
        return {**kept, "PATH": path, "PERFECTPLAY_TABLES": str(self.work / "tables"), "COLUMNS": "120"}

    def run(self, command: str, *, code: int = 0) -> str:
        """What the command prints; it must end with this exit code. Of a failure, what it says on stderr."""
        shell = ["bash", "-c", command]
        done = subprocess.run(shell, cwd=self.work, env=self.environment, text=True, capture_output=True)
        assert done.returncode == code, f"$ {command}\n{done.stdout}\n{done.stderr}"
        return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> FreshVenv:
    """A fresh environment for each module, and a directory to work in with a copy of the examples."""
    base = tmp_path_factory.mktemp("fresh")
    place, work = base / "venv", base / "work"
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    # What is installed here is importable there, as after `pip install perfectplay`; nothing is copied.
    (site / "host.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    _script(place / "bin" / "solve", f"#!{python}\nfrom perfectplay.cli import main\nmain()\n")
    _script(place / "bin" / "pytest", f"#!{python}\nfrom pytest import console_main\nconsole_main()\n")
    pip = f'"{sys.executable}" -m pip --python "{python}" --disable-pip-version-check --quiet'
    _script(place / "bin" / "pip", f'#!/bin/sh\nexport PIP_NO_INDEX=1\nexec {pip} "$@"\n')
    unwanted = shutil.ignore_patterns("build", "*.egg-info", "*.so", "__pycache__", ".*_cache")
    shutil.copytree(ROOT / "docs" / "examples", work / "examples", ignore=unwanted)
    return FreshVenv(place, work)


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
