"""`solve_game` and its options: what is refused at the start, and what is released when a solve fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perfectplay import Game, TableError, UsageError, open_table, solve_game
from perfectplay.solve import solve as solve_module
from perfectplay.solve.options import Cluster, SolveOptions


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


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"backend": "lmbd"}, "unknown backend 'lmbd'.*lmdb"),
        ({"values": "depth"}, "'depth'.*full, outcome"),
        ({"backend": "lmdb", "save": False}, "lmdb.*--no-save"),
        ({"memory": 1 << 20}, r"--memory .* \d+M"),
        ({"memory": 1 << 70}, "--memory .* large"),
        ({"threads": 10**20}, "threads .* 4096"),
        ({"threads": 0}, "threads .* 4096"),
        ({"cluster": Cluster(workers=1)}, "--workers.*--backend ray"),
        ({"backend": "ray", "values": "outcome"}, "--values outcome"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options: dict[str, Any], words: str):
    with pytest.raises(UsageError, match=words):
        SolveOptions(**options)


def test_keywords_take_precedence_over_options(tic_tac_toe: Game, tmp_path: Path):
    options = SolveOptions(directory=tmp_path, values="outcome")
    with solve_game(tic_tac_toe, options, values="full", save=False).table as table:
        assert not table.outcomes_only
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("backend", "other"), [("memory", "lmdb"), ("lmdb", "lmdb"), ("lmdb", "memory")])
@pytest.mark.parametrize(("present", "wanted"), [("outcome", "full"), ("full", "outcome")])
def test_a_table_with_other_values_is_replaced_only_on_request(
    tic_tac_toe: Game, tmp_path: Path, backend: str, other: str, present: str, wanted: str
):
    solve_game(tic_tac_toe, backend=backend, directory=tmp_path, values=present).table.close()
    with pytest.raises(TableError, match=r"with (outcomes only|full values): use it.*--force"):
        solve_game(tic_tac_toe, backend=other, directory=tmp_path, values=wanted)
    with open_table(tic_tac_toe, tmp_path / "tictactoe") as table:
        assert table.info.values == present
    with solve_game(tic_tac_toe, backend=other, directory=tmp_path, values=wanted, replace_other=True).table as table:
        assert table.info.values == wanted
