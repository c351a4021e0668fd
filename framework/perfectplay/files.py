"""Atomic writing of files: to a temporary file in the same directory, which is synced and then renamed. Free space.

Devices, FIFOs and open files such as /dev/stdout cannot be replaced, so a complete file is copied to them at the end.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perfectplay.errors import PerfectPlayError, UsageError, reason

_DESCRIPTORS = {"-": 1, "/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_parts: set[Path] = set()
"""Temporary files in use, which are removed at exit if a second Ctrl-C prevents it before."""


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to. It replaces `path` if the block succeeds, after it has been synced to disk.

    A symbolic link is followed, so its target is replaced and not the link. A file that is replaced keeps its
    permissions. A device, a FIFO or an open file (`-` or /dev/stdout is standard output) is written to instead of
    replaced. Raises UsageError if `path` is anything else than a file, PerfectPlayError if it cannot be written.
    """
    descriptor = _find_descriptor(require_path(path))
    target = path if descriptor is not None else Path(os.path.realpath(path))
    if descriptor is None and target.is_dir():
        raise UsageError(f"{path} is a directory; give the name of a file")
    if descriptor is None and not target.parent.is_dir():
        raise UsageError(
            f"there is no directory {target.parent if path.is_symlink() else path.parent} to write {target.name} to"
        )
    try:
        through = descriptor is not None or _is_stream(target)
        part, handle = _new_part(target.name, Path(tempfile.gettempdir()) if through else target.parent)
    except OSError as error:
        raise PerfectPlayError(f"cannot write {path}: {reason(error)}") from None
    try:
        yield part
        if through:
            _copy(part, target, descriptor)
        else:
            _replace(part, target)
    except BrokenPipeError:
        raise  # the reader has what it wants, as in `solve export … - | head`
    except OSError as error:
        raise PerfectPlayError(f"cannot write {path}: {reason(error)}") from None
    finally:
        part.unlink(missing_ok=True)
        _parts.discard(part)
        os.close(handle)


def scratch_directory(path: Path) -> Path:
    """Return the directory for temporary files while `path` is written: its own, unless it is a stream."""
    if _find_descriptor(path) is not None or path.is_fifo() or path.is_char_device():
        return Path(tempfile.gettempdir())
    return path.absolute().parent


def is_standard_output(path: Path) -> bool:
    return _find_descriptor(path) == 1


def require_regular(path: Path) -> None:
    """Raise UsageError if a path that is to be read is not a regular file. A FIFO would wait for a writer."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is not a regular file")


def _find_descriptor(path: Path) -> int | None:
    """Return the number of the open file that a path stands for, such as 1 for /dev/stdout; None for any other path."""
    for _ in range(40):  # the system follows at most as many links
        name = str(path)
        if name in _DESCRIPTORS:
            return _DESCRIPTORS[name]
        if match := re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", name):
            return int(match[1])
        if not path.is_symlink():
            return None
        path = path.parent / os.readlink(path)
    return None


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
        _parts.add(Path(part))
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


@atexit.register
def _remove_parts() -> None:
    for part in list(_parts):
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _replace(part: Path, target: Path) -> None:
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)  # temporary files are private; a new file gets the usual permissions
        os.umask(mask)
        mode = 0o666 & ~mask
    part.chmod(mode)
    sync(part)
    part.replace(target)
    sync(target.parent)


def _copy(part: Path, target: Path, descriptor: int | None) -> None:
    """Copy a finished file to a device or FIFO, or to an open file at its present offset."""
    with part.open("rb") as source, open(target if descriptor is None else os.dup(descriptor), "wb") as stream:
        shutil.copyfileobj(source, stream, 1 << 20)


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


def free_disk(path: Path) -> int:
    """Free bytes in the file system of `path`, which need not exist yet."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return shutil.disk_usage(path).free


@contextmanager
def lock_directory(path: Path) -> Iterator[None]:
    """Wait until no other process holds this lock on a directory, and hold it meanwhile."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        lock_file(handle, wait=True)
        yield
    finally:
        os.close(handle)
