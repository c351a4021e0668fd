"""A fresh virtual environment with perfectplay, into which plugins can be installed."""

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
    """`run` runs a shell command in it. `pip` works without a package index."""

    place: Path
    work: Path

    @property
    def environment(self) -> dict[str, str]:
        path = f"{self.place / 'bin'}{os.pathsep}{os.environ['PATH']}"
        variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PERFECTPLAY", "PYTEST"))
        }
        unneeded = "-p no:schemathesis"  # which takes two seconds to import
        tables = str(self.work / "tables")
        return {**variables, "PATH": path, "PERFECTPLAY_TABLES": tables, "COLUMNS": "120", "PYTEST_ADDOPTS": unneeded}

    def run(self, command: str, *, code: int = 0) -> str:
        """Run a command that must end with this exit code. Returns its output, or stderr for a code other than 0."""
        shell = ["bash", "-c", command]
        done = subprocess.run(shell, cwd=self.work, env=self.environment, text=True, capture_output=True)
        assert done.returncode == code, f"$ {command}\n{done.stdout}\n{done.stderr}"
        return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> FreshVenv:
    """A fresh environment for each module, with a working directory that has a copy of the examples."""
    base = tmp_path_factory.mktemp("fresh")
    place, work = base / "venv", base / "work"
    venv.create(place, symlinks=True)
    python = place / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(place), "platbase": str(place)}))
    # Packages of this environment can be imported there, as after `pip install perfectplay`.
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
