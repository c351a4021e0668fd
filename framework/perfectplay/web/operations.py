"""The API's operations: one description of each gives its route, reads its input and generates the OpenAPI document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from perfectplay.web.answers import Answer, Error
from perfectplay.web.requests import MAX_BODY, NoInput, read_body, read_query

DESCRIPTION = "Solved board games: for every position, who wins and in how many moves."

_REFERENCE = "#/components/schemas/{name}"


TAGS = {
    "positions": "Positions, their values and moves.",
    "games": "All games, and whole games by their moves.",
    "tables": "Whole tables.",
    "session": "The game of one browser, identified by a cookie.",
    "solving": "Making a table in the background.",
    "about": "The API itself.",
    "uwapi": "GamesCrafters' universal web API.",
}
"""The groups of operations, in the order of the readable description."""
_OWN_TAGS = ("session", "solving")
"""Only the server's own page and programs may read these."""
CORS = {"access-control-allow-origin": "*"}
"""Lets pages of other sites read an answer. They cannot send cookies with it."""
_CORS = [(name.encode(), value.encode()) for name, value in CORS.items()]
_PREFLIGHT = {
    **CORS,
    "access-control-allow-methods": "GET, HEAD",
    "access-control-allow-headers": "*",
    "access-control-max-age": "86400",
}

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. The handler gets the request and its input: the query of a GET, the body of a POST."""

    method: str
    path: str
    id: str
    """The `operationId`, from which generated clients make the name of a function. It never changes."""
    tag: str
    summary: str
    handler: Callable[[Request, Any], Awaitable[Response]]
    answer: Any
    """The type of the answer, as msgspec encodes it."""
    input: type[Struct] = NoInput
    media_type: str = "application/json"
    max_body: int = MAX_BODY
    """Bytes."""
    status: int = 200

    async def handle(self, request: Request) -> Response:
        if self.method != "POST":
            answer = await self.handler(request, read_query(request, self.input))
            if self.is_shared:
                answer.raw_headers += _CORS
            return answer
        read_query(request, NoInput)
        return await self.handler(request, await read_body(request, self.input, self.max_body))

    @property
    def is_shared(self) -> bool:
        """Whether pages of other sites may read the answer, because it changes nothing and is about no session."""
        return self.method == "GET" and self.tag not in _OWN_TAGS


def make_routes(operations: Iterable[Operation]) -> list[Route]:
    """Return one route per path, so that a wrong method is answered with all the right ones."""
    return [_make_route(path, list(group)) for path, group in groupby(operations, key=lambda each: each.path)]


def _make_route(path: str, operations: Sequence[Operation]) -> Route:
    handlers: dict[str, Handler] = {operation.method: operation.handle for operation in operations}
    if any(operation.is_shared for operation in operations):
        handlers["OPTIONS"] = _answer_preflight
    return Route(path, Endpoint(handlers))


class Endpoint:
    """The handlers of a path by method, as an ASGI app.

    Starlette would wrap a function in another layer, and answer a wrong method with plain text.
    """

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = dict(handlers)
        if "GET" in handlers:
            self.handlers["HEAD"] = handlers["GET"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        handler = self.handlers.get(scope["method"])
        if handler is None:
            raise HTTPException(405, headers={"allow": ", ".join(self.handlers)})
        answer = await handler(request)
        await answer(scope, receive, send)


async def _answer_preflight(request: Request) -> Response:
    """Answer a browser that asks whether a page of another site may read something here."""
    return Response(status_code=204, headers=_PREFLIGHT)


# ---- the description ----


class Interface(Answer):
    """A summary of the API."""

    description: str
    openapi: str
    paths: list[str]


def summarize(operations: Iterable[Operation]) -> Interface:
    """Return every operation in one line."""
    lines = [f"{operation.method} {operation.path}: {operation.summary}" for operation in operations]
    return Interface(DESCRIPTION, "/api/openapi.json", lines)


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document. It is the same whatever is solved, so generated clients stay valid."""
    types: list[Any] = [Error]
    for operation in operations:
        types.append(operation.answer)
        if operation.method == "POST":
            types.append(operation.input)
    unique = list(dict.fromkeys(types))
    references, components = msgspec.json.schema_components(unique, ref_template=_REFERENCE)
    schemas = dict(zip(unique, references, strict=True))
    paths: dict[str, Any] = {}
    for operation in operations:
        item = paths.setdefault(operation.path, _describe_path(operation.path))
        item[operation.method.lower()] = _describe_operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "perfectplay", "version": version("perfectplay"), "description": DESCRIPTION},
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        "paths": paths,
        "components": {"schemas": components},
    }


def _describe_path(path: str) -> dict[str, Any]:
    """Return the parameters in a path. `/api/games` lists the names of games, which change with every solve."""
    descriptions = {"game": "A name from /api/games.", "variant": "An id from /uwapi/{game}/."}
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": text,
            "schema": {"type": "string", "minLength": 1},
        }
        for name, text in descriptions.items()
        if f"{{{name}}}" in path
    ]
    return {"parameters": parameters} if parameters else {}


def _describe_operation(operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
    }
    if operation.method == "POST":
        required = bool(operation.input.__struct_fields__)
        described["requestBody"] = {"required": required, "content": _as_json(schemas[operation.input])}
    elif parameters := describe_parameters(operation.input):
        described["parameters"] = parameters
    content = {operation.media_type: {"schema": schemas[operation.answer]}}
    described["responses"] = {
        str(operation.status): {"description": "The answer.", "content": content},
        "405": {"description": "Another method; see Allow.", "content": _as_json(schemas[Error])},
        "429": {"description": "Too many requests; see Retry-After.", "content": _as_json(schemas[Error])},
        "default": {"description": "Refused, with the reason.", "content": _as_json(schemas[Error])},
    }
    return described


def describe_parameters(query: type[Struct]) -> list[dict[str, Any]]:
    """Return the OpenAPI description of a query's parameters."""
    if not query.__struct_fields__:
        return []
    schema = msgspec.json.schema(query)["$defs"][query.__name__]
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema["required"],
            "description": content.pop("description", ""),
            "schema": content,
        }
        for name, content in schema["properties"].items()
    ]


def _as_json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
