"""Takes pictures of every state of the page, for a person to look at.

    python -m tools.screenshots DIRECTORY [--tables TABLES] [--state NAME] [--scheme light] [--width 320]

covers the states of tests/web/test_every_state.py and boards of more games, in every scheme and at every width. TABLES
contains solved tables of Gobblet and Quantik; the other games are solved here, into DIRECTORY.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from tests import zoo
from tests.web.conftest import CHROMIUM_ARGUMENTS, running, stones
from tests.web.test_every_state import STATES, WIDTHS, go, then
from tests.zoo import peg, promotion, treasure, twelve, wide

from perfectplay.game.loading import load_game, make_game
from perfectplay.solve.solve import solve_game
from perfectplay.table.locations import has_table, table_directory, table_path
from perfectplay.web.library import Library

SCHEMES = ("light", "dark", "forced")
MAX_HEIGHT = 2600
"""Pixels; a long list is cut."""

MORE: dict[str, Callable[[Page, str], None]] = {
    "dobutsu": go("/dobutsu?moves=B3xB2+C1xB2"),
    "dobutsu, piece selected": then("#player-bottom .tray:not(:disabled)", ".selected"),
    "many edges": go("/dots-columns=3-rows=2?moves=a1-a2+b1-b2+a1-b1+a2-b2+c2-d2", "#line .step"),
    "connect4": go("/connect4-connect=4-height=4-mirror=yes-width=5", "#line .step"),
    "wide board": go("/wide"),
}


DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(null))))"
"""Waits until the page is drawn. A page that watches a solve never stops sending requests."""


def served_games(directory: Path, tables: Path) -> Library:
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("gobblet", "quantik"):
        if (tables / name).exists() and not (directory / name).exists():
            (directory / name).symlink_to((tables / name).resolve())
    small = [zoo.make(zoo.MUTORERE), stones()]
    small += [make_game(each, name=each.__name__.rpartition(".")[2]) for each in (promotion, peg, twelve, treasure)]
    small += [load_game("morris", men="three"), load_game("kalah"), load_game("connect4", width=5, height=4)]
    small += [load_game("dots", rows=1), load_game("dots", columns=3)]
    for game in small:
        if not has_table(table_path(game, directory)):
            solve_game(game, directory=directory).table.close()
    unsolved = [make_game(wide, name="wide"), load_game("dots"), load_game("dobutsu")]
    return Library(directory, [load_game("gobblet"), load_game("quantik"), *small, *unsolved])


def shoot(browser: Browser, server: str, directory: Path, scheme: str, widths: list[int], only: str | None) -> None:
    page = browser.new_page(
        color_scheme="dark" if scheme == "dark" else "light",
        forced_colors="active" if scheme == "forced" else "none",
        reduced_motion="reduce",
    )
    for number, (name, enter) in enumerate({**STATES, **MORE}.items()):
        page.set_viewport_size({"width": 1440, "height": 900})
        try:
            enter(page, server)
        except Exception as error:
            print(f"{name}: {str(error).splitlines()[0]}")
            continue
        for width in widths if only in (None, name) else ():
            page.set_viewport_size({"width": width, "height": 900})
            page.evaluate(DRAWN)
            height = min(MAX_HEIGHT, page.evaluate("document.documentElement.scrollHeight"))
            page.screenshot(
                path=directory / f"{number:02}-{name.replace(' ', '-').replace(',', '')}-{scheme}-{width}.png",
                clip={"x": 0, "y": 0, "width": width, "height": height},
                full_page=True,
                animations="disabled",
            )
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Take pictures of every state of the page.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--tables", type=Path, default=table_directory())
    parser.add_argument("--state", choices=[*STATES, *MORE])
    parser.add_argument("--scheme", choices=SCHEMES, action="append")
    parser.add_argument("--width", type=int, action="append")
    options = parser.parse_args()
    library = served_games(options.directory / "tables", options.tables)
    with running(library) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=CHROMIUM_ARGUMENTS
        )
        for scheme in options.scheme or SCHEMES:
            shoot(browser, server, options.directory, scheme, options.width or list(WIDTHS), options.state)
        browser.close()
    library.close()


if __name__ == "__main__":
    main()
