"""The backends that come with perfectplay. They register as a third party's would, through `register_backends`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from perfectplay.hookspecs import hookimpl
from perfectplay.tables.records import TableInfo
from perfectplay.tables.store import MemoryStore, Store

if TYPE_CHECKING:
    from perfectplay.game import Game


class Backend(Protocol):
    """Where a solve keeps its finished tiers."""

    @property
    def durable(self) -> bool:
        """Whether a finished tier outlives the process, so that a solve can be resumed; it then always saves."""

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        """The store to solve into: a new one, or the unfinished one at `path`."""


class MemoryBackend:
    """Everything in memory; the finished table is saved at the end."""

    durable = False

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        return MemoryStore(info)


class LmdbBackend:
    """Every finished tier goes to disk at once."""

    durable = True

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        from perfectplay.tables.opening import open_store

        return open_store(game, path, writable=True, info=info)


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("memory", MemoryBackend())
    register("lmdb", LmdbBackend())
