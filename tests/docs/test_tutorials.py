"""The tutorials run as written: their files are made, their changes applied, their sessions typed in, in order.

    ```python some/file.py         writes the file
    ```diff some/file.py           changes it: lines with - must be there, those with + take their place
    ```python from=examples/…      shows a part of an example, word for word
    ```console                     a session: commands after `$ `, then what they print; `...` stands for any lines

Measured times and sizes are not compared.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from textwrap import indent

import pytest

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^```(\w+) ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
MEASURED = re.compile(r"^ *(time|peak memory|table) .*\n|[\d.,]+ ?(ms|s|min|MiB|k/s|M/s)\b", re.MULTILINE)


@pytest.mark.parametrize("page", ["tutorial.md", "loopy.md", "scores.md", "puzzle.md", "indexed.md"])
def test_a_tutorial_does_what_it_says(page, fresh):
    blocks = BLOCK.findall((ROOT / "docs" / page).read_text())
    assert "console" in {language for language, _, _ in blocks}
    for language, where, text in blocks:
        if language == "console":
            follow(text, fresh)
        elif where.startswith("from="):
            source = (ROOT / "docs" / where.removeprefix("from=")).read_text()
            assert text in source or lines(indent(text, "    ")) in lines(source), text
        elif language == "diff":
            change(fresh.work / where, text)
        elif where:
            (fresh.work / where).write_text(text)
    if page == "tutorial.md":
        written = fresh.work / "tictactoe/perfectplay_tictactoe/plugin.py"
        example = ROOT / "docs/examples/tictactoe/perfectplay_tictactoe/plugin.py"
        assert written.read_text() == example.read_text()


def lines(code: str) -> str:
    """Whole lines, for methods: shown by themselves, ruff puts two blank lines between them where there is one."""
    return "\n" + "\n".join(line for line in code.splitlines() if line.strip()) + "\n"


def follow(session: str, fresh) -> None:
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = fresh.run(command)
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        wanted, got = MEASURED.sub("", shown), MEASURED.sub("", printed)
        assert doctest.OutputChecker().check_output(wanted, got, flags), f"$ {command}\n{printed}"


def change(path: Path, diff: str) -> None:
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    text = path.read_text()
    assert text.count(old) == 1, f"{path} does not have exactly once:\n{old}"
    path.write_text(text.replace(old, new))
