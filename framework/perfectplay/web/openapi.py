"""The JSON interface described in OpenAPI 3.1: for programs, for people, and for the tests that hold us to it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Any

JSON = dict[str, Any]

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_ID = {"type": "string", "pattern": "^[0-9]{1,20}$", "description": "The game's own 64-bit encoding, in decimal."}
_NOTATIONS = {"type": "object", "additionalProperties": _TEXT, "description": "Every notation, by name."}
_VALUE = {
    "outcome": {
        "enum": ["win", "draw", "loss", None],
        "description": "For the side to move (of a move: for its player); null where the table does not know.",
    },
    "remoteness": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Plies to the end under perfect play; null for an endless draw or an unknown value.",
    },
}


def _object(properties: JSON, *, optional: tuple[str, ...] = ()) -> JSON:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: JSON) -> JSON:
    return {"type": "array", "items": items}


def _or_null(schema: JSON) -> JSON:
    return {"anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> JSON:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(kind: str) -> JSON:
    return {"type": [kind, "null"]}


_ABOUT = {"game": _TEXT, "id": _ID}
_RATED = {"move": _TEXT, **_VALUE, "id": _ID, "group": {**_COUNT, "description": "Equal for symmetric moves."}}

SCHEMAS: JSON = {
    "Error": _object({"error": {"type": "string", "description": "One sentence."}}),
    "Piece": _object({"owner": {"enum": [0, 1, None]}, "label": _TEXT, "size": {"type": "number"}, "shape": _TEXT}),
    "Board": _object(
        {
            "rows": _COUNT,
            "columns": _COUNT,
            "cells": _list(_object({"id": _TEXT, "row": _COUNT, "column": _COUNT, "stack": _list(_ref("Piece"))})),
            "to_move": {"enum": [0, 1]},
            "players": {**_list(_TEXT), "minItems": 2, "maxItems": 2},
            "trays": _list(_object({"id": _TEXT, "piece": _ref("Piece"), "count": _COUNT})),
            "blocked": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _TEXT}},
            "warnings": {"type": "object", "additionalProperties": _TEXT},
            "spelling": _or_null(
                _object(
                    {
                        "pieces": _list(_ref("Piece")),
                        "empty": _TEXT,
                        "between_cells": _TEXT,
                        "between_rows": _TEXT,
                        "ending": _list(_TEXT),
                    }
                )
            ),
        }
    ),
    "Result": _object({"winner": _nullable("string"), "text": _TEXT}),
    "Games": _object(
        {
            "games": _list(
                _object(
                    {
                        "name": _TEXT,
                        "state": {"enum": ["ready", "unfinished", "unsolved", "solving", "broken"]},
                        "version": _TEXT,
                        "kind": _TEXT,
                        "start": _ID,
                        "reason": _nullable("string"),
                        "command": _TEXT,
                        "positions": _COUNT,
                        "verdict": _TEXT,
                    },
                    optional=("version", "kind", "start", "reason", "command", "positions", "verdict"),
                )
            )
        }
    ),
    "RatedMove": _object(_RATED),
    "Position": _object(
        {
            **_ABOUT,
            "text": _TEXT,
            "notations": _NOTATIONS,
            "solved": _FLAG,
            **_VALUE,
            "verdict": _TEXT,
            "result": _or_null(_ref("Result")),
            "mover": _TEXT,
            "board": _or_null(_ref("Board")),
            "moves": _list(_object({**_RATED, "source": _nullable("string"), "target": _nullable("string")})),
        }
    ),
    "EvaluatedMoves": _object({**_ABOUT, **_VALUE, "moves": _list(_ref("RatedMove"))}),
    "Evaluation": _object({**_ABOUT, **_VALUE, "verdict": _TEXT}),
    "BestMove": _object({**_ABOUT, **_VALUE, "verdict": _TEXT, "best": _or_null(_ref("RatedMove"))}),
    "Line": _object(
        {**_ABOUT, **_VALUE, "verdict": _TEXT, "line": _list(_object({"move": _TEXT, **_VALUE, "id": _ID}))}
    ),
    "Moves": _object(
        {
            **_ABOUT,
            "moves": _list(_object({"move": _TEXT, "from": _nullable("string"), "to": _nullable("string"), "id": _ID})),
        }
    ),
    "Check": _object({"game": _TEXT, "possible": _FLAG, "reason": _nullable("string"), "id": _or_null(_ID)}),
    "State": _object({**_ABOUT, "text": _TEXT, "notations": _NOTATIONS}),
    "Game": _object(
        {
            **_ABOUT,
            "text": _TEXT,
            "board": _or_null(_ref("Board")),
            "reserves": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _COUNT}},
            "current_player": _TEXT,
            "result": _or_null(_ref("Result")),
            "ply": _COUNT,
            "can_undo": _FLAG,
            "can_redo": _FLAG,
        }
    ),
    "History": _object(
        {
            "game": _TEXT,
            "start": _ID,
            "moves": _list(_object({"ply": _COUNT, "move": _TEXT, "id": _ID, **_VALUE, "changed_outcome": _FLAG})),
            "undone": _list(_TEXT),
        }
    ),
    "Solve": _object(
        {
            "state": {"enum": ["unsolved", "solving", "done", "failed"]},
            "command": _TEXT,
            "phase": _TEXT,
            "fraction": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "text": _TEXT,
            "error": _nullable("string"),
        },
        optional=("command", "phase", "fraction", "text", "error"),
    ),
}

_GAME = {"name": "game", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
_WHERE = [
    {
        "name": "position",
        "in": "query",
        "description": "A position in any of the game's notations; without it the session's.",
        "schema": {"type": "string", "maxLength": 1000},
    },
    {"name": "id", "in": "query", "description": "A position by its number.", "schema": _ID},
]


def _operation(summary: str, schema: str, *refusals: int, status: int = 200, **more: Any) -> JSON:
    def answer(description: str, name: str) -> JSON:
        return {"description": description, "content": {"application/json": {"schema": _ref(name)}}}

    responses = {str(status): answer("The answer.", schema)}
    responses |= {str(code): answer("Refused, with the reason.", "Error") for code in sorted({*refusals})}
    return {"summary": summary, "responses": responses, **more}


def _get(summary: str, schema: str, *refusals: int) -> JSON:
    return _operation(summary, schema, 400, 404, 414, *refusals, parameters=_WHERE)


def _post(summary: str, schema: str, *keys: str, status: int = 200) -> JSON:
    text = {"type": "string", "maxLength": 1000}
    body = {
        "required": bool(keys),
        "content": {"application/json": {"schema": _object(dict.fromkeys(keys, text))}},
    }
    return _operation(summary, schema, 400, 403, 404, 409, 413, 415, status=status, requestBody=body)


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
            parameters=[{**_WHERE[0], "required": True}],
        )
    },
    "game": {"get": _get("The session's game", "Game")},
    "history": {"get": _operation("The moves of the session's game", "History", 404)},
    "move": {"post": _post("Play a move", "Game", "move")},
    "reset": {"post": _post("Begin anew", "Game")},
    "undo": {"post": _post("Take a move back", "Game")},
    "redo": {"post": _post("Play a move again that was taken back", "Game")},
    "state/import": {"post": _post("Begin at a position", "Game", "position")},
    "solve": {
        "get": _operation("How far a solve is", "Solve", 404),
        "post": _post("Solve the game in the background", "Solve", status=202),
        "delete": _operation("Stop the solve", "Solve", 403, 404, 409),
    },
}


@cache
def description() -> JSON:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "perfectplay",
            "version": version("perfectplay"),
            "description": "Solved board games: for every position, who wins and in how many moves.",
        },
        "paths": {
            "/api/games": {"get": _operation("All games", "Games")},
            **{f"/api/{{game}}/{path}": {"parameters": [_GAME], **item} for path, item in _GAME_PATHS.items()},
        },
        "components": {"schemas": SCHEMAS},
    }
