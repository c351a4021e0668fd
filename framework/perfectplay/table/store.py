"""The interface through which the solver and all commands access tiers, and its simplest implementation, in memory.

A backend registered with `register_backends` provides its own subclass of `Store`; see backends.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt

from perfectplay.errors import PluginError, TableError
from perfectplay.game import plugins
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord, blocks_of

if TYPE_CHECKING:
    from perfectplay.game.game import Game

Block = memoryview
Array = npt.NDArray[Any]

WRITE_BUFFER = 8 << 20
"""Bytes that a store may keep in anonymous memory until it writes them to disk. `--memory` reserves them."""


class Store(ABC):
    """Finished tiers: their records, and their keys and values in blocks of 2**20. A context manager.

    A store that a backend opens for solving contains only intact tiers of the right game, because the solver does not
    check again: `Backend.open` raises TableError for another table, and omits the records of damaged tiers so that
    they are solved again.
    """

    backend: str = ""
    """The name of the backend that resumes an unfinished table."""

    copies: bool = True
    """Whether writing copies the array, so that the caller may free it."""

    info: TableInfo

    path: Path | None = None
    """The directory of the table; None if it exists only in memory."""

    on_moved: Callable[[], None] = staticmethod(lambda: None)
    """Set by the solver. A store calls it when blocks that it returned earlier have moved to other addresses."""

    # ---- reading ----

    @abstractmethod
    def tier_records(self) -> dict[int, TierRecord]:
        """Return the records of all finished tiers."""

    @abstractmethod
    def key_records(self) -> dict[int, KeyRecord]:
        """Return the records of all enumerated tiers."""

    @abstractmethod
    def value_blocks(self, record: TierRecord) -> list[Block]:
        """Return a tier's values. Raises TableError if they are damaged."""

    @abstractmethod
    def key_blocks(self, record: KeyRecord) -> list[Block]:
        """Return a tier's keys. Raises TableError if they are damaged."""

    def is_intact(self, record: TierRecord | KeyRecord) -> bool:
        """Return whether the blocks of a tier can be read."""
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
        """Store a tier's sorted keys. After a crash the record must not exist without all of its keys."""

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        """Store keys that arrive in blocks of 2**20. `record` may be called only after the last block.

        Override this method to write each block as it arrives, so that a tier's keys need not fit in memory.
        """
        keys = np.concatenate([np.empty(0, np.uint64), *blocks])
        self.write_keys(record(), keys)

    @abstractmethod
    def write_values(self, record: TierRecord, values: Array) -> None:
        """Store a tier's values, an array of `record.dtype`, with the same guarantee as `write_keys`."""

    @abstractmethod
    def set_info(self, info: TableInfo) -> None:
        """Replace the table's metadata."""

    # ---- files ----

    @property
    def size_on_disk(self) -> int:
        """The size of the table on disk, in bytes."""
        return 0

    def scratch_directory(self) -> Path | None:
        """Return the directory for a solve's unnamed scratch files; None if the whole solve must fit in memory."""
        return None

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class MemoryStore(Store):
    """Tiers as arrays in memory."""

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
        if (entry := self._tiers.get(record.tier)) is None:
            raise self._closed_error()
        return [block.data for block in record.blocks(entry[1])]

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        if (entry := self._keys.get(record.tier)) is None:
            raise self._closed_error()
        return [block.data for block in entry[1]]

    def _closed_error(self) -> TableError:
        return TableError(f"the table of {self.info.game} is closed")

    def write_keys(self, record: KeyRecord, keys: Array) -> None:
        self._keys[record.tier] = (record, blocks_of(keys))

    def write_key_blocks(self, tier: int, blocks: Iterable[Array], record: Callable[[], KeyRecord]) -> None:
        arrays = list(blocks)
        self._keys[tier] = (record(), arrays)

    def write_values(self, record: TierRecord, values: Array) -> None:
        self._tiers[record.tier] = (record, values)

    def set_info(self, info: TableInfo) -> None:
        self.info = info

    def close(self) -> None:
        self._tiers.clear()
        self._keys.clear()


class Backend(Protocol):
    """The interface of a registered backend."""

    @property
    def durable(self) -> bool:
        """Whether finished tiers survive the process. Such a backend always saves and can resume a solve."""

    @property
    def store(self) -> type[Store]:
        """The class of the stores that `open` and `read` return."""

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        """Open the store for a solve: a new one with this `info`, or the unfinished one at `path`.

        Every tier in the store must be intact. Raises TableError if the table at `path` belongs to another game, other
        rules or other values (`require_same_game`, `require_same_values`).
        """

    def read(self, path: Path) -> Store | None:
        """Open the table at `path` for reading; None if this backend has no table there."""


def check_backend(name: str, backend: Any) -> None:
    """Raise PluginError if a registered object is not a `Backend`, or if its store is incomplete."""
    missing = [part for part in ("durable", "store", "open", "read") if not hasattr(backend, part)]
    if missing:
        raise PluginError(f"backend '{name}' lacks {', '.join(missing)}")
    store = backend.store
    if not (isinstance(store, type) and issubclass(store, Store)):
        raise PluginError(f"backend '{name}' has the store {store!r}, not a subclass of perfectplay.table.store.Store")
    if abstract := sorted(store.__abstractmethods__):
        raise PluginError(f"backend '{name}' has the store {store.__name__}, which lacks {', '.join(abstract)}")
    if backend.durable and not store.backend:
        raise PluginError(f"backend '{name}' is durable, so its store {store.__name__} must set `backend` to that name")


def backends() -> plugins.Registry:
    """Return the backends that host plugins have registered."""
    return plugins.call_host_plugins("register_backends", check_backend)
