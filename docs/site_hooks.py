"""mkdocs hooks that adapt our pages to the website.

Links to files outside docs/ become plain text, because the website does not contain those files. The file name after a
code block's language, which only the tests use, is removed.
"""

from __future__ import annotations

import re
from typing import Any

_OUTWARD = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
_NAMED_BLOCK = re.compile(r"^```(\w+) .*$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs with the text of each page; returns the adapted text."""
    return _NAMED_BLOCK.sub(r"```\1", _OUTWARD.sub(r"\1", markdown))
