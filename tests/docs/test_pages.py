"""Every command, snippet and example in README.md, docs/ and the docstrings runs as written.

    ```console                     commands after `$ `, followed by their output; `...` matches anything
    ```python                      a script; a comment after `print(...)` is its output
    ```python  ```text             a script and, in the next block, its output
    ```python some/file.py         writes the file (tutorials)
    ```diff some/file.py           changes the file: replaces the lines with - by those with + (tutorials)
    ```python from=examples/…      quotes a part of an example (tutorials)
    ```sh                          commands that only have to succeed (games)
    >>> ...                        an interactive session, as in a docstring

Tutorials run in a fresh virtual environment, and their measured times and sizes are not compared. The other pages run
against the solved table of Gobblet.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent

import pytest
import yaml

import perfectplay
import perfectplay_native
import perfectplay_quantik

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"

PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in ("commands", "connect4", "dots", "kalah", "openspiel", "quixo", "results", "tables", "weak")
    ),
]
TUTORIALS = ["tutorial.md", "loopy.md", "scores.md", "puzzle.md", "indexed.md"]

BLOCK = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
MEASURED = re.compile(r"^ *(time|peak memory|table) .*\n|[\d.,]+ ?(ms|s|min|MiB|k/s|M/s)\b", re.MULTILINE)


def blocks(page: str, language: str) -> list[str]:
    return [text for kind, _, text in BLOCK.findall((ROOT / page).read_text()) if kind == language]


def commands(session: str) -> Iterator[tuple[str, str]]:
    """Each command of a session with the output that the page shows."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown


def assert_output(command: str, shown: str, printed: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(shown, printed, flags), f"$ {command}\n{printed}"


# ---- pages that use a solved game ----


def variables(tables: Path) -> dict[str, str]:
    """An environment with these tables, and with `solve` on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PERFECTPLAY_TABLES": str(tables), "PATH": path, "COLUMNS": "120"}


@pytest.fixture(scope="module")
def environment(gobblet_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A copy of the solved tables, because some commands change them."""
    return variables(shutil.copytree(gobblet_tables, tmp_path_factory.mktemp("docs") / "tables"))


@pytest.mark.parametrize(("page", "session"), [(page, text) for page in PAGES for text in blocks(page, "console")])
def test_a_session_prints_what_the_page_shows(page, session, environment, tmp_path):
    for command, shown in commands(session):
        done = subprocess.run(["bash", "-c", command], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        if shown.strip():
            assert_output(command, shown, done.stdout)


@pytest.mark.parametrize(("page", "game"), [("docs/morris.md", None), ("docs/quantik.md", "quantik")])
def test_commands_without_output_run(page, game, solved, tmp_path):
    if game:  # which takes long to solve
        shutil.copytree(solved(game) / game, tmp_path / game)
    commands = "".join(blocks(page, "sh")).splitlines()
    assert commands
    for command in commands:
        done = subprocess.run(["bash", "-c", command], env=variables(tmp_path), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("page", "code"), [(page, code) for page in PAGES for code in blocks(page, "python")])
def test_a_script_prints_its_comments(page, code, environment):
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == re.findall(r"print\(.*\) +# (.*)", code)


@pytest.mark.filterwarnings("ignore")  # PettingZoo and pygame warn
@pytest.mark.parametrize(
    ("page", "picture"),
    [("explore.md", "gobblet-remoteness.svg"), ("agents.md", "q-learning.svg"), ("formats.md", None)],
)
def test_python_blocks_print_the_text_blocks_that_follow(page, picture, gobblet_tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    tables = gobblet_tables if page == "explore.md" else tmp_path / "tables"  # not compacted: thirty times as fast
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tables))
    variables: dict[str, object] = {}
    pairs = re.findall(r"```python\n(.*?)```\n```text\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert pairs
    for code, shown in pairs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page, "exec"), variables)
        assert printed.getvalue() == shown
    if picture:
        drawn = tmp_path / picture.removeprefix("gobblet-")
        assert drawn.read_text() == (DOCS / "images" / picture).read_text()


# ---- tutorials ----


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_works_as_written(page, fresh):
    found = BLOCK.findall((DOCS / page).read_text())
    assert "console" in {language for language, _, _ in found}
    for language, where, text in found:
        if language == "console":
            for command, shown in commands(text):
                assert_output(command, MEASURED.sub("", shown), MEASURED.sub("", fresh.run(command)))
        elif where.startswith("from="):
            source = (DOCS / where.removeprefix("from=")).read_text()
            assert text in source or code_lines(indent(text, "    ")) in code_lines(source), text
        elif language == "diff":
            change(fresh.work / where, text)
        elif where:
            (fresh.work / where).write_text(text)
    if page == "tutorial.md":
        written = fresh.work / "tictactoe/perfectplay_tictactoe/plugin.py"
        assert written.read_text() == (DOCS / "examples/tictactoe/perfectplay_tictactoe/plugin.py").read_text()


def code_lines(code: str) -> str:
    """The lines without blank ones: ruff separates quoted methods by two blank lines instead of one."""
    return "\n" + "\n".join(line for line in code.splitlines() if line.strip()) + "\n"


def change(path: Path, diff: str) -> None:
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text()
    assert text.count(old) == 1, f"{path} does not contain exactly once:\n{old}"
    path.write_text(text.replace(old, new))


# ---- interactive sessions ----


@pytest.mark.parametrize(("page", "least"), [("quantik.md", 11), ("dobutsu.md", 6), ("gobblet.md", 6)])
def test_the_interactive_sessions_of_a_page_are_right(page, least):
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted >= least
    assert result.failed == 0


MODULES = [
    module.name
    for package in (perfectplay, perfectplay_native, perfectplay_quantik)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.rpartition(".")[2].startswith(("_", "build"))
]


@pytest.mark.parametrize("name", MODULES)
def test_the_docstring_examples_of_a_module_are_right(name, gobblet_tables, monkeypatch):
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(gobblet_tables))
    assert doctest.testmod(importlib.import_module(name)).failed == 0


# ---- the pages as a whole ----


def test_links_between_pages_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_help_md_is_up_to_date():
    page = runpy.run_path(str(DOCS / "make_help.py"))["help_page"]()
    assert (DOCS / "help.md").read_text(encoding="utf-8") == page, "run `make docs`"


def test_every_page_is_in_the_navigation():
    sections = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    named = {page for entry in sections for page in ([entry] if isinstance(entry, str) else next(iter(entry.values())))}
    assert named == {path.name for path in DOCS.glob("*.md")}, "add the page to `nav` in mkdocs.yml"


def test_the_citation_has_the_current_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert f'version = "{citation["version"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
