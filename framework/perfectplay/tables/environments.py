"""LMDB environments, shared. A process must not open one LMDB file twice, but it may well open one table twice."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lmdb

from perfectplay.errors import TableError


@dataclass(slots=True)
class _Opened:
    environment: Any
    writable: bool
    users: int = 1


_opened: dict[tuple[int, int], _Opened] = {}
_lock = threading.Lock()


def open_environment(path: Path, *, writable: bool) -> Any:
    """The LMDB environment in a directory: for readers one that is open already, where there is one."""
    data = path / "data.mdb"
    with _lock:
        known = _opened.get(_identity(data)) if data.exists() else None
        if known is not None:
            if writable or known.writable:
                raise TableError(f"{path} is open in this process already: close that table first")
            known.users += 1
            return known.environment
        environment = _open(path, data, writable)
        _opened[_identity(data)] = _Opened(environment, writable)
        return environment


def close_environment(environment: Any) -> None:
    """Give back what `open_environment` gave; the last one closes it."""
    with _lock:
        key = next(key for key, opened in _opened.items() if opened.environment is environment)
        _opened[key].users -= 1
        if not _opened[key].users:
            del _opened[key]
            environment.close()


def _identity(data: Path) -> tuple[int, int]:
    status = data.stat()
    return status.st_dev, status.st_ino


def _open(path: Path, data: Path, writable: bool) -> Any:
    if not writable and not data.exists():
        raise TableError(f"there is no table in {path}")
    size = data.stat().st_size if data.exists() else 0
    options: dict[str, Any] = {"map_size": max(1 << 30, 2 * size), "max_spare_txns": 2}
    try:
        if writable:
            return lmdb.open(str(path), **options)
        # On a read-only medium there is no lock file to write, and no writer to lock against.
        return lmdb.open(str(path), readonly=True, lock=os.access(path, os.W_OK), max_readers=1024, **options)
    except lmdb.Error as error:
        raise TableError(f"{data} is not a table, or is damaged: {error}") from None
