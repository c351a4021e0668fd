"""The table of the ladder game, solved once for each file of tests and copied before it is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tools.campaigns import ladder

from perfectplay import Game, make_game, open_table, solve_game
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import table_path


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
        return compact_table(table, tmp_path_factory.mktemp("compact") / "ladder")


@pytest.fixture
def plain(solved: Path, tmp_path: Path) -> Path:
    """A copy of the solved table."""
    return shutil.copytree(solved, tmp_path / "ladder")


@pytest.fixture(params=["plain", "compact"])
def path(request: pytest.FixtureRequest, solved: Path, compacted: Path, tmp_path: Path) -> Path:
    """A copy of the plain and of the compact table."""
    return shutil.copytree(solved if request.param == "plain" else compacted, tmp_path / "ladder")


@pytest.fixture(scope="module")
def codes(game: Game) -> Callable[[Path], list[int]]:
    """Open a table and return the codes of all positions."""

    def read(path: Path) -> list[int]:
        with open_table(game, path) as table:
            codes: list[int] = table.probe_many(range(ladder.RING * ladder.RUNGS)).tolist()
        return codes

    return read
