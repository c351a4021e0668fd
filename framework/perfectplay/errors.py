"""The errors perfectplay raises on purpose: each is one line, what is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class PerfectPlayError(Exception):
    """Base of all of them. The command line prints the message and exits with `exit_code`."""

    exit_code = 1


PLUGIN_FAULTS = (Exception, SystemExit)
"""What a plugin's own code may raise: its mistake, and no reason to end the program. Ctrl-C is not among them."""


class UsageError(PerfectPlayError):
    """The request itself is wrong: an unknown game, a text that is not a position, an option out of range."""

    exit_code = 2


class PluginError(PerfectPlayError):
    """A plugin breaks the contract of `hookspecs`, or one of its hooks raised."""


class TableError(PerfectPlayError):
    """A table cannot be opened, read or written."""


class DamagedTable(TableError):
    """A table on disk is not as it was written."""


class NotInTable(TableError, KeyError):
    """The table holds no value for this position."""

    def __str__(self) -> str:  # KeyError would print the repr of its message
        return str(self.args[0])


class Interrupted(PerfectPlayError):
    """The user asked to stop, and work stopped in good order."""

    exit_code = 130  # 128 + SIGINT, as shells have it


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest right word, or nothing when none is near.

    >>> did_you_mean("goblet", ["gobblet", "quantik"])
    ": did you mean 'gobblet'?"
    """
    near = get_close_matches(word, list(known), n=1)
    return f": did you mean '{near[0]}'?" if near else ""
