"""The API's operations: one description of each gives its route, reads its input and generates the OpenAPI document."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from perfectplay.web.answers import Answer, Error
from perfectplay.web.requests import MAX_BODY, NoInput, read_body, read_query

DESCRIPTION = "Solved board games: for every position, who wins and in how many moves."

_REFERENCE = "#/components/schemas/{name}"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. The handler gets the request and its input: the query of a GET, the body of a POST."""

    method: str
    path: str
    summary: str
    handler: Callable[[Request, Any], Awaitable[Response]]
    answer: Any
    """The type of the answer, as msgspec encodes it."""
    input: type[Struct] = NoInput
    max_body: int = MAX_BODY
    """Bytes."""
    status: int = 200

    async def handle(self, request: Request) -> Response:
        if self.method != "POST":
            return await self.handler(request, read_query(request, self.input))
        read_query(request, NoInput)
        return await self.handler(request, await read_body(request, self.input, self.max_body))


def make_routes(operations: Iterable[Operation]) -> list[Route]:
    """Return one route per path, so that a wrong method is answered with all the right ones."""
    return [_make_route(path, list(group)) for path, group in groupby(operations, key=lambda each: each.path)]


def _make_route(path: str, operations: Sequence[Operation]) -> Route:
    handlers = {operation.method: operation.handle for operation in operations}
    if "GET" in handlers:
        handlers["HEAD"] = handlers["GET"]

    async def endpoint(request: Request) -> Response:
        return await handlers[request.method](request)

    return Route(path, endpoint, methods=list(handlers))


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


def describe(operations: Sequence[Operation], games: Sequence[str] = ()) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document; `games` are the possible values of `{game}` under /api."""
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
        item = paths.setdefault(operation.path, _describe_path(operation.path, games))
        item[operation.method.lower()] = _describe_operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "perfectplay", "version": version("perfectplay"), "description": DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components},
    }


def _describe_path(path: str, games: Sequence[str]) -> dict[str, Any]:
    parameters = []
    for name in ("game", "variant"):
        if f"{{{name}}}" in path:
            schema: dict[str, Any] = {"type": "string", "minLength": 1}
            if name == "game" and games and path.startswith("/api/"):
                schema["enum"] = list(games)
            parameters.append({"name": name, "in": "path", "required": True, "schema": schema})
    return {"parameters": parameters} if parameters else {}


def _describe_operation(operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {"summary": operation.summary}
    if operation.method == "POST":
        required = bool(operation.input.__struct_fields__)
        described["requestBody"] = {"required": required, "content": _as_json(schemas[operation.input])}
    elif operation.input.__struct_fields__:
        described["parameters"] = _describe_parameters(operation.input)
    described["responses"] = {
        str(operation.status): {"description": "The answer.", "content": _as_json(schemas[operation.answer])},
        "default": {"description": "Refused, with the reason.", "content": _as_json(schemas[Error])},
    }
    return described


def _describe_parameters(query: type[Struct]) -> list[dict[str, Any]]:
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
