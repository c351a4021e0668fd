"""docs/help.md shows what the program prints: it is made anew and compared."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_help_page_is_what_the_commands_print() -> None:
    made = runpy.run_path(str(DOCS / "make_help.py"))["help_page"]()
    assert (DOCS / "help.md").read_text(encoding="utf-8") == made, "run `make docs`"
