"""docs/help.md is up to date."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_the_help_page_is_up_to_date() -> None:
    expected = runpy.run_path(str(DOCS / "make_help.py"))["help_page"]()
    assert (DOCS / "help.md").read_text(encoding="utf-8") == expected, "run `make docs`"
