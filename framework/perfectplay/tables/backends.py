"""Backends: where a solve keeps its finished tiers. Ours register as a third party's do: `register_backends`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from perfectplay.errors import PluginError
from perfectplay.hookspecs import hookimpl
from perfectplay.tables.lmdb_store import LmdbStore
from perfectplay.tables.locking import DATA_FILE
from perfectplay.tables.reader import TableReader
from perfectplay.tables.records import TableInfo
from perfectplay.tables.repairing import open_to_solve
from perfectplay.tables.store import MemoryStore, Store

if TYPE_CHECKING:
    from perfectplay.game import Game


class Backend(Protocol):
    """What is registered under a backend's name."""

    @property
    def durable(self) -> bool:
        """Whether a finished tier outlives the process, so that a solve can be resumed; it then always saves."""

    @property
    def store(self) -> type[Store]:
        """The class of what `open` and `read` return."""

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        """The store to solve into: a new one, or the unfinished one at `path`."""

    def read(self, path: Path) -> Store | None:
        """The table at `path`, for reading; None where this backend has none there."""


class MemoryBackend:
    """Everything in memory; the finished table is saved at the end, as LMDB would have."""

    durable = False
    store = MemoryStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return MemoryStore(info)

    def read(self, path: Path) -> Store | None:
        return None


class LmdbBackend:
    """Every finished tier goes to disk at once."""

    durable = True
    store = LmdbStore

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return open_to_solve(game, path, info)

    def read(self, path: Path) -> Store | None:
        return TableReader(path) if (path / DATA_FILE).exists() else None


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("memory", MemoryBackend())
    register("lmdb", LmdbBackend())


def check_backend(name: str, backend: Any) -> None:
    """PluginError where what is registered is not a `Backend`, or its store lacks something."""
    missing = [part for part in ("durable", "store", "open", "read") if not hasattr(backend, part)]
    if missing:
        raise PluginError(f"backend '{name}' lacks {', '.join(missing)}")
    store = backend.store
    if not (isinstance(store, type) and issubclass(store, Store)):
        raise PluginError(
            f"backend '{name}' has the store {store!r}: a subclass of perfectplay.tables.store.Store is needed"
        )
    if unwritten := sorted(store.__abstractmethods__):
        raise PluginError(f"backend '{name}' has the store {store.__name__}, which lacks {', '.join(unwritten)}")
    if backend.durable and not store.backend:
        raise PluginError(
            f"backend '{name}' is durable: its store {store.__name__} must give the backend's name as `backend`"
        )
