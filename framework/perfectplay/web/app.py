"""The web application: the JSON API, the page, and the guard in front of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from perfectplay.web.api import ROUTES
from perfectplay.web.bounded import MAX_PROCESSES, BoundedError
from perfectplay.web.library import Library
from perfectplay.web.matches import Sessions
from perfectplay.web.requests import ERROR_HANDLERS, MAX_HEADER_BYTES, Refusal, RequestGuard, find_game
from perfectplay.web.vocabulary import write_module

STATIC = Path(__file__).parent / "static"
VOCABULARY = "/static/vocabulary.js"

LATER = ("editor.js", "explore.js", "games.js", "motion.js", "summary.js")
"""Modules that the page loads when they are first needed."""

MAX_CONNECTIONS = 500
"""Above this number requests are answered with 503."""
MIN_COMPRESSED_BYTES = 500
"""Shorter answers are not compressed."""


def server_options(*, open_to_others: bool) -> dict[str, Any]:
    """Return the limits of `uvicorn.Config`.

    Only the slower h11 limits the size of headers, so it is used where strangers can connect.
    """
    return {
        "http": "h11" if open_to_others else "httptools",
        "h11_max_incomplete_event_size": MAX_HEADER_BYTES,
        "limit_concurrency": MAX_CONNECTIONS,
        "timeout_keep_alive": 30,
        "timeout_graceful_shutdown": 2,
    }


async def _show_icon(request: Request) -> Response:
    return FileResponse(STATIC / "icon.svg")


async def _show_vocabulary(request: Request) -> Response:
    return Response(write_module(), media_type="text/javascript")


def _first_game(library: Library) -> str | None:
    """Return the game shown without a path: a solved one if there is one."""
    solved = (name for name, served in library.games.items() if served.find_table() is not None)
    return next(solved, next(iter(library.games), None))


async def _show_page(request: Request) -> Response:
    """Return a game's page. Its head names everything that the page will request, so that it all loads at once."""
    library: Library = request.app.state.library
    requested = request.path_params.get("game")
    try:
        name = _first_game(library) if requested is None else (await find_game(request)).game.identity
    except (Refusal, BoundedError) as refusal:
        return _show_not_found(library, refusal)
    if name is not None and requested not in (None, name):  # default options were omitted
        return RedirectResponse(request.url.replace(scheme="", netloc="", path=_path(name)))
    page: str = request.app.state.page
    return HTMLResponse(page.replace("<!-- preloads -->", _preload_data(name, with_replay=not request.url.query)))


def _path(name: str) -> str:
    return f"/{quote(name, safe='=')}"


def _preload_modules() -> str:
    scripts = [f"/static/{path.name}" for path in sorted(STATIC.glob("*.js")) if path.name not in LATER]
    return "\n    ".join(f'<link rel="modulepreload" href="{script}">' for script in [*scripts, VOCABULARY])


def _preload_data(name: str | None, *, with_replay: bool) -> str:
    paths = ["/api/games"]
    lines = []
    if name is not None:
        lines.append(f'<meta name="game" content="{escape(name)}">')
        if with_replay:
            paths.append(f"/api{_path(name)}/replay?ply=0")  # exactly as static/api.js requests it
    lines += [f'<link rel="preload" as="fetch" crossorigin href="{escape(path)}">' for path in paths]
    return "\n    ".join(lines)


def _show_not_found(library: Library, refusal: Refusal | BoundedError) -> Response:
    reason = str(refusal)
    items = "".join(f'<li><a href="{_path(name)}">{escape(name)}</a></li>' for name in library.games)
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Not found</title>'
        '<link rel="stylesheet" href="/static/colours.css"><link rel="stylesheet" href="/static/style.css">'
        '</head><body class="plain"><main>'
        f"<h1>Not found</h1><p>{escape(reason[:1].upper() + reason[1:])}.</p><p>Available games:</p><ul>{items}</ul>"
        '<p>The JSON API is described at <a href="/api">/api</a>.</p></main></body></html>',
        refusal.status,
    )


def make_app(
    library: Library, *, hosts: Collection[str] | None = None, open_to_others: bool = False, may_solve: bool = True
) -> Starlette:
    """Return the ASGI application, which closes the library when the server stops.

    `hosts` are the names of this server (None: any name). With `may_solve`, games can be solved from the page.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        library.close()

    app = Starlette(
        routes=[
            *ROUTES,
            Route(VOCABULARY, _show_vocabulary),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/favicon.ico", _show_icon),
            Route("/", _show_page),
            Route("/{game}", _show_page),
        ],
        middleware=[
            Middleware(RequestGuard, hosts=hosts, open_to_others=open_to_others),
            Middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=6),
        ],
        exception_handlers=ERROR_HANDLERS,
        lifespan=lifespan,
    )
    app.state.library = library
    app.state.page = (STATIC / "index.html").read_text(encoding="utf-8").replace("<!-- modules -->", _preload_modules())
    app.state.sessions = Sessions()
    app.state.may_solve = may_solve
    app.state.open_to_others = open_to_others
    app.state.process_slots = asyncio.Semaphore(MAX_PROCESSES)
    return app
