"""A directory of tables that several people share: a group, and a umask that lets it write. Needs root, to be them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perfectplay import open_table, solve_game, verify_table
from perfectplay.errors import Interrupted, TableError
from perfectplay.table.compaction import compact_table
from perfectplay.table.locations import find_tables, table_path
from perfectplay.web.library import ServedGame

from ..damage import stop_after_tiers
from .campaign import BROKEN, REPORTED, RIGHT, in_child

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become two other users")

ONE, OTHER, GROUP = 54_001, 54_002, 54_000


@pytest.fixture
def shared() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="shared-"))  # pytest's own directories are for their owner only
    os.chown(directory, ONE, GROUP)
    directory.chmod(0o2775)
    yield directory
    shutil.rmtree(directory)


def act(user: int, work: Callable[[], object], *, umask: int = 0o002, says: str = "") -> int:
    """Do it as this user, a member of the group; what goes wrong must say `says`."""

    def as_user() -> int:
        os.setgroups([GROUP])
        os.setresgid(GROUP, GROUP, GROUP)
        os.setresuid(user, user, user)
        os.umask(umask)
        try:
            work()
        except TableError as error:
            return REPORTED if says and says in str(error) and "\n" not in str(error) else BROKEN
        return RIGHT

    return in_child(as_user)


def test_what_one_user_began_another_resumes_reads_and_compacts(game, solved, shared, monkeypatch):
    with open_table(game, solved) as table:
        right = table.info.hash

    def begin() -> None:
        with pytest.raises(Interrupted):
            solve_game(game, backend="lmdb", directory=shared, stop=stop_after_tiers(monkeypatch, 3))

    def resume() -> None:
        solution = solve_game(game, backend="lmdb", directory=shared)
        solution.table.close()
        assert solution.resumed
        assert solution.hash == right

    def compact() -> None:
        with open_table(game, table_path(game, shared)) as table:
            compact_table(table, None, progress=lambda done: None)

    def read() -> None:
        with open_table(game, table_path(game, shared)) as table:
            assert table.info.compact
            assert verify_table(table, threads=1).bad == 0

    assert [act(ONE, begin), act(OTHER, resume), act(ONE, compact), act(OTHER, read)] == [RIGHT] * 4
    assert act(ONE, lambda: solve_game(game, directory=shared).table.close()) == RIGHT


def test_what_others_may_not_write_they_may_read(game, shared):
    def solve() -> None:
        solve_game(game, backend="lmdb", directory=shared).table.close()

    def read() -> None:
        with open_table(game, table_path(game, shared)) as table:
            assert verify_table(table, threads=1).bad == 0

    def compact() -> None:
        with open_table(game, table_path(game, shared)) as table:
            compact_table(table, None, progress=lambda done: None)

    assert act(ONE, solve, umask=0o022) == act(OTHER, read) == RIGHT
    assert act(OTHER, compact, says="permission denied") == REPORTED
    assert act(OTHER, lambda: solve_game(game, directory=shared), says="permission denied") == REPORTED
    assert act(OTHER, read) == RIGHT


def test_what_somebody_keeps_to_themselves_is_named_and_hides_nothing_else(game, shared):
    assert act(ONE, lambda: solve_game(game, directory=shared).table.close()) == RIGHT
    path = table_path(game, shared)
    private = shared / "private"
    shutil.copytree(path, private)
    private.chmod(0o700)

    def look() -> None:
        (readable, hidden) = find_tables(shared)
        assert (readable.path, readable.problem) == (path, None)
        assert hidden.problem == f"cannot read {private}: permission denied"
        served = ServedGame(game, private)
        assert served.find_table() is None
        assert served.problem == "cannot read the table: permission denied"

    assert act(OTHER, look) == RIGHT
    assert act(OTHER, lambda: open_table(game, private), says="permission denied") == REPORTED
