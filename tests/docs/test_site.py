"""The documentation is a site, built with every warning an error: dead links, names that the code no longer has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent.parent


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "prove_position" in (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")


def test_every_page_is_in_the_navigation() -> None:
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = {page for entry in sections for page in ([entry] if isinstance(entry, str) else next(iter(entry.values())))}
    assert named == {path.name for path in (ROOT / "docs").glob("*.md")}, "name each page in the nav of mkdocs.yml"


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{citation["version"]}"' in project
