"""What people want to know of a game before they look at its table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """A game's title, and its rules as one would explain them: a few sentences, paragraphs apart by an empty line."""

    title: str
    rules: str = ""
    players: tuple[str, ...] = ()
    """The players' names, as the hook `players` gives them; for a game without that hook."""
