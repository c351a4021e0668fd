"""Every command and snippet of README.md and of the pages below runs as written.

A `console` block is a session: lines after `$ ` are commands, the lines that follow are what they print. `...` stands
for anything. A `python` block runs as a script, and its comments after `print(...)` are what it prints.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in ("commands", "connect4", "dots", "kalah", "openspiel", "quixo", "results", "tables", "weak")
    ),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall((ROOT / page).read_text()) if kind == language]


@pytest.fixture(scope="module")
def environment(gobblet_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A copy of the solved tables, since some commands change them, and `solve` on the path."""
    tables = shutil.copytree(gobblet_tables, tmp_path_factory.mktemp("docs") / "tables")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PERFECTPLAY_TABLES": str(tables), "PATH": path, "COLUMNS": "120"}


def sessions() -> list[tuple[str, str]]:
    return [(page, text) for page in PAGES for text in blocks(page, "console")]


@pytest.mark.parametrize(("page", "session"), sessions())
def test_a_session_runs_and_prints_what_the_page_shows(page, session, environment, tmp_path):
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        done = subprocess.run(["bash", "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if shown.strip():
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            assert doctest.OutputChecker().check_output(shown, done.stdout, flags), f"{command}\n{done.stdout}"


@pytest.mark.parametrize(("page", "code"), [(page, code) for page in PAGES for code in blocks(page, "python")])
def test_a_script_prints_what_its_comments_say(page, code, environment):
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"print\(.*\) +# (.*)", code)


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
