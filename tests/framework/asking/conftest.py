"""Solved tables for queries: race (a C kernel with cycles and shared slots), tic-tac-toe and subtraction (Python)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import Result

from perfectplay import Game, Table, load_game, make_game, open_table, solve_game
from perfectplay.table.locations import table_path
from perfectplay_native.build import kernel_ffi

from ... import cli, zoo

STATED_VERSION = "\nRULES_VERSION = 1\n"


@pytest.fixture(scope="session")
def race_code(shared: Callable[..., Path]) -> str:
    """The source of the plugin, with the path of its compiled kernel."""
    ffi = kernel_ffi("compiled_race_kernel", sources=[str(zoo.HERE / "race.c")], kernels=["race_kernel"])
    place = shared("compiled_race_kernel", lambda directory: ffi.compile(tmpdir=str(directory)))
    return f"import sys\nsys.path.insert(0, {str(place)!r})\n" + zoo.read("race")


@pytest.fixture(scope="session")
def race(race_code: str) -> Game:
    return make_game(zoo.module_of(race_code), name="race")


@pytest.fixture(scope="session")
def tables(
    tmp_path_factory: pytest.TempPathFactory, race: Game, tic_tac_toe: Game, subtraction: Game
) -> Iterator[SimpleNamespace]:
    """The three open tables; `.directory` contains them."""
    directory = tmp_path_factory.mktemp("tables")
    opened = {}
    for game in (race, tic_tac_toe, subtraction):
        solve_game(game, directory=directory, threads=1).table.close()
        opened[game.name] = open_table(game, table_path(game, directory))
    yield SimpleNamespace(directory=directory, **opened)
    for table in opened.values():
        table.close()


@pytest.fixture(scope="session")
def table_copies(tables: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tables for the commands, because LMDB opens a file only once in a process."""
    place = tmp_path_factory.mktemp("copies") / "tables"
    shutil.copytree(tables.directory, place)
    return place


@pytest.fixture(params=["race", "tictactoe", "subtraction"])
def table(request: pytest.FixtureRequest, tables: SimpleNamespace) -> Table:
    """Each of the tables in turn."""
    table: Table = getattr(tables, request.param)
    return table


@pytest.fixture
def installed(install, codes, race_code, table_copies, monkeypatch) -> SimpleNamespace:
    """The three games, installed at `.path`, and their tables in the default directory."""
    # The tables were solved with games that are not installed; a RULES_VERSION makes them usable by these.
    install("tictactoe", codes.tic_tac_toe + STATED_VERSION)
    install("subtraction", codes.subtraction + STATED_VERSION)
    install("race", race_code)
    monkeypatch.setenv("PERFECTPLAY_PLUGINS", "tictactoe,subtraction,race")
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(table_copies))
    return SimpleNamespace(path=install.path)


@pytest.fixture
def solve(installed) -> Callable[..., Result]:
    """Run `solve …` with these games."""
    return cli.solve


@pytest.fixture(scope="session")
def everything() -> Callable[[Table], dict[int, str]]:
    """everything(table): all canonical positions with their values, computed without the code under test."""

    def walk(table: Table) -> dict[int, str]:
        game = table.game
        if game.name == "race":
            positions = {game.canonicalize(position) for position in range(128) if game.valid(position)}
        else:
            positions, queue = set(), [game.canonicalize(game.start())]
            while queue:
                position = queue.pop()
                if position not in positions:
                    positions.add(position)
                    queue += [game.canonicalize(game.apply(position, move)) for move in game.moves(position)]
        return {position: str(table.probe(position)) for position in positions}

    return walk


@pytest.fixture(scope="session")
def gobblet_copy(gobblet_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with a table of Gobblet that no other test opens."""
    directory = tmp_path_factory.mktemp("copy")
    shutil.copytree(gobblet_tables / "gobblet", directory / "gobblet")
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def gobblet(gobblet_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Game:
    """Gobblet, with its table in the default directory."""
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(gobblet_copy))
    return load_game("gobblet")
