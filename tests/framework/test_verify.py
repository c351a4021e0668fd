"""Verification finds any single wrong value, even one with a correct checksum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perfectplay.cluster.pool import WorkerLost
from perfectplay.cluster.verification import ClusterVerification
from perfectplay.errors import TableError
from perfectplay.game.game import Game
from perfectplay.game.loading import load_game
from perfectplay.solve.solve import solve_game
from perfectplay.solve.verification import VerifyReport, verify_table
from perfectplay.table.locations import open_table, table_path
from perfectplay.table.records import number_key

from ..native.local_pool import LocalPool
from .damage import change_value, flip


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tic_tac_toe: Game) -> Path:
    monkeypatch.setenv("PERFECTPLAY_TABLES", str(tmp_path))
    solve_game(tic_tac_toe).table.close()
    return tmp_path


def verify(game: Game) -> VerifyReport:
    with open_table(game) as table:
        return verify_table(table)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(index=st.integers(0, 764), code=st.integers(0, 255))
def test_any_changed_byte_is_found_and_named(index: int, code: int, tables: Path, tic_tac_toe: Game):
    right = change_value(tic_tac_toe, index=index, code=code)
    report = verify(tic_tac_toe)
    assert report.checked == 765
    if code == right:
        assert report.bad == 0
    else:
        # The changed value is reported. If it is plausible, positions that lead there are reported too.
        assert report.bad >= 1
        assert index in [bad.index for bad in report.examples] or report.bad > len(report.examples)
    change_value(tic_tac_toe, index=index, code=right)


def test_a_plausible_wrong_value_is_found_at_every_index(tables: Path, tic_tac_toe: Game):
    """One value at a time is replaced by the opposite result in the same number of plies."""
    with open_table(tic_tac_toe) as table:
        codes = [int(code) for block in table.values(0) for code in block]
    for index in range(0, len(codes), 41):
        change_value(tic_tac_toe, index=index, code=codes[index] ^ 2)
        assert verify(tic_tac_toe).bad >= 1, index
        change_value(tic_tac_toe, index=index, code=codes[index])
    assert verify(tic_tac_toe).bad == 0


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_byte_changed_on_disk_is_found_by_its_checksum_and_repaired_by_solving(
    tables: Path, tic_tac_toe: Game, backend: str
):
    flip(table_path(tic_tac_toe), number_key(b"t", 0, 0), at=100)
    with pytest.raises(TableError, match="tier 0, block 0 has a wrong checksum"):
        verify(tic_tac_toe)
    solve_game(tic_tac_toe, backend=backend).table.close()
    assert verify(tic_tac_toe).bad == 0


# ---- by workers ----


def verify_with_workers(game: Game, pool: LocalPool | None = None) -> VerifyReport:
    with open_table(game) as table:
        return ClusterVerification(table, None, slow_slots=64).run(pool or LocalPool(game, 2))


def same(one: VerifyReport, other: VerifyReport) -> bool:
    return (one.checked, one.bad, one.examples) == (other.checked, other.bad, other.examples)


def test_workers_report_the_same_as_threads(tables: Path, tic_tac_toe: Game):
    assert same(verify_with_workers(tic_tac_toe), verify(tic_tac_toe))
    for index in (0, 300, 764):
        right = change_value(tic_tac_toe, index=index, code=5)
        assert verify(tic_tac_toe).bad
        assert same(verify_with_workers(tic_tac_toe), verify(tic_tac_toe))
        change_value(tic_tac_toe, index=index, code=right)


def test_workers_verify_a_game_with_an_index_although_some_are_lost(tables: Path):
    class LosingPool(LocalPool):
        calls = 0

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            self.calls += 1
            if self.calls in (3, 6):
                raise WorkerLost("on purpose")
            return super().call(worker, method, *arguments, returns=returns)

    game = load_game("morris", men="three")
    solve_game(game).table.close()
    pool = LosingPool(game, 3)
    report = verify_with_workers(game, pool)
    assert same(report, verify(game))
    assert (report.bad, report.workers) == (0, 3)
    assert pool.calls > 8
    change_value(game, tier=2, index=17, code=6)
    assert verify_with_workers(game).bad
    assert same(verify_with_workers(game), verify(game))


def test_a_position_out_of_place_is_found_by_workers(tables: Path, tic_tac_toe: Game, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("perfectplay.cluster.worker.find_lost_position", lambda *_: 17)
    with pytest.raises(TableError, match="position 17 of tier 0 cannot be found"):
        verify_with_workers(tic_tac_toe)
