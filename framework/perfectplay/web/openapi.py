"""The JSON interface described in OpenAPI 3.1: for programs, for people, and for the tests that hold us to it."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import Any

JSON = dict[str, Any]

_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
_ID = {"type": "string", "pattern": "^[0-9]{1,20}$", "description": "The game's own 64-bit encoding, in decimal."}
_NOTATIONS = {"type": "object", "additionalProperties": _TEXT, "description": "Every notation, by name."}
_VALUE: JSON = {
    "outcome": {
        "enum": ["win", "draw", "loss", None],
        "description": "For the side to move (of a move: for its player); null where the table does not know.",
    },
    "remoteness": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Plies to the end under perfect play; null for an endless draw or an unknown value.",
    },
    "score": {"type": "integer", "description": "By how much it is won, where the game has scores; negative: lost."},
}


def _object(properties: JSON, *, required: tuple[str, ...] | None = None) -> JSON:
    """An object of exactly these properties; all of them required, if not said otherwise, but for a score."""
    needed = [name for name in (properties if required is None else required) if name != "score"]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _list(items: JSON) -> JSON:
    return {"type": "array", "items": items}


def _or_null(schema: JSON) -> JSON:
    return {"anyOf": [schema, {"type": "null"}]}


def _ref(name: str) -> JSON:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(kind: str) -> JSON:
    return {"type": [kind, "null"]}


_NUMBER = {"type": "number"}
_PLAYERS = {**_list(_TEXT), "minItems": 1, "maxItems": 2}
_TO_MOVE = {"enum": [0, 1, None], "description": "Who is to move, 0 being who begins; null where nobody knows."}
_ABOUT = {"game": _TEXT, "id": _ID}
_RATED = {"move": _TEXT, **_VALUE, "id": _ID, "group": {**_COUNT, "description": "Equal for symmetric moves."}}

_JUDGED = {
    "mark": {
        "enum": ["", "?!", "?", "??"],
        "description": "?! a longer way, ? or ?? a score or an outcome given away.",
    },
    "comment": _TEXT,
}

SCHEMAS: JSON = {
    "Error": _object({"error": {"type": "string", "description": "One sentence."}}),
    "Piece": _object({"owner": {"enum": [0, 1, None]}, "label": _TEXT, "size": {"type": "number"}, "shape": _TEXT}),
    "Board": _object(
        {
            "rows": _NUMBER,
            "columns": _NUMBER,
            "cells": _list(
                _object({"id": _TEXT, "row": _NUMBER, "column": _NUMBER, "label": _TEXT, "stack": _list(_ref("Piece"))})
            ),
            "to_move": {"enum": [0, 1]},
            "players": _PLAYERS,
            "colours": {**_list(_TEXT), "minItems": 2, "maxItems": 2},
            "edges": _list(_list(_TEXT)),
            "zones": _list(_list(_TEXT)),
            "highlight": _list(_TEXT),
            "row_labels": _list(_TEXT),
            "column_labels": _list(_TEXT),
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
                        "state": {"enum": ["ready", "unfinished", "unsolved", "solving", "damaged", "broken"]},
                        "title": _TEXT,
                        "rules": _TEXT,
                        "family": {**_TEXT, "description": "The game's name, without its options."},
                        "version": _TEXT,
                        "kind": _TEXT,
                        "start": _ID,
                        "players": _PLAYERS,
                        "variant": {"type": "object", "description": "The value of every option."},
                        "options": _list(_ref("Option")),
                        "reason": _nullable("string"),
                        "command": _TEXT,
                        "positions": _COUNT,
                        "verdict": _TEXT,
                    },
                    required=("name", "state", "reason"),
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
            "to_move": _TO_MOVE,
            "players": _PLAYERS,
            "board": _or_null(_ref("Board")),
            "board_problem": {**_nullable("string"), "description": "Why the plugin's board cannot be drawn."},
            "moves": _list(
                _object(
                    {
                        **_RATED,
                        "source": _nullable("string"),
                        "target": {**_nullable("string"), "description": "null: a button beside the board."},
                        "label": _TEXT,
                    }
                )
            ),
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
            "moves": _list(
                _object({"ply": _COUNT, "move": _TEXT, "id": _ID, **_VALUE, "changed_outcome": _FLAG, **_JUDGED})
            ),
            "undone": _list(_TEXT),
        }
    ),
    "Replay": _object(
        {
            "game": _TEXT,
            "ply": _COUNT,
            "timeline": _list(
                _object(
                    {
                        "id": _ID,
                        "to_move": _TO_MOVE,
                        **_VALUE,
                        "verdict": _TEXT,
                        "move": {**_nullable("string"), "description": "The move that led here."},
                        **_JUDGED,
                        "alternatives": _list(_object({"move": _TEXT, **_VALUE})),
                    }
                )
            ),
            "occurrences": {**_COUNT, "description": "How often the position has stood on the board."},
            "result": _or_null(_ref("Result")),
            "last": _or_null(_object({"source": _nullable("string"), "target": _nullable("string")})),
            "position": _ref("Position"),
        }
    ),
    "Overview": _object(
        {
            "game": _TEXT,
            "complete": _FLAG,
            "positions": _COUNT,
            "wins": _COUNT,
            "losses": _COUNT,
            "ties": _COUNT,
            "endless": _COUNT,
            "bytes": _COUNT,
            "moves": {"type": ["number", "null"], "description": "Moves of a position, on average."},
            "histogram": _list(_object({"remoteness": _COUNT, "wins": _COUNT, "losses": _COUNT, "ties": _COUNT})),
            "longest": _list(_ref("Found")),
        }
    ),
    "Found": _object({"id": _ID, "text": _TEXT, **_VALUE, "verdict": _TEXT}),
    "Probed": _object(
        {
            "game": _TEXT,
            "outcomes": _list(_VALUE["outcome"]),
            "remoteness": _list(_VALUE["remoteness"]),
            "scores": {**_list(_nullable("integer")), "description": "Only of a game with scores."},
        },
        required=("game", "outcomes", "remoteness"),
    ),
    "Interface": _object({"description": _TEXT, "openapi": _TEXT, "paths": _list(_TEXT)}),
    "Option": _object(
        {
            "name": _TEXT,
            "default": {"type": ["integer", "boolean", "string"]},
            "help": _TEXT,
            "minimum": _nullable("integer"),
            "maximum": _nullable("integer"),
            "choices": _list(_TEXT),
        }
    ),
    "Solve": _object(
        {
            "state": {"enum": ["unsolved", "solving", "done", "failed", "damaged"]},
            "command": _TEXT,
            "estimate": {**_nullable("string"), "description": "What a solve takes."},
            "phase": _TEXT,
            "fraction": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "text": _TEXT,
            "error": _nullable("string"),
        },
        required=("state",),
    ),
}

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
    return _operation(summary, schema, 400, 404, 414, 422, *refusals, parameters=_WHERE)


def _post(summary: str, schema: str, *keys: str, status: int = 200) -> JSON:
    text = {"type": "string", "maxLength": 1000}
    body = {
        "required": bool(keys),
        "content": {"application/json": {"schema": _object(dict.fromkeys(keys, text))}},
    }
    return _operation(summary, schema, 400, 403, 404, 409, 413, 415, 422, status=status, requestBody=body)


def _parameter(name: str, schema: JSON, description: str) -> JSON:
    return {"name": name, "in": "query", "description": description, "schema": schema}


_SMALL = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_MANY = {**_list(_TEXT), "maxItems": 10_000}
_PROBED = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {
                "oneOf": [
                    _object({"ids": {**_MANY, "items": _ID}}),
                    _object({"positions": _MANY}),
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
                _parameter("moves", _TEXT, "The moves from there, separated by spaces (in a move: _)."),
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
        },
        "components": {"schemas": SCHEMAS},
    }
