"""The table has the same bits for every backend, number of threads, memory budget and interruption."""

from __future__ import annotations

import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import lmdb
import pytest
from tools.campaigns import ladder

from perfectplay import Game, Outcome, open_table, solve_game, verify_table
from perfectplay.analysis.moves import rate_moves
from perfectplay.errors import Interrupted, TableError
from perfectplay.table.locations import table_path

from ...propagation import solve_by
from ..damage import stop_after_tiers

RUNNER = [sys.executable, str(Path(__file__).parents[3] / "tools" / "campaigns" / "solve_ladder.py")]


@pytest.fixture(scope="module")
def golden(game: Game) -> str:
    solution = solve_game(game, save=False)
    with solution.table as table:
        outcomes = {table.probe(position).outcome for position in range(ladder.RING * ladder.RUNGS)}
    assert outcomes == set(Outcome), "the game should have all kinds of values"
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


def test_solved_table_is_not_written_again(game, golden, solved):
    before = (solved / "data.mdb").read_bytes()
    for backend in ("memory", "lmdb"):
        solution = solve_game(game, backend=backend, directory=solved.parent)
        with solution.table as table:
            assert solution.hash == golden
            if backend == "lmdb":
                storage = table.info.storage
                assert (storage["lmdb"], storage["data_version"]) == (".".join(map(str, lmdb.version())), 1)
        assert (solved / "data.mdb").read_bytes() == before


def test_solve_killed_at_any_moment_resumes_to_the_same_table(golden, tmp_path):
    """SIGKILL, twenty times, at moments spread over the run."""
    chance = random.Random(20)
    for attempt in range(20):
        process = subprocess.Popen([*RUNNER, str(tmp_path), "slow"], stdout=subprocess.DEVNULL)
        time.sleep(0.25 + chance.random() * 0.06 * (attempt + 1))
        process.send_signal(signal.SIGKILL)
        process.wait()
    done = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == golden
    assert not list((tmp_path / "ladder").glob("scratch*")), "scratch files are removed"


def test_stopped_solve_keeps_finished_tiers_and_resumes(game, golden, tmp_path, monkeypatch):
    stop = stop_after_tiers(monkeypatch, ladder.RUNGS // 2)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    with open_table(game, table_path(game, tmp_path)) as table:
        assert not table.complete
        assert 0 < len(table.records) < ladder.RUNGS
        assert "of 12 are" in table.unfinished()
        with pytest.raises(TableError, match="not solved yet"):
            table.probe(0)
        with pytest.raises(TableError, match="not finished"):
            verify_table(table)
        solved = min(table.records) * ladder.RING + 5  # a cell with a rung up
        unsolved = solved - ladder.RING
        assert table.get(unsolved) is None
        assert len(rate_moves(game, table, solved, known_only=True)) == len(game.move_classes(solved))
        assert len(rate_moves(game, table, unsolved, known_only=True)) == 1, "only the rung leads to a solved tier"
    resumed = solve_game(game, backend="lmdb", directory=tmp_path)
    resumed.table.close()
    assert resumed.hash == golden


def test_second_process_is_refused(game, tmp_path):
    process = subprocess.Popen([*RUNNER, str(tmp_path), "slow"], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "ladder" / "data.mdb").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        with pytest.raises(TableError, match="another process is writing"):
            solve_game(game, backend="lmdb", directory=tmp_path)
    finally:
        process.kill()
        process.wait()


def test_file_size_limit_stops_the_solve_and_loses_nothing(game, golden, tmp_path):
    """RLIMIT_FSIZE acts like a full disk: a write fails, the table stays intact, and a later solve resumes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    full = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, preexec_fn=limit)
    assert full.returncode != 0
    assert "limit" in full.stderr
    assert "all tiers solved so far are saved" in full.stderr
    done = subprocess.run([*RUNNER, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == golden
