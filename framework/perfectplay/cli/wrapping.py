"""Text on lines that fit the terminal: they break between words, never inside a move or a number."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import click


def terminal_width() -> int:
    """How many characters a line has; 80 where nobody says."""
    return shutil.get_terminal_size().columns


def wrapped(words: Iterable[str], width: int, *, gap: str = " ") -> list[str]:
    """Words on lines of at most this width; one that is longer has a line to itself.

    >>> wrapped(["a3", "b3,", "c3"], 6)
    ['a3 b3,', 'c3']
    """
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + len(gap) + len(word) <= width:
            lines[-1] += f"{gap}{word}"
        else:
            lines.append(word)
    return lines


def hanging(head: str, words: Iterable[str], *, width: int | None = None) -> str:
    """Words beside a heading, coloured or not; lines that follow begin where the first word does.

    >>> print(hanging("win in 5  ", ["a3", "b3,", "c3"], width=16))
    win in 5  a3 b3,
              c3
    """
    margin = len(click.unstyle(head))
    lines = wrapped(words, (width or terminal_width()) - margin)
    return (head + f"\n{'':{margin}}".join(lines)).rstrip()
