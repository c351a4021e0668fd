"""Writes docs/help.md: the output of every command's --help.

    python docs/make_help.py

A test compares the page with the program. Gobblet is the example for all games.
"""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from perfectplay.cli import _app as root
from perfectplay.commands import COMMANDS
from perfectplay.game.plugins import LIMIT_VARIABLE

PAGE = Path(__file__).parent / "help.md"
WIDTH = 100
"""Columns, independent of the terminal."""

EXAMPLE = "gobblet"

OPENING = """\
# Help pages

The output of `solve COMMAND --help`, with Gobblet as the example of a game. `docs/make_help.py` writes this page;
[Commands](commands.md) explains them.
"""


def help_page() -> str:
    """The text of the page."""
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
