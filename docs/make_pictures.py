"""Takes the screenshots in docs/images/ of the real page in a real browser.

    python docs/make_pictures.py [--dir TABLES]

Needs a solved Gobblet, the `dev` extra and Chromium (Debian's `chromium` package).
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from playwright.sync_api import Page, sync_playwright

from perfectplay import load_game
from perfectplay.table.locations import table_directory
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

IMAGES = Path(__file__).parent / "images"
MAX_BYTES = 300_000
"""Maximum size in bytes, because the pictures are in the repository."""

MOVES = ["S(0,0)", "L(1,2)", "S(2,0)", "M(2,0)", "L(0,2)", "M(0,0)", "L(1,1)"]

SCREENS = {
    # name: width, height, scheme
    "page": (1280, 860, "light"),
    "page-dark": (1280, 860, "dark"),
    "page-narrow": (400, 860, "light"),
}


@contextmanager
def served(directory: Path) -> Iterator[str]:
    library = Library(directory, [load_game("gobblet")])
    server = uvicorn.Server(uvicorn.Config(make_app(library), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/gobblet"
    finally:
        server.should_exit = True
        thread.join()


def play(page: Page) -> None:
    """Play a game with two mistakes, up to a position with moves of every value, and select a piece."""
    for ply, move in enumerate(MOVES, start=2):
        page.locator(f'#moves [data-move="{move}"]').click()
        page.wait_for_function("count => document.querySelectorAll('#history li').length === count", arg=ply)
    page.click('[data-place="(1,2)"]')
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")  # clicking scrolled a narrow page to its list of moves
    page.wait_for_load_state("networkidle")  # the best line has arrived


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the page.")
    parser.add_argument("--dir", type=Path, default=table_directory(), help="directory of the tables")
    directory = parser.parse_args().dir
    IMAGES.mkdir(exist_ok=True)
    with served(directory) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, scheme) in SCREENS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page.goto(address)
            page.wait_for_selector(".cell")
            play(page)
            path = IMAGES / f"{name}.png"
            page.screenshot(path=path, animations="disabled")
            size = path.stat().st_size
            print(f"{path.name}: {size:,} bytes")
            if size > MAX_BYTES:
                raise SystemExit(f"{path.name} is too large: {size:,} bytes, at most {MAX_BYTES:,}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
