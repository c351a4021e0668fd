"""Files written atomically: under another name beside the final one, and renamed when they are whole and on disk."""

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
    """Yield a name to write to; it becomes `path` only if the block ends well, and only once it is on disk.

    A symbolic link is followed: the file that it names is replaced, and the link stays. What is there and is not a
    regular file is never replaced: a device or a FIFO is written through, anything else refused.
    """
    target = Path(os.path.realpath(require_path(path)))
    if target.is_dir():
        raise UsageError(f"{path} is a directory: give the name of a file")
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
            _put_in_place(part, target)
    except OSError as error:
        raise PerfectPlayError(f"cannot write {path}: {reason(error)}") from None
    finally:
        part.unlink(missing_ok=True)
        os.close(handle)


def require_path(path: Path) -> Path:
    """The path itself; UsageError where no file can have such a name."""
    if "\0" in str(path):
        raise UsageError(f"{str(path)!r} is not a path: it contains a NUL character")
    return path


def _is_stream(target: Path) -> bool:
    """Whether what is there is written through, not replaced."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return False
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise UsageError(f"{target} is not a regular file: give another name")
    return not stat.S_ISREG(mode)


def _new_part(name: str, directory: Path) -> tuple[Path, int]:
    """A new file, locked as long as its writer lives: so a file that is not locked was left by one that was killed."""
    for left in directory.iterdir():
        if left.name.startswith(f".{name}.") and left.name.endswith(".part"):
            _remove_leftover(left)
    while True:
        handle, part = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=directory)
        lock_file(handle, wait=True)
        if os.fstat(handle).st_nlink:  # nobody took it for a leftover before it was locked
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


def _put_in_place(part: Path, target: Path) -> None:
    mask = os.umask(0)  # temporary files are private; this one gets the usual rights
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
    """Have a file's contents, or a directory's names, on disk before going any further."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lock_file(handle: int, *, wait: bool = False) -> None:
    """Lock an open file until it is closed; BlockingIOError where somebody else has it and we do not wait."""
    import fcntl  # only where it is asked for: not every system has it

    fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
