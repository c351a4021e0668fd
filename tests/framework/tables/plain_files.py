"""An example of a durable backend in a plugin: each tier is a file, which counts once its record is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from perfectplay import Game, hookimpl
from perfectplay.errors import TableError
from perfectplay.table.locations import require_same_game, require_same_values
from perfectplay.table.records import KeyRecord, TableInfo, TierRecord, blocks_of, checksum
from perfectplay.table.store import Block, Store


class PlainFiles(Store):
    backend = "files"

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.info = TableInfo.from_json((path / "info.json").read_bytes())

    def tier_records(self) -> dict[int, TierRecord]:
        return {r.tier: r for r in (TierRecord.from_json(p.read_bytes()) for p in self.path.glob("values-*.json"))}

    def key_records(self) -> dict[int, KeyRecord]:
        return {r.tier: r for r in (KeyRecord.from_json(p.read_bytes()) for p in self.path.glob("keys-*.json"))}

    def value_blocks(self, record: TierRecord) -> list[Block]:
        name = f"values-{record.tier}"
        return self._checked(name, record.blocks(np.fromfile(self.path / name, dtype=record.dtype)), record.checksums)

    def key_blocks(self, record: KeyRecord) -> list[Block]:
        name = f"keys-{record.tier}"
        return self._checked(name, blocks_of(np.fromfile(self.path / name, dtype="<u8")), record.checksums)

    def _checked(self, name: str, blocks: list[npt.NDArray[Any]], checksums: list[int]) -> list[Block]:
        if [checksum(block) for block in blocks] != checksums:
            raise TableError(f"{self.path / name} is damaged")
        return [block.data for block in blocks]

    def remove_damaged_tiers(self) -> None:
        for record in [*self.tier_records().values(), *self.key_records().values()]:
            if not self.is_intact(record):
                kind = "values" if isinstance(record, TierRecord) else "keys"
                (self.path / f"{kind}-{record.tier}.json").unlink()

    def write_keys(self, record: KeyRecord, keys: npt.NDArray[Any]) -> None:
        self._write(f"keys-{record.tier}", keys, record.to_json())

    def write_values(self, record: TierRecord, values: npt.NDArray[Any]) -> None:
        self._write(f"values-{record.tier}", values, record.to_json())

    def _write(self, name: str, array: npt.NDArray[Any], record: bytes) -> None:
        array.tofile(self.path / name)
        (self.path / f"{name}.json").write_bytes(record)

    def set_info(self, info: TableInfo) -> None:
        write_info(self.path, info)
        self.info = info

    @property
    def size_on_disk(self) -> int:
        return sum(file.stat().st_size for file in self.path.iterdir())

    def scratch_directory(self) -> Path | None:
        return self.path

    def close(self) -> None: ...


def write_info(path: Path, info: TableInfo) -> None:
    (path / "info.part").write_bytes(info.to_json())
    os.replace(path / "info.part", path / "info.json")


class FilesBackend:
    durable = True
    store = PlainFiles

    def open(self, game: Game, path: Path, info: TableInfo) -> Store:
        if not (path / "info.json").exists():
            path.mkdir(parents=True, exist_ok=True)
            write_info(path, info)
        store = PlainFiles(path)
        require_same_game(store, game)
        require_same_values(store, game, info.values)
        store.remove_damaged_tiers()
        return store

    def read(self, path: Path) -> Store | None:
        return PlainFiles(path) if (path / "info.json").exists() else None


@hookimpl
def register_backends(register: Callable[[str, Any], None]) -> None:
    register("files", FilesBackend())
