"""The proof finds what no checksum can: any single value that is not the right one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perfectplay.errors import TableError
from perfectplay.game import Game
from perfectplay.solving.strong import solve_game
from perfectplay.solving.verify import VerifyReport, verify_table
from perfectplay.tables.layout import number_key
from perfectplay.tables.locations import table_path
from perfectplay.tables.opening import open_table

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
