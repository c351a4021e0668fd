"""Writes docs/help.md, the output of every command with --help.

    python docs/make_help.py

A test holds the page to the program. Gobblet stands for all games, whatever is installed.
"""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from perfectplay.cli import root
from perfectplay.game.plugins import COMMANDS, LIMIT_VARIABLE

PAGE = Path(__file__).parent / "help.md"
WIDTH = 100
"""Columns, whatever terminal this runs in."""

EXAMPLE = "gobblet"

OPENING = """\
# Help pages

What `solve COMMAND --help` prints. Gobblet stands for any game. This page is written by
`docs/make_help.py`; [the commands](commands.md) are explained elsewhere.
"""


def help_page() -> str:
    """The page as it should be."""
    lines = [[], [EXAMPLE], *([command] for command in COMMANDS)]
    return "\n".join([OPENING, *map(_section, lines)])


def _section(line: list[str]) -> str:
    done = CliRunner(env={LIMIT_VARIABLE: EXAMPLE}).invoke(
        root, [*line, "--help"], prog_name="solve", terminal_width=WIDTH, max_content_width=WIDTH
    )
    assert done.exit_code == 0, done.output
    title = " ".join(["solve", *line])
    return f"## {title}\n\n```text\n{done.stdout.rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(help_page(), encoding="utf-8")
