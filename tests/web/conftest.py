"""Servers and a browser for the web tests, with small games solved into a temporary directory."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.testclient import TestClient

from perfectplay.game.game import Game
from perfectplay.game.loading import load_game, make_game
from perfectplay.solve.solve import solve_game
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

from .. import zoo
from ..zoo import peg, promotion, shapes, treasure, twelve, wide


def game_of(code: str, name: str) -> Game:
    return make_game(zoo.module_of(code), name=name)


def tic_tac_toe() -> Game:
    return zoo.make("tictactoe")


def stones() -> Game:
    """Take one or two stones from seven. Eight and nine are valid positions that cannot be reached."""
    return zoo.make("subtraction", {"position <= 7": "position <= 9"}, name="stones")


@pytest.fixture(scope="session")
def games() -> types.SimpleNamespace:
    """Functions that make the small games."""
    return types.SimpleNamespace(tic_tac_toe=tic_tac_toe, stones=stones, game_of=game_of)


@pytest.fixture(scope="session")
def small_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables")
    for game in (tic_tac_toe(), stones()):
        solve_game(game, directory=directory).table.close()
    return directory


@pytest.fixture(scope="session")
def library(small_tables: Path) -> Iterator[Library]:
    """Tic-tac-toe and stones solved, Gobblet not."""
    library = Library(small_tables, [tic_tac_toe(), stones(), load_game("gobblet")])
    yield library
    library.close()


@pytest.fixture
def client(library: Library) -> TestClient:
    return TestClient(make_app(library))


@contextmanager
def running(library: Library) -> Iterator[str]:
    """Serve from a thread; yields the address."""
    server = uvicorn.Server(uvicorn.Config(make_app(library), port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def small_server(library: Library) -> Iterator[str]:
    with running(library) as address:
        yield address


@pytest.fixture(scope="session")
def gobblet_server(gobblet_tables: Path) -> Iterator[str]:
    library = Library(gobblet_tables, [load_game("gobblet")])
    with running(library) as address:
        yield address
    library.close()


@pytest.fixture
def serve() -> Iterator[Callable[[Library], str]]:
    """serve(library) -> address, for a test with its own server."""
    with ExitStack() as stack:

        def serve(library: Library) -> str:
            stack.callback(library.close)
            return stack.enter_context(running(library))

        yield serve


@pytest.fixture(scope="session")
def kinds_server(gobblet_tables: Path, quantik_tables: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Games of every kind: boards, star, graph, pits, edges, promotion, text, puzzles, scores; some are unsolved."""
    directory = tmp_path_factory.mktemp("kinds")
    (directory / "gobblet").symlink_to(gobblet_tables / "gobblet")
    (directory / "quantik").symlink_to(quantik_tables / "quantik")
    modules = (promotion, peg, treasure, twelve, shapes)
    small = [zoo.make(zoo.MUTORERE), stones(), *(make_game(each, name=_name(each)) for each in modules)]
    small += [load_game("morris", men="three"), load_game("kalah"), load_game("dots", rows=1)]
    for game in small:
        solve_game(game, directory=directory).table.close()
    unsolved = [make_game(wide, name="wide"), load_game("dots"), load_game("connect4"), load_game("morris", men="six")]
    unsolved.append(load_game("quixo", width=3, height=3))
    library = Library(directory, [load_game("gobblet"), load_game("quantik"), *small, *unsolved])
    with running(library) as address:
        yield address
    library.close()


def _name(module: types.ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


# ---- a real browser ----

PATIENCE = 30_000
"""Milliseconds. A busy machine may be slow."""
expect.set_options(timeout=PATIENCE)

CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")  # while it is open, no other test can run an event loop
def browser(program: Callable[[str], str]) -> Iterator[Browser]:
    """Debian's Chromium without windows, which takes half the CPU time, or else the whole Chromium, headless."""
    chromium = shutil.which("chromium-headless-shell") or program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Set pages up last, so that they are closed before the servers they send requests to."""
    if isinstance(item, pytest.Function):
        item.fixturenames.sort(key=lambda name: name == "open_page")


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """open_page(address, **context options) -> page with a position drawn. Any error in the console fails the test."""
    errors: list[str] = []
    contexts = []

    def open_page(address: str, *, before: str = "", expected: str | None = None, **options: Any) -> Page:
        """`expected` is part of an error message that is allowed, such as a status."""
        options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on(
            "console",
            lambda message: (
                message.type == "error" and not (expected and expected in message.text) and errors.append(message.text)
            ),
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        if before:
            page.add_init_script(before)
        page.goto(address)
        page.wait_for_selector("#board > *")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="session")
def axe(program: Callable[[str], str], shared: Callable[..., Path]) -> str:
    """The source of axe-core, downloaded from npm."""
    npm = program("npm")

    def fetch(place: Path) -> None:
        command = [npm, "pack", "axe-core@4", "--silent", "--pack-destination", str(place)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        with tarfile.open(next(place.glob("*.tgz"))) as package:
            package.extract("package/axe.min.js", place, filter="data")

    return (shared("axe-core", fetch) / "package" / "axe.min.js").read_text()
