"""The errors perfectplay raises on purpose: each is one line, what is wrong and what would be right."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path


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


# Words for what the operating system says, with what people can do about it.

SMALL_DISK = 1 << 20
"""With fewer bytes free than this, a write that was cut short met a full disk."""

_WORDS = {
    errno.ENOSPC: "the disk is full: make room and run the same command again",
    errno.EDQUOT: "your disk quota is used up: make room and run the same command again",
    errno.EFBIG: "the file would be larger than the limit allows: raise it and run the same command again",
    errno.EACCES: "you are not permitted to (check the permissions)",
    errno.EPERM: "you are not permitted to (check the permissions)",
    errno.EROFS: "it is on a read-only file system",
    errno.ENOMEM: "there is not enough memory, or address space, to map it",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.ENAMETOOLONG: "its name is too long",
    errno.ELOOP: "its name is a symbolic link, or a circle of them",
    errno.ENOTDIR: "something on the way to it is not a directory",
    errno.EIO: "the disk reports an input/output error",
    errno.ESTALE: "the network file system lost it",
}


def reason(error: BaseException, place: Path | None = None) -> str:
    """Why something cannot be done. `place` is where it was written: a plain input/output error may be a full disk."""
    number = getattr(error, "errno", None) or _number_in(str(error))
    if number == errno.EIO and place is not None:
        number = _cut_short(place)
    if number in _WORDS:
        return _WORDS[number]
    return os.strerror(number).lower() if number else str(error)


def _number_in(text: str) -> int | None:
    """LMDB's errors carry the system's words, not its number."""
    return next((number for number in _WORDS if os.strerror(number) in text), None)


def _cut_short(place: Path) -> int:
    """LMDB reports a write that was cut short as an input/output error: find out what cut it."""
    disk = os.statvfs(place)
    if disk.f_bavail * disk.f_frsize < SMALL_DISK:
        return errno.ENOSPC
    import resource  # only where it is asked for: not every system has it

    limited = resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY
    return errno.EFBIG if limited else errno.EIO


# Packages that only some commands need are extras: `pip install 'perfectplay[web]'`. What is missing is named.


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Around imports: if a package is missing, say what needs it and how to install it.

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
