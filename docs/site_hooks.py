"""For the site only: what our pages have beyond plain Markdown, and the site does not.

Links to files outside docs/ become plain text, since those files are not part of it. A code block's file name, which
tells the tests where it goes, is left out.
"""

from __future__ import annotations

import re
from typing import Any

_OUTWARD = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
_NAMED_BLOCK = re.compile(r"^```(\w+) .*$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page."""
    return _NAMED_BLOCK.sub(r"```\1", _OUTWARD.sub(r"\1", markdown))
