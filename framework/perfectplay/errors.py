"""The errors that perfectplay raises. Each message is one line: what is wrong, where, and what to do next."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


class PerfectPlayError(Exception):
    """Base class of all perfectplay errors. The command line prints the message and exits with `exit_code`."""

    exit_code = 1


PLUGIN_FAULTS = (Exception, SystemExit)
"""Exceptions of a plugin that are reported as its mistake and must not end the program. Ctrl-C is not included."""


class UsageError(PerfectPlayError):
    """The request is wrong: an unknown game, a text that is not a position, an option out of range."""

    exit_code = 2


class PluginError(PerfectPlayError):
    """A plugin violates the specification in `game/spec.py`, or one of its hooks raised."""

    position: int | None = None
    """The position in which the engine found that the rules contradict themselves."""


class TableError(PerfectPlayError):
    """A table cannot be opened, read or written."""


class DamagedTable(TableError):
    """A table on disk is damaged."""


class NotInTable(TableError, KeyError):
    """The table has no value for this position."""

    def __str__(self) -> str:  # KeyError would print the repr of its message
        return str(self.args[0])


class Interrupted(PerfectPlayError):
    """The user interrupted the work, and it was stopped cleanly."""

    exit_code = 130  # 128 + SIGINT, as in shells


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Return the end of an error message that suggests the most similar word; empty if there is none.

    >>> did_you_mean("goblet", ["gobblet", "quantik"])
    ": did you mean 'gobblet'?"
    """
    matches = get_close_matches(word, list(words), n=1)
    return f": did you mean '{matches[0]}'?" if matches else ""


# ---- errors of the operating system ----

FULL_DISK_BYTES = 1 << 20
"""A write that failed with fewer free bytes than this met a full disk."""

_REASONS = {
    errno.ENOSPC: "the disk is full; free some space, then run the same command again",
    errno.EDQUOT: "your disk quota is exhausted; free some space, then run the same command again",
    errno.EFBIG: "the file would exceed the file size limit; raise the limit, then run the same command again",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOMEM: "not enough memory or address space to map the file",
    errno.EMFILE: "too many open files",
    errno.ENFILE: "too many open files",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "the name is a symbolic link or a loop of symbolic links",
    errno.ENOTDIR: "a part of the path is not a directory",
    errno.EIO: "the disk reports an input/output error",
    errno.ESTALE: "the network file system has lost the file",
}


def reason(error: BaseException, place: Path | None = None) -> str:
    """Return why an operation failed. `place` is the directory of a failed write, which may be on a full disk."""
    number = getattr(error, "errno", None)
    if number is None:  # LMDB's errors contain the text of the system's error, but not its number
        number = next((each for each in _REASONS if os.strerror(each) in str(error)), None)
    if number == errno.EIO and place is not None:
        number = _failed_write(place)
    if number in _REASONS:
        return _REASONS[number]
    return os.strerror(number).lower() if number else str(error)


def _failed_write(place: Path) -> int:
    """Return the likely error number of a write that LMDB reports as an input/output error."""
    disk = os.statvfs(place)
    if disk.f_bavail * disk.f_frsize < FULL_DISK_BYTES:
        return errno.ENOSPC
    import resource  # not available on every system

    limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    return errno.EFBIG if limited else errno.EIO


# ---- optional packages ----


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn a failed import of an optional package into an error that names the extra to install.

    >>> with needs_extra("web", "`solve serve`"):
    ...     import a_package_that_is_missing
    Traceback (most recent call last):
    ...
    perfectplay.errors.PerfectPlayError: `solve serve` needs a_package_that_is_missing: pip install 'perfectplay[web]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if not package or package.startswith("perfectplay"):
            raise
        raise PerfectPlayError(f"{what} needs {package}: pip install 'perfectplay[{extra}]'") from None
