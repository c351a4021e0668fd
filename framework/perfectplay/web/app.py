"""The web application: the JSON API, the page, and the guard in front of both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send

from perfectplay.web.api import ROUTES
from perfectplay.web.bounded import MAX_PROCESSES
from perfectplay.web.library import Library
from perfectplay.web.matches import Sessions
from perfectplay.web.operations import Endpoint, Handler
from perfectplay.web.pages import STATIC, VOCABULARY, read_page, show_page
from perfectplay.web.requests import EMBED, MAX_HEADER_BYTES, RequestGuard, Site
from perfectplay.web.vocabulary import write_module

MAX_CONNECTIONS = 500
"""Above this number requests are answered with 503."""
STOP_SECONDS = 5
"""Requests that are still running so long after SIGTERM are answered with 503."""


def server_options(*, open_to_others: bool) -> dict[str, Any]:
    """Return the limits of `uvicorn.Config`.

    Only the slower h11 limits the size of headers, so it is used where strangers can connect.
    """
    return {
        "http": "h11" if open_to_others else "httptools",
        "ws": "none",
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
) -> RequestGuard:
    """Return the ASGI application, which closes the library when the server stops.

    `hosts` are the names of this server (None: any name). With `may_solve`, games can be solved from the page.
    `framers` are the sites whose pages may embed a board.
    """

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        yield
        library.close()

    site = Site(
        library=library,
        sessions=Sessions(),
        page=read_page(),
        may_solve=may_solve,
        open_to_others=open_to_others,
        process_slots=asyncio.Semaphore(MAX_PROCESSES),
    )
    router = Router(_routes(), default=_find_nothing, lifespan=lifespan)
    return RequestGuard(router, site, hosts=hosts, framers=framers)


def _routes() -> list[BaseRoute]:
    """Return all routes in the order in which they are tried."""

    def get(path: str, show: Handler) -> Route:
        return Route(path, Endpoint({"GET": show}))

    return [
        *ROUTES,
        get(VOCABULARY, _show_vocabulary),
        Mount("/static", StaticFiles(directory=STATIC)),
        get("/favicon.ico", _show_icon),
        get("/", show_page),
        get(f"{EMBED}{{game}}", show_page),
        get("/{game}", show_page),
    ]


async def _find_nothing(scope: Scope, receive: Receive, send: Send) -> None:
    raise HTTPException(404)
