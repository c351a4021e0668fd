"""What the server finds on disk, while it runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from perfectplay import Status, hookimpl, make_game, solve_game
from perfectplay.errors import Interrupted
from perfectplay.web.library import Library

STONES = 3000


class Stones:
    """Take one or two stones; who takes the last one wins. `when` is set after the moves were asked for so often."""

    RULES_VERSION = 1

    def __init__(self, when: threading.Event, asked: int) -> None:
        self.when, self.left = when, asked

    @hookimpl
    def start(self) -> int:
        return STONES

    @hookimpl
    def moves(self, position: int) -> list[int]:
        self.left -= 1
        if not self.left:
            self.when.set()
        return [1, 2][: min(2, position)]

    @hookimpl
    def apply(self, position: int, move: int) -> int:
        return position - move

    @hookimpl
    def status(self, position: int) -> Status:
        return Status.ONGOING if position else Status.LOST

    @hookimpl
    def tier(self, position: int) -> int:
        return STONES - position


def test_an_unfinished_table_is_seen_to_finish(tmp_path: Path) -> None:
    stop = threading.Event()
    game = make_game(Stones(stop, asked=STONES * 3 // 2), name="stones")
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    library = Library(tmp_path, games=[game])
    served = library.games[game.identity]
    assert served.table is not None
    assert not served.table.complete
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    table = served.find_table()
    assert table is not None
    assert table.complete
    assert str(table.probe(STONES)) == "loss in 2000"
    library.close()
