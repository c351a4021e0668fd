"""The same table, bit for bit, whatever the backend, the threads, the budget and the interruptions."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from perfectplay import Game, Outcome, open_table, solve_game, verify_table
from perfectplay.analysis.moves import rate_moves
from perfectplay.errors import Interrupted, TableError, UsageError
from perfectplay.table.locations import table_path

from ...propagation import solve_by
from ..damage import stop_after_tiers
from . import ladder

HOOKS = ("start", "tier", "moves", "apply", "undo", "canonicalize")
RUNNER = [sys.executable, str(Path(__file__).with_name("solve_ladder.py"))]


@pytest.fixture(scope="module")
def golden(game: Game) -> str:
    solution = solve_game(game, save=False)
    with solution.table as table:
        found = {table.probe(p).outcome for p in range(ladder.RING * ladder.RUNGS)}
    assert found == set(Outcome), "the game should have all kinds of values"
    return solution.hash


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
@pytest.mark.parametrize("propagation", ["graph", "forward"])
def test_every_backend_and_propagation_gives_the_same_table(game, golden, tmp_path, backend, propagation):
    solution = solve_by(game, propagation, backend=backend, directory=tmp_path)
    solution.table.close()
    assert solution.hash == golden
    with open_table(game, table_path(game, tmp_path)) as table:
        assert table.info.hash == golden
        assert verify_table(table).bad == 0


def test_a_solved_table_is_not_solved_again(game, golden, tmp_path):
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    before = (table_path(game, tmp_path) / "data.mdb").read_bytes()
    again = solve_game(game, backend="lmdb", directory=tmp_path)
    again.table.close()
    assert again.hash == golden
    assert (table_path(game, tmp_path) / "data.mdb").read_bytes() == before


def test_killed_at_any_moment_it_resumes_to_the_same_table(golden, tmp_path):
    """Twenty times SIGKILL, at moments spread over the run; what was finished stays, and the end is the same."""
    chance = random.Random(20)
    for attempt in range(20):
        process = subprocess.Popen([*RUNNER, str(tmp_path), "slow"], stdout=subprocess.DEVNULL)
        time.sleep(0.25 + chance.random() * 0.06 * (attempt + 1))
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == golden
    assert not list((tmp_path / "ladder").glob("scratch*")), "scratch is removed"


def test_a_stop_keeps_what_is_finished_and_says_so(game, golden, tmp_path, monkeypatch):
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    with open_table(game, table_path(game, tmp_path)) as table:
        assert not table.complete
        assert 0 < len(table.records) < ladder.RUNGS
        with pytest.raises(TableError, match="not solved yet"):
            table.probe(0)
        with pytest.raises(TableError, match="not finished"):
            verify_table(table)
    resumed = solve_game(game, backend="lmdb", directory=tmp_path)
    resumed.table.close()
    assert resumed.hash == golden


def test_a_second_writer_is_refused(game, tmp_path):
    process = subprocess.Popen([*RUNNER, str(tmp_path), "slow"], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not (tmp_path / "ladder" / "data.mdb").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(TableError, match="another process is writing"):
            solve_game(game, backend="lmdb", directory=tmp_path)
    finally:
        process.kill()
        process.wait()


def test_a_file_size_limit_stops_the_solve_and_loses_nothing(game, golden, tmp_path):
    """RLIMIT_FSIZE plays the full disk: the write fails in the middle, the table stays intact, and resumes later."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    full = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, preexec_fn=limit)
    assert full.returncode != 0
    assert "larger than the limit allows" in full.stderr
    assert "what was solved so far is kept" in full.stderr
    done = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == golden


def test_a_budget_too_small_names_the_smallest_that_works(game, tmp_path):
    with pytest.raises(UsageError, match=r"--memory is too small.* \d+M"):
        solve_game(game, backend="lmdb", directory=tmp_path, memory=1 << 20)
    solve_game(game, backend="lmdb", directory=tmp_path, memory=64 << 20).table.close()


def test_an_unfinished_table_says_what_it_knows(game, tmp_path, monkeypatch):
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    with open_table(game, table_path(game, tmp_path)) as table:
        lowest = min(table.records)
        known = lowest * ladder.RING + 5  # a cell with a rung up
        below = known - ladder.RING
        assert table.get(below) is None
        assert len(rate_moves(game, table, below, known_only=True)) == 1, (
            "the rung up leads to a solved tier, the steps do not"
        )
        assert len(rate_moves(game, table, known, known_only=True)) == len(game.move_classes(known))
        assert "of 12 are" in table.unfinished()
