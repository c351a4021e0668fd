"""Puts the server together: the JSON interface, the page, and the guard before both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from perfectplay.web.api import ROUTES
from perfectplay.web.library import Library
from perfectplay.web.request_guard import Guard
from perfectplay.web.requests import HANDLERS
from perfectplay.web.sessions import Sessions

STATIC = Path(__file__).parent / "static"


class _Files(StaticFiles):
    """The page's files: asked for anew after an upgrade, unchanged ones answered with 304."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "no-cache"
        return response


async def _page(request: Request) -> Response:
    return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})


def make_app(library: Library, *, hosts: Collection[str] | None = None, may_solve: bool = True) -> Starlette:
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
            Mount("/static", _Files(directory=STATIC)),
            Route("/favicon.ico", lambda request: FileResponse(STATIC / "icon.svg")),
            Route("/", _page),
            Route("/{game}", _page),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers=HANDLERS,
        lifespan=lifespan,
    )
    app.state.library = library
    app.state.sessions = Sessions()
    app.state.may_solve = may_solve
    return app
