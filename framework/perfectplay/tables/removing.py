"""Deleting a table from disk, and nothing else."""

from __future__ import annotations

from pathlib import Path

from perfectplay.errors import TableError
from perfectplay.system_errors import reason
from perfectplay.tables.locking import DATA_FILE, WriterLock


def remove_table(path: Path) -> None:
    """Delete the table in a directory; TableError where there is none, or while somebody writes it.

    Other files in the directory stay, and the directory with them. Those who have the table open keep it.
    """
    if not (path / DATA_FILE).exists():
        raise TableError(f"there is no table in {path}")
    with WriterLock(path):  # which removes the directory, if nothing else is left in it
        try:
            (path / DATA_FILE).unlink()
            (path / "lock.mdb").unlink(missing_ok=True)
        except OSError as error:
            raise TableError(f"cannot remove {path}: {reason(error)}") from None
