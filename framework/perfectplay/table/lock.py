"""One process writes a table at a time: a lock on a file in its directory, which the system drops with the process."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from perfectplay.errors import DamagedTable, TableError, reason
from perfectplay.files import lock_file

LOCK_FILE = "writer.lock"
DATA_FILE = "data.mdb"
NEW_FILE = "data.mdb.new"
"""A table being written to replace another. Whoever holds the lock may delete one that a killed process left."""


class WriterLock:
    """The right to write the table in a directory, which is made if need be."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file: int | None = None
        self._made = [folder for folder in directory.parents if not folder.exists()]
        """The directories around it that are made too, the innermost first."""
        try:
            self._file = _lock(directory / LOCK_FILE)
            with contextlib.suppress(FileNotFoundError):
                (directory / NEW_FILE).unlink()
        except BlockingIOError:
            raise TableError(f"another process is writing {directory}: wait for it, or use another --dir") from None
        except FileExistsError:
            raise TableError(f"cannot write a table to {directory}: it is not a directory") from None
        except OSError as error:
            raise TableError(f"cannot write to {directory}: {reason(error)}") from None

    def release(self) -> None:
        """Let others write; a directory in which nothing was written is removed again, and those made for it."""
        if self._file is None:
            return
        with contextlib.suppress(OSError):
            if sorted(os.listdir(self.directory)) == [LOCK_FILE]:
                (self.directory / LOCK_FILE).unlink()
                for folder in (self.directory, *self._made):
                    folder.rmdir()
        os.close(self._file)
        self._file = None

    @contextlib.contextmanager
    def held_unless_failing(self) -> Iterator[None]:
        """Release it only if the block raises; of a damaged table the error then says what to do."""
        try:
            yield
        except DamagedTable as error:
            self.release()
            raise TableError(f"{error}; delete it and solve again") from None
        except BaseException:
            self.release()
            raise

    def __enter__(self) -> WriterLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


def _lock(path: Path) -> int:
    """Lock the file of this name: not one that its last holder has just deleted, with the directory maybe."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
        except FileNotFoundError:
            continue
        try:
            lock_file(file)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
