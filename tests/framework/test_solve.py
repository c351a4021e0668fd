"""`solve_game` and its options: what is refused at the start, and what is released when a solve fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from perfectplay import Game, solve_game
from perfectplay.solve import solve as solve_module


@pytest.mark.parametrize("backend", ["memory", "lmdb"])
def test_a_solve_that_fails_before_it_begins_releases_the_writer_lock(
    tic_tac_toe: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
):
    def fail(*args: object, **keywords: object) -> None:
        raise MemoryError("no room for the state")

    with monkeypatch.context() as patch:
        patch.setattr(solve_module, "SolveState", fail)
        with pytest.raises(MemoryError) as failure:
            solve_game(tic_tac_toe, backend=backend, directory=tmp_path)
    assert failure.tb  # its frames still refer to everything that the failed solve opened
    solve_game(tic_tac_toe, backend=backend, directory=tmp_path).table.close()
