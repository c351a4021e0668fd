"""The JSON interface described in OpenAPI 3.1: for programs, for people, and for the tests that hold us to it."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import Any

from perfectplay.web import gamesman_openapi
from perfectplay.web.schemas import ID, JSON, SCHEMAS, TEXT, exactly, list_of, ref

_WHERE = [
    {
        "name": "position",
        "in": "query",
        "description": "A position in any of the game's notations; without it the session's.",
        "schema": {"type": "string", "maxLength": 1000},
    },
    {"name": "id", "in": "query", "description": "A position by its number.", "schema": ID},
]


def _operation(summary: str, schema: str, *refusals: int, status: int = 200, **more: Any) -> JSON:
    def answer(description: str, name: str) -> JSON:
        return {"description": description, "content": {"application/json": {"schema": ref(name)}}}

    responses = {str(status): answer("The answer.", schema)}
    responses |= {str(code): answer("Refused, with the reason.", "Error") for code in sorted({*refusals})}
    return {"summary": summary, "responses": responses, **more}


def _get(summary: str, schema: str, *refusals: int) -> JSON:
    return _operation(summary, schema, 400, 404, 414, 422, *refusals, parameters=_WHERE)


def _post(summary: str, schema: str, *keys: str, status: int = 200) -> JSON:
    text = {"type": "string", "maxLength": 1000}
    body = {
        "required": bool(keys),
        "content": {"application/json": {"schema": exactly(dict.fromkeys(keys, text))}},
    }
    return _operation(summary, schema, 400, 403, 404, 409, 413, 415, 422, status=status, requestBody=body)


def _parameter(name: str, schema: JSON, description: str) -> JSON:
    return {"name": name, "in": "query", "description": description, "schema": schema}


_SMALL = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_MANY = {**list_of(TEXT), "maxItems": 10_000}
_PROBED = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "oneOf": [
                    exactly({"ids": {**_MANY, "items": ID}}),
                    exactly({"positions": _MANY}),
                ]
            }
        }
    },
}

_GAME_PATHS: dict[str, JSON] = {
    "position": {"get": _get("Everything about a position: board, value, verdict, moves", "Position")},
    "moves/evaluated": {"get": _get("Every legal move with its worth, best first", "EvaluatedMoves", 409)},
    "evaluate": {"get": _get("Who wins, and in how many plies", "Evaluation", 409)},
    "best-move": {"get": _get("A best move", "BestMove", 409)},
    "line": {"get": _get("Perfect play from here to the end", "Line", 409)},
    "moves": {"get": _get("The legal moves", "Moves")},
    "state/export": {"get": _get("The position in every notation", "State")},
    "check": {
        "get": _operation(
            "Whether a text is a position, and if not why",
            "Check",
            400,
            404,
            414,
            422,
            parameters=[{**_WHERE[0], "required": True}],
        )
    },
    "game": {"get": _get("The session's game", "Game")},
    "history": {"get": _operation("The moves of the session's game", "History", 404, 422)},
    "replay": {
        "get": _operation(
            "A whole game by its moves: every position's value, mistakes marked, and all about one of them",
            "Replay",
            400,
            404,
            414,
            422,
            parameters=[
                *_WHERE,
                _parameter("moves", TEXT, "The moves from there, separated by spaces (in a move: _)."),
                _parameter("ply", _SMALL, "Which position to describe, counted in moves; by default the last."),
            ],
        )
    },
    "overview": {"get": _operation("The whole table in numbers", "Overview", 404, 409, 422)},
    "find": {
        "get": _operation(
            "A position found by chance",
            "Found",
            404,
            409,
            422,
            parameters=[
                _parameter(
                    "kind",
                    {"enum": ["any", "win", "loss", "draw", "puzzle"]},
                    "Its outcome; a puzzle has exactly one winning move.",
                ),
                _parameter("remoteness", _SMALL, "Plies to the end."),
                _parameter("seed", _SMALL, "The same seed finds the same position."),
            ],
        )
    },
    "probe": {
        "post": _operation(
            "The values of up to 10,000 positions",
            "Probed",
            400,
            403,
            404,
            409,
            413,
            415,
            422,
            requestBody=_PROBED,
        )
    },
    "move": {"post": _post("Play a move", "Game", "move")},
    "reset": {"post": _post("Begin anew", "Game")},
    "undo": {"post": _post("Take a move back", "Game")},
    "redo": {"post": _post("Play a move again that was taken back", "Game")},
    "state/import": {"post": _post("Begin at a position", "Game", "position")},
    "solve": {
        "get": _operation("How far a solve is, or what it takes", "Solve", 404, 422),
        "post": _post("Solve the game in the background", "Solve", status=202),
        "delete": _operation("Stop the solve", "Solve", 403, 404, 409, 422),
    },
}


def summary() -> JSON:
    """What `/api` says of itself: every path, with what it is for."""
    paths = [
        f"{method.upper()} {path}: {operation['summary']}"
        for path, item in description()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]
    return {"description": _DESCRIPTION, "openapi": "/api/openapi.json", "paths": paths}


_DESCRIPTION = "Solved board games: for every position, who wins and in how many moves."


@lru_cache(maxsize=8)
def description(games: tuple[str, ...] = ()) -> JSON:
    """The whole document; `games` are the names that `{game}` may stand for."""
    name = {"type": "string", "minLength": 1} | ({"enum": list(games)} if games else {})
    game = {"name": "game", "in": "path", "required": True, "schema": name}
    return {
        "openapi": "3.1.0",
        "info": {"title": "perfectplay", "version": version("perfectplay"), "description": _DESCRIPTION},
        "paths": {
            "/api": {"get": _operation("What there is", "Interface", 422)},
            "/api/games": {"get": _operation("All games", "Games", 422)},
            **{f"/api/{{game}}/{path}": {"parameters": [game], **item} for path, item in _GAME_PATHS.items()},
            **gamesman_openapi.PATHS,
        },
        "components": {"schemas": SCHEMAS | gamesman_openapi.SCHEMAS},
    }
