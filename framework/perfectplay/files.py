"""Atomic writing of files: to a temporary file in the same directory, which is synced and then renamed."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perfectplay.errors import PerfectPlayError, UsageError, reason


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to. It replaces `path` if the block succeeds, after it has been synced to disk.

    A symbolic link is followed, so its target is replaced and not the link. A device or FIFO is written to instead of
    replaced. Raises UsageError if `path` is anything else than a file, PerfectPlayError if it cannot be written.
    """
    target = Path(os.path.realpath(require_path(path)))
    if target.is_dir():
        raise UsageError(f"{path} is a directory; give the name of a file")
    if not target.parent.is_dir():
        raise UsageError(
            f"there is no directory {target.parent if path.is_symlink() else path.parent} to write {target.name} to"
        )
    try:
        through = _is_stream(target)
        part, handle = _new_part(target.name, Path(tempfile.gettempdir()) if through else target.parent)
    except OSError as error:
        raise PerfectPlayError(f"cannot write {path}: {reason(error)}") from None
    try:
        yield part
        if through:
            _copy(part, target)
        else:
            _replace(part, target)
    except OSError as error:
        raise PerfectPlayError(f"cannot write {path}: {reason(error)}") from None
    finally:
        part.unlink(missing_ok=True)
        os.close(handle)


def require_path(path: Path) -> Path:
    """Return the path. Raises UsageError if no file can have such a name."""
    if "\0" in str(path):
        raise UsageError(f"{str(path)!r} is not a path: it contains a NUL character")
    return path


def _is_stream(target: Path) -> bool:
    """Return whether the target is a device or FIFO, which must be written to and not replaced."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise UsageError(f"{target} is not a regular file; give another name")
    return not stat.S_ISREG(mode)


def _new_part(name: str, directory: Path) -> tuple[Path, int]:
    """Create a temporary file and lock it while its writer lives. An unlocked one belonged to a killed process."""
    for file in directory.iterdir():
        if file.name.startswith(f".{name}.") and file.name.endswith(".part"):
            _remove_leftover(file)
    while True:
        handle, part = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=directory)
        lock_file(handle, wait=True)
        if os.fstat(handle).st_nlink:  # no other process removed it as a leftover before it was locked
            return Path(part), handle
        os.close(handle)


def _remove_leftover(part: Path) -> None:
    with suppress(OSError):
        handle = os.open(part, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            lock_file(handle)
            part.unlink()
        finally:
            os.close(handle)


def _replace(part: Path, target: Path) -> None:
    mask = os.umask(0)  # temporary files are private; this one gets the usual permissions
    os.umask(mask)
    part.chmod(0o666 & ~mask)
    sync(part)
    part.replace(target)
    sync(target.parent)


def _copy(part: Path, target: Path) -> None:
    with part.open("rb") as source, target.open("wb") as stream:
        while data := source.read(1 << 20):
            stream.write(data)


def sync(path: Path) -> None:
    """Wait until the contents of a file, or the entries of a directory, are on disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock_file(handle: int, *, wait: bool = False) -> None:
    """Lock an open file until it is closed. Raises BlockingIOError if it is locked, unless `wait` is set."""
    import fcntl  # not available on every system

    fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
