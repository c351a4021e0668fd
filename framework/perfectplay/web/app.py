"""The web application: the JSON API, the page, and the guard in front of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from perfectplay.web.api import ROUTES
from perfectplay.web.bounded import MAX_PROCESSES
from perfectplay.web.library import Library
from perfectplay.web.matches import Sessions
from perfectplay.web.pages import STATIC, VOCABULARY, read_page, show_page
from perfectplay.web.requests import EMBED, ERROR_HANDLERS, MAX_HEADER_BYTES, RequestGuard
from perfectplay.web.vocabulary import write_module

MAX_CONNECTIONS = 500
"""Above this number requests are answered with 503."""
STOP_SECONDS = 5
"""Requests that are still running so long after SIGTERM are answered with 503."""
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
        "timeout_graceful_shutdown": STOP_SECONDS,
    }


async def _show_icon(request: Request) -> Response:
    return FileResponse(STATIC / "icon.svg")


async def _show_vocabulary(request: Request) -> Response:
    return Response(write_module(), media_type="text/javascript")


def make_app(
    library: Library,
    *,
    hosts: Collection[str] | None = None,
    open_to_others: bool = False,
    may_solve: bool = True,
    framers: Collection[str] = (),
) -> Starlette:
    """Return the ASGI application, which closes the library when the server stops.

    `hosts` are the names of this server (None: any name). With `may_solve`, games can be solved from the page.
    `framers` are the sites whose pages may embed a board.
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
            Route("/", show_page),
            Route(f"{EMBED}{{game}}", show_page),
            Route("/{game}", show_page),
        ],
        middleware=[
            Middleware(RequestGuard, hosts=hosts, open_to_others=open_to_others, framers=framers),
            Middleware(GZipMiddleware, minimum_size=MIN_COMPRESSED_BYTES, compresslevel=6),
        ],
        exception_handlers=ERROR_HANDLERS,
        lifespan=lifespan,
    )
    app.state.library = library
    app.state.page = read_page()
    app.state.sessions = Sessions()
    app.state.may_solve = may_solve
    app.state.open_to_others = open_to_others
    app.state.process_slots = asyncio.Semaphore(MAX_PROCESSES)
    return app
