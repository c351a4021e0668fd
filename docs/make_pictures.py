"""Takes the screenshots in docs/images/ of the real page in a real browser.

    python docs/make_pictures.py [--dir TABLES]

Needs tables of Gobblet, Connect Four and six men's morris, the `dev` extra (Pillow comes with its matplotlib),
and Chromium (Debian's `chromium` package).
"""

from __future__ import annotations

import argparse
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from perfectplay import load_game
from perfectplay.table.locations import table_directory
from perfectplay.web.app import make_app
from perfectplay.web.library import Library

IMAGES = Path(__file__).parent / "images"
MAX_BYTES = 150_000
"""Maximum size in bytes, because the pictures are in the repository."""

MOVES = ["S(0,0)", "L(1,2)", "S(2,0)", "M(2,0)", "L(0,2)", "M(0,0)", "L(1,1)"]

SCREENS = {
    # name: link, place to select, width, height, scheme
    "page": (f"gobblet?moves={'+'.join(MOVES)}", "(1,2)", 1280, 860, "light"),
    "page-dark": ("connect4?moves=b+b+c+c+b+d", None, 1280, 860, "dark"),
    "page-narrow": ("morris?moves=c2+b3+c4+d3+a5+e1", None, 400, 860, "light"),
}


@contextmanager
def served(directory: Path) -> Iterator[str]:
    library = Library(directory, [load_game(name) for name in ("gobblet", "connect4", "morris")])
    server = uvicorn.Server(uvicorn.Config(make_app(library), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def show(page: Page, link: str, selected: str | None) -> None:
    """Open a game and select a piece."""
    page.goto(link)
    page.wait_for_selector("#history li:nth-child(5)")
    if selected:
        page.click(f'[data-place="{selected}"]')
    page.mouse.move(0, 0)
    page.wait_for_load_state("networkidle")  # the best line has arrived


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the page.")
    parser.add_argument("--dir", type=Path, default=table_directory(), help="directory of the tables")
    directory = parser.parse_args().dir
    IMAGES.mkdir(exist_ok=True)
    with served(directory) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, (link, selected, width, height, scheme) in SCREENS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            show(page, f"{address}/{link}", selected)
            path = IMAGES / f"{name}.png"
            picture = Image.open(BytesIO(page.screenshot(animations="disabled")))
            picture.quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
            size = path.stat().st_size
            print(f"{path.name}: {size:,} bytes")
            if size > MAX_BYTES:
                raise SystemExit(f"{path.name} is too large: {size:,} bytes, at most {MAX_BYTES:,}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
