"""The ladder, and its table: solved once for each file of tests, and copied before it is harmed."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfectplay import Game, make_game, open_table, solve_game
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import table_path

from . import ladder


@pytest.fixture(scope="module")
def game() -> Game:
    return make_game(ladder, name="ladder")


@pytest.fixture(scope="module")
def solved(game: Game, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("solved")
    solve_game(game, backend="lmdb", directory=directory).table.close()
    return table_path(game, directory)


@pytest.fixture(scope="module")
def compacted(game: Game, solved: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with open_table(game, solved) as table:
        return compact_table(table, tmp_path_factory.mktemp("compact") / "ladder", progress=lambda done: None)
