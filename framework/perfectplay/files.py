"""Files written atomically: under another name beside the final one, and renamed at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perfectplay.errors import UsageError


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a name to write to, in the same directory; it becomes `path` only if the block ends well."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory: give the name of a file")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no directory {path.parent} to write {path.name} to")
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.absolute().parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        mask = os.umask(0)  # mkstemp makes files private; this one gets the usual rights
        os.umask(mask)
        part.chmod(0o666 & ~mask)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
