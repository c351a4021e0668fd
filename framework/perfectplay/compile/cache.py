"""A cache of compiled rules in the user's cache directory, so that each game is compiled once.

A shared object runs with the rights of the user, so the directory must belong to the user and must not be writable by
others. If it is not safe or cannot be written, a private temporary directory takes its place until the process ends.

The name of a file has two parts. The first is a digest of everything that the file was made from. The second is a
digest of its contents, which is checked before the file is loaded, because a damaged one could crash the process. Files
are written under another name and renamed, so several processes can use the cache at the same time.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import stat
import sys
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import platformdirs

from perfectplay.compile.compiler import FLAGS, Compiler
from perfectplay_native.build import INCLUDE
from perfectplay_native.limits import ABI

MAX_BYTES = 64 << 20
"""The size of all files. The least recently used ones are removed."""

LEFTOVER_SECONDS = 3600
"""The age at which the folder of an unfinished compilation is removed."""

SUFFIX = ".so"


def cached_object(source: str, compiler: Compiler) -> Path:
    """Return the shared object of a C text, which is compiled unless it is in the cache.

    Raises NotCompiled if the compiler fails, and OSError if there is not even a place for temporary files.
    """
    key = _key(source, compiler)
    directory = find_directory()
    if (path := _find(directory, key)) is not None:
        return path
    try:
        return _add(directory, key, source, compiler)
    except OSError:  # read-only, or full
        return _add(temporary_directory(), key, source, compiler)


def find_directory() -> Path:
    """Return the directory of the cache, or a temporary one if it is not safe or cannot be created."""
    try:
        directory = platformdirs.user_cache_path("perfectplay", appauthor=False).expanduser() / "kernels"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_safe(directory)
    except (OSError, RuntimeError):  # RuntimeError: there is no home directory
        return temporary_directory()
    return directory


@lru_cache(maxsize=1)
def temporary_directory() -> Path:
    """Return a private directory that is removed when the process ends."""
    directory, process = Path(tempfile.mkdtemp(prefix="perfectplay-")), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in a fork
            shutil.rmtree(directory, ignore_errors=True)

    atexit.register(remove)
    return directory


def _require_safe(directory: Path) -> None:
    """Raise PermissionError if another user could put files into the directory."""
    if stat.S_IMODE(directory.lstat().st_mode) & 0o022 or directory.lstat().st_uid != os.getuid():
        raise PermissionError(f"other users can write to {directory}")
    for path in (directory.resolve(), *directory.resolve().parents):
        status = path.stat()
        replaceable = status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX
        if replaceable or status.st_uid not in (0, os.getuid()):
            raise PermissionError(f"other users can replace {path}")


def _key(source: str, compiler: Compiler) -> str:
    """Return a digest of everything that a shared object depends on."""
    header = (INCLUDE / "perfectplay.h").read_text(encoding="utf-8")
    parts = (source, header, str(ABI), *FLAGS, *compiler.command, compiler.version, sys.platform, platform.machine())
    return sha256("\0".join(parts).encode()).hexdigest()[:32]


def _find(directory: Path, key: str) -> Path | None:
    """Return the intact file with this key. A damaged one is removed."""
    for path in directory.glob(f"{key}-*{SUFFIX}"):
        with suppress(OSError):
            if _is_own_file(path) and path.name == _file_name(key, path.read_bytes()):
                with suppress(OSError):
                    os.utime(path)  # recently used
                return path
            path.unlink()
    return None


def _is_own_file(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _file_name(key: str, contents: bytes) -> str:
    return f"{key}-{sha256(contents).hexdigest()[:32]}{SUFFIX}"


def _add(directory: Path, key: str, source: str, compiler: Compiler) -> Path:
    """Compile a C text and move the result into the directory."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=directory) as folder:
        text, target = Path(folder) / "rules.c", Path(folder) / "rules.so"
        text.write_text(source, encoding="utf-8")
        compiler.build(text, target)
        target.chmod(0o700)
        path = directory / _file_name(key, target.read_bytes())
        target.replace(path)
    _evict(directory, keep=path)
    return path


def _evict(directory: Path, *, keep: Path) -> None:
    """Remove the least recently used files until the rest is small enough, and folders left by killed processes."""
    files = []
    for path in directory.iterdir():
        with suppress(OSError):  # another process has removed it
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                files.append((status.st_mtime, status.st_size, path))
            elif status.st_mtime < time.time() - LEFTOVER_SECONDS:
                shutil.rmtree(path, ignore_errors=True)
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MAX_BYTES:
            return
        if path != keep:
            with suppress(OSError):
                path.unlink()
            total -= size
