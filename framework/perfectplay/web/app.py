"""Puts the server together: the JSON interface, the page, and the guard before both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import lru_cache
from html import escape
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from perfectplay.web import gamesman
from perfectplay.web.api import ROUTES
from perfectplay.web.bundle import bundle_scripts, bundle_styles
from perfectplay.web.library import Library
from perfectplay.web.request_guard import Guard
from perfectplay.web.requests import Refusal, served_game
from perfectplay.web.sessions import Sessions
from perfectplay.web.wire import PackedJSON, StaticFile

STATIC = Path(__file__).parent / "static"
STYLES = ("colours.css", "style.css", "board.css", "panels.css")
_PRELOADS = b"<!-- preloads -->"


def _read_files() -> dict[str, StaticFile]:
    """What is served under /static/: everything as it is, and the two bundles that the page uses."""
    sources = {path.name: path.read_bytes() for path in STATIC.iterdir() if path.is_file()}
    texts = {name: body.decode() for name, body in sources.items()}
    modules = {name.removesuffix(".js"): text for name, text in texts.items() if name.endswith(".js")}
    sources["page.js"] = bundle_scripts(modules, "main").encode()
    sources["page.css"] = bundle_styles(*(texts[name] for name in STYLES)).encode()
    return {name: StaticFile(name, body) for name, body in sources.items()}


async def _file(request: Request) -> Response:
    found = request.app.state.files.get(request.path_params.get("name", "icon.svg"))
    if found is None:
        raise Refusal(404, "there is no such file")
    answer: Response = found.answer(request)
    return answer


def _first_game(library: Library) -> str | None:
    """The game that the bare address shows: one that is solved, if there is one."""
    solved = (name for name, served in library.games.items() if served.find_table() is not None)
    return next(solved, next(iter(library.games), None))


async def _page(request: Request) -> Response:
    """The page of a game. All it will ask for stands in its head, so that nothing is waited for in turn."""
    library: Library = request.app.state.library
    asked = request.path_params.get("game")
    try:
        name = _first_game(library) if asked is None else served_game(request).game.identity
    except Refusal as refusal:
        return _no_such_page(library, str(refusal))
    if name is not None and asked not in (None, name):  # a variant by less than its whole name
        return RedirectResponse(request.url.replace(scheme="", netloc="", path=f"/{quote(name, safe='=')}"))
    links = []
    wanted = ["/api/games"]
    if name is not None:
        links.append(f'<meta name="game" content="{escape(name)}">')
        if not request.url.query:
            wanted.append(f"/api/{quote(name, safe='=')}/replay")
    links += [f'<link rel="preload" as="fetch" crossorigin href="{escape(path)}">' for path in wanted]
    return _page_with(request.app.state.files["index.html"], "\n  ".join(links)).answer(request)


@lru_cache(maxsize=100)
def _page_with(page: StaticFile, links: str) -> StaticFile:
    """The page with these links in its head: packed once, for everybody who opens the game."""
    return StaticFile("index.html", page.body.replace(_PRELOADS, links.encode()))


def _no_such_page(library: Library, reason: str) -> Response:
    items = "".join(f'<li><a href="/{quote(name, safe="=")}">{escape(name)}</a></li>' for name in library.games)
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not found</title>'
        '<link rel="stylesheet" href="/static/page.css"></head><body class="plain"><main>'
        f"<h1>Not found</h1><p>{escape(reason[:1].upper() + reason[1:])}.</p><p>There are:</p><ul>{items}</ul>"
        '<p>Programs find the JSON interface under <a href="/api">/api</a>.</p></main></body></html>',
        404,
    )


def make_app(
    library: Library, *, hosts: Collection[str] | None = None, open_to_others: bool = False, may_solve: bool = True
) -> Starlette:
    """The ASGI application. `hosts` are the names it answers to (None: any); `may_solve` allows to solve from the page.

    It closes the library when the server stops.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        library.close()

    app = Starlette(
        routes=[
            *ROUTES,
            *gamesman.ROUTES,
            Route("/static/{name}", _file),
            Route("/favicon.ico", _file),
            Route("/", _page),
            Route("/{game}", _page),
        ],
        lifespan=lifespan,
    )
    # Not Starlette's own stack, which has two layers for errors: the guard answers them all.
    app.middleware_stack = Guard(PackedJSON(app.router), hosts=hosts, open_to_others=open_to_others)
    app.state.library = library
    app.state.files = _read_files()
    app.state.sessions = Sessions()
    app.state.may_solve = may_solve
    return app
