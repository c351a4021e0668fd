"""The one interface to tiers, wherever they are kept, and the simplest store: memory.

A backend registered through `register_backends` brings a store of its own. What the solver asks of it is all here:
a store that says where scratch files may go bounds memory too, and one that outlives the process is resumed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from perfectplay.errors import PluginError, TableError
from perfectplay.game import plugins
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord, blocks_of

if TYPE_CHECKING:
    from perfectplay.game.game import Game

Block = memoryview
Array = npt.NDArray[Any]


class Store(ABC):
    """Finished tiers: what is known about each (its record), and their keys and values in blocks of 2**20."""

    backend: str = ""
    """The name of the backend that resumes an unfinished table."""

    copies: bool = True
    """Whether writing copies, so that the array given may be freed."""

    info: TableInfo

    # ---- reading ----

    @abstractmethod
    def tier_records(self) -> dict[int, TierRecord]:
        """The records of all finished tiers."""

    @abstractmethod
    def key_records(self) -> dict[int, KeyRecord]:
        """The records of all enumerated tiers."""

    @abstractmethod
    def value_blocks(self, record: TierRecord) -> list[Block]:
        """A tier's values; TableError where they are not what the record says."""

    @abstractmethod
    def key_blocks(self, record: KeyRecord) -> list[Block]:
        """A tier's keys; TableError where they are not what the record says."""

    def is_intact(self, record: TierRecord | KeyRecord) -> bool:
        """Whether a tier's blocks are as they were written."""
        try:
            if isinstance(record, TierRecord):
                self.value_blocks(record)
            else:
                self.key_blocks(record)
        except TableError:
            return False
        return True

    # ---- writing ----

    @abstractmethod
    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        """Keep a tier's sorted keys. The record counts only once all of them are kept."""

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        """The same of keys that come in blocks of 2**20; `record` is asked once all have come.

        A store that keeps each block as it comes never needs a whole tier's keys in memory.
        """
        keys = np.concatenate([np.empty(0, np.uint64), *blocks])
        self.write_keys(record(), keys)

    @abstractmethod
    def write_values(self, record: TierRecord, values: Array) -> None:
        """Keep a tier's values, an array of `record.dtype`. The record counts only once all of them are kept."""

    @abstractmethod
    def set_info(self, info: TableInfo) -> None:
        """Keep the table's metadata, in place of what was there."""

    on_moved: Callable[[], None] = staticmethod(lambda: None)
    """Set by the solver; a store calls it when blocks that it handed out are no longer where they were."""

    # ---- where it is ----

    path: Path | None = None
    """The directory that holds the table; None where it is in memory only."""

    @property
    def size_on_disk(self) -> int:
        """The bytes that the table takes on disk."""
        return 0

    def scratch_directory(self) -> Path | None:
        """Where a solve may keep files without names, to stay within its memory; None where everything must fit."""
        return None

    @abstractmethod
    def close(self) -> None: ...


class MemoryStore(Store):
    """Tiers as the arrays they came in."""

    copies = False

    def __init__(self, info: TableInfo) -> None:
        self.info = info
        self._tiers: dict[int, tuple[TierRecord, Array]] = {}
        self._keys: dict[int, tuple[KeyRecord, list[Array]]] = {}

    def tier_records(self) -> dict[int, TierRecord]:
        return {tier: record for tier, (record, _) in self._tiers.items()}

    def key_records(self) -> dict[int, KeyRecord]:
        return {tier: record for tier, (record, _) in self._keys.items()}

    def value_blocks(self, record: TierRecord) -> list[Block]:
        if (kept := self._tiers.get(record.tier)) is None:
            raise self._error_when_closed()
        return [block.data for block in record.blocks(kept[1])]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        if (kept := self._keys.get(record.tier)) is None:
            raise self._error_when_closed()
        return [block.data for block in kept[1]]

    def _error_when_closed(self) -> TableError:
        return TableError(f"the table of {self.info.game} is closed")

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        self._keys[record.tier] = (record, blocks_of(keys))

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        kept = list(blocks)
        self._keys[tier] = (record(), kept)

    def write_values(self, record: TierRecord, values: Array) -> None:
        self._tiers[record.tier] = (record, values)

    def set_info(self, info: TableInfo) -> None:
        self.info = info

    def close(self) -> None:
        self._tiers.clear()
        self._keys.clear()


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


def check_backend(name: str, backend: Any) -> None:
    """PluginError where what is registered is not a `Backend`, or its store lacks something."""
    missing = [part for part in ("durable", "store", "open", "read") if not hasattr(backend, part)]
    if missing:
        raise PluginError(f"backend '{name}' lacks {', '.join(missing)}")
    store = backend.store
    if not (isinstance(store, type) and issubclass(store, Store)):
        raise PluginError(
            f"backend '{name}' has the store {store!r}: a subclass of perfectplay.table.store.Store is needed"
        )
    if unwritten := sorted(store.__abstractmethods__):
        raise PluginError(f"backend '{name}' has the store {store.__name__}, which lacks {', '.join(unwritten)}")
    if backend.durable and not store.backend:
        raise PluginError(
            f"backend '{name}' is durable: its store {store.__name__} must give the backend's name as `backend`"
        )


def backends() -> plugins.Registry:
    """Return the backends that host plugins have registered."""
    return plugins.call_host_plugins("register_backends", check_backend)
