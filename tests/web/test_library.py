"""Tables that change on disk while the server runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from perfectplay import Game, load_game, make_game, solve_game
from perfectplay.compile.kernel import CompiledKernel
from perfectplay.errors import Interrupted
from perfectplay.table.table import Table
from perfectplay.web import library as library_module
from perfectplay.web.library import Library

from .. import zoo
from ..framework.damage import stop_after_tiers
from .pages import OpenPage


def make_stones(stones: int = 300) -> Game:
    """Take one or two of many stones, each number of them in a separate tier."""
    source = zoo.read("subtraction", {"7": str(stones)})
    tiers = f"\nRULES_VERSION = 1\n@hookimpl\ndef tier(position): return {stones} - position\n"
    return make_game(zoo.module_of(source + tiers), name="stones")


def test_a_finished_table_replaces_an_unfinished_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = stop_after_tiers(monkeypatch, 150)
    game = make_stones()
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
    assert str(table.probe(300)) == "loss in 200"
    library.close()


def test_the_page_asks_again_for_unknown_values_of_an_unfinished_table(
    open_page: OpenPage, serve: Callable[[Library], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = stop_after_tiers(monkeypatch, 1500)
    game = make_stones(3000)
    with pytest.raises(Interrupted):
        solve_game(game, backend="lmdb", directory=tmp_path, stop=stop)
    page = open_page(serve(Library(tmp_path, games=[game])) + "/stones")
    verdict = page.locator("#verdict p")
    expect(verdict).to_have_text("Not in the table: this part of the game is not solved yet")
    page.locator("#moves .chip").first.click()
    expect(page.locator("#history li")).to_have_count(2)
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    page.click("#undo")
    expect(verdict).to_have_text("Second player wins in 1,000 moves")
    page.click("#redo")
    expect(verdict).not_to_contain_text("Not in the table")
    expect(page.locator("#line .step")).not_to_have_count(0)


def test_requests_wait_while_a_table_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_stones()
    served = Library(tmp_path, games=[game]).games[game.identity]
    solve_game(game, directory=tmp_path).table.close()
    opening, resume, open_table = threading.Event(), threading.Event(), library_module.open_table

    def open_slowly(*arguments: Any, **options: Any) -> Table:
        opening.set()
        assert resume.wait(120)
        return open_table(*arguments, **options)

    monkeypatch.setattr(library_module, "open_table", open_slowly)
    found: list[Table | None] = []
    threads = [threading.Thread(target=lambda: found.append(served.find_table())) for _ in range(2)]
    threads[0].start()
    assert opening.wait(120)
    threads[1].start()
    threads[1].join(0.5)  # enough time to return without a table
    resume.set()
    for thread in threads:
        thread.join()
    assert found == [served.table] * 2
    assert served.table is not None
    served.table.close()


def test_look_ups_use_compiled_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(Path(zoo.__file__).with_name("tictactoe.py"))
    game = load_game(file)
    solve_game(game, backend="lmdb", directory=tmp_path).table.close()
    tables = []
    for switch in ("1", "0"):
        monkeypatch.setenv("PERFECTPLAY_COMPILE", switch)
        library = Library(tmp_path, games=[load_game(file)])
        table = library.games[game.identity].find_table()
        assert table is not None
        assert isinstance(table.kernel, CompiledKernel) == (switch == "1")
        tables.append([str(table.probe(child)) for child in table.kernel.children(game.start())])
        library.close()
    assert tables[0] == tables[1]
