"""The proof finds what no checksum can: any single value that is not the right one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perfectplay.cluster import verification as verifying
from perfectplay.cluster.pool import WorkerLost
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


def verified(game: Game) -> VerifyReport:
    with open_table(game) as table:
        return verify_table(table)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(index=st.integers(0, 764), code=st.integers(0, 255))
def test_any_changed_byte_is_found_and_named(index: int, code: int, tables: Path, tic_tac_toe: Game):
    right = change_value(tic_tac_toe, index=index, code=code)
    report = verified(tic_tac_toe)
    assert report.checked == 765
    if code == right:
        assert report.bad == 0
    else:
        # the changed value is named; where it is a plausible one, positions that lead there are contradicted too
        assert report.bad >= 1
        assert index in [bad.index for bad in report.examples] or report.bad > len(report.examples)
    change_value(tic_tac_toe, index=index, code=right)


def test_a_plausible_wrong_value_is_found_wherever_it_stands(tables: Path, tic_tac_toe: Game):
    """One value at a time becomes the opposite result in as many plies."""
    with open_table(tic_tac_toe) as table:
        codes = [int(code) for block in table.values(0) for code in block]
    for index in range(0, len(codes), 41):
        change_value(tic_tac_toe, index=index, code=codes[index] ^ 2)
        assert verified(tic_tac_toe).bad >= 1, index
        change_value(tic_tac_toe, index=index, code=codes[index])
    assert verified(tic_tac_toe).bad == 0


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_byte_changed_on_disk_is_found_by_its_checksum_and_mended_by_solving(
    tables: Path, tic_tac_toe: Game, backend: str
):
    flip(table_path(tic_tac_toe), number_key(b"t", 0, 0), at=100)
    with pytest.raises(TableError, match="tier 0, block 0 has a wrong checksum"):
        verified(tic_tac_toe)
    solve_game(tic_tac_toe, backend=backend).table.close()
    assert verified(tic_tac_toe).bad == 0


# ---- by workers ----


def verified_by_workers(game: Game, pool: LocalPool | None = None) -> VerifyReport:
    with open_table(game) as table:
        return verifying.Verification(table, None).run(pool or LocalPool(game, 2))


def same(one: VerifyReport, other: VerifyReport) -> bool:
    return (one.checked, one.bad, one.examples) == (other.checked, other.bad, other.examples)


def test_workers_find_what_threads_find(tables: Path, tic_tac_toe: Game, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verifying, "SLOW_SLOTS", 64)
    assert same(verified_by_workers(tic_tac_toe), verified(tic_tac_toe))
    for index in (0, 300, 764):
        right = change_value(tic_tac_toe, index=index, code=5)
        assert verified(tic_tac_toe).bad
        assert same(verified_by_workers(tic_tac_toe), verified(tic_tac_toe))
        change_value(tic_tac_toe, index=index, code=right)


def test_workers_prove_a_game_with_an_index_though_some_are_lost(tables: Path):
    class Losing(LocalPool):
        calls = 0

        def call(self, worker: int, method: str, *arguments: Any, returns: int = 1) -> Any:
            self.calls += 1
            if self.calls in (3, 6):
                raise WorkerLost("as the test wants it")
            return super().call(worker, method, *arguments, returns=returns)

    game = load_game("morris", men="three")
    solve_game(game).table.close()
    pool = Losing(game, 3)
    report = verified_by_workers(game, pool)
    assert same(report, verified(game))
    assert (report.bad, report.workers) == (0, 3)
    assert pool.calls > 8
    change_value(game, tier=2, index=17, code=6)
    assert verified_by_workers(game).bad
    assert same(verified_by_workers(game), verified(game))


def test_a_position_out_of_place_is_found_by_workers(tables: Path, tic_tac_toe: Game, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("perfectplay.cluster.worker.lost_position", lambda *_: 17)
    with pytest.raises(TableError, match="position 17 of tier 0 cannot be found"):
        verified_by_workers(tic_tac_toe)
