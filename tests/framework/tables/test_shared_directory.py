"""A directory of tables that several users of a group share. Needs root, to become these users."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tools.campaigns.campaign import BROKEN, REPORTED, RIGHT, in_child

from perfectplay import Game, open_table, solve_game, verify_table
from perfectplay.errors import Interrupted, TableError, reason
from perfectplay.table.compaction import compact_table
from perfectplay.table.lmdb_reader import TableReader
from perfectplay.table.locations import find_tables, table_path
from perfectplay.web.library import ServedGame

from ...cli import solve
from ..damage import stop_after_tiers

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")

ONE, OTHER, GROUP = 54_001, 54_002, 54_000
DENIED = reason(PermissionError(13, "denied"))


@pytest.fixture
def shared() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="shared-"))  # pytest's directories are private
    os.chown(directory, ONE, GROUP)
    directory.chmod(0o2775)
    yield directory
    shutil.rmtree(directory)


def run_as(user: int, work: Callable[[], object], *, umask: int = 0o002) -> int:
    """Do something as this user, a member of the group. REPORTED means that permission was denied."""

    def as_user() -> int:
        os.setgroups([GROUP])
        os.setresgid(GROUP, GROUP, GROUP)
        os.setresuid(user, user, user)
        os.umask(umask)
        try:
            work()
        except TableError as error:
            return REPORTED if DENIED in str(error) and "\n" not in str(error) else BROKEN
        return RIGHT

    return in_child(as_user)


def compact(game: Game, path: Path) -> None:
    with open_table(game, path) as table:
        compact_table(table)


def verify(game: Game, path: Path) -> None:
    with open_table(game, path) as table:
        assert verify_table(table, threads=1).bad == 0


def test_one_user_resumes_reads_and_compacts_what_another_began(game, solved, shared, monkeypatch):
    path, expected = table_path(game, shared), TableReader(solved).info.hash

    def begin() -> None:
        with pytest.raises(Interrupted):
            solve_game(game, backend="lmdb", directory=shared, stop=stop_after_tiers(monkeypatch, 3))

    def resume() -> None:
        solution = solve_game(game, backend="lmdb", directory=shared)
        solution.table.close()
        assert solution.resumed
        assert solution.hash == expected

    assert run_as(ONE, begin) == run_as(OTHER, resume) == run_as(ONE, lambda: compact(game, path)) == RIGHT
    assert TableReader(path).info.compact
    assert run_as(OTHER, lambda: verify(game, path)) == RIGHT
    assert run_as(ONE, lambda: solve_game(game, directory=shared).table.close()) == RIGHT


def test_table_without_write_permission_can_be_read(game, shared):
    path = table_path(game, shared)
    solve = partial(solve_game, game, backend="lmdb", directory=shared)
    assert run_as(ONE, lambda: solve().table.close(), umask=0o022) == run_as(OTHER, lambda: verify(game, path)) == RIGHT
    assert run_as(OTHER, lambda: compact(game, path)) == REPORTED
    assert run_as(OTHER, solve) == REPORTED
    assert run_as(OTHER, lambda: verify(game, path)) == RIGHT


def test_private_table_is_reported_and_does_not_hide_others(game, shared):
    assert run_as(ONE, lambda: solve_game(game, directory=shared).table.close()) == RIGHT
    path = table_path(game, shared)
    private = shared / "private"
    shutil.copytree(path, private)
    private.chmod(0o700)

    def find() -> None:
        (readable, hidden) = find_tables(shared)
        assert (readable.path, readable.problem) == (path, None)
        assert hidden.problem == f"cannot read {private}: {DENIED}"
        served = ServedGame(game, private)
        assert served.find_table() is None
        assert served.problem == f"cannot read the table: {DENIED}"

    def list_tables() -> None:
        listed = solve("tables", "--dir", shared)
        assert listed.exit_code == 0, listed.output
        assert f"private cannot be read: cannot read {private}: {DENIED}" in listed.stdout
        assert "ladder" in listed.stdout

    assert run_as(OTHER, find) == run_as(OTHER, list_tables) == RIGHT
    assert run_as(OTHER, lambda: open_table(game, private)) == REPORTED
