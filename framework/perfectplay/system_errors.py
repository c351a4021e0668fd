"""Words for what the operating system says, with what people can do about it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

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
