"""The universal web API of gamesman.py as OpenAPI describes it; openapi.py makes it part of the whole."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

_TEXT = {"type": "string"}
_VALUE = {"enum": ["win", "tie", "draw", "lose", "unsolved"]}
_FACTS: JSON = {
    "position": _TEXT,
    "autoguiPosition": _TEXT,
    "positionValue": _VALUE,
    "remoteness": {"type": "integer", "description": "Plies to the end; -200 where there is none, or nobody knows."},
    "winby": {"type": "integer", "description": "By how much the side to move wins, where the game has scores."},
}


def _object(properties: JSON) -> JSON:
    required = [name for name in properties if name != "winby"]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _list(items: JSON) -> JSON:
    return {"type": "array", "items": items}


_GAME = {"id": _TEXT, "name": _TEXT}
_NAMED = {**_GAME, "gui": _TEXT}
_MOVE = {
    "move": _TEXT,
    "autoguiMove": _TEXT,
    **_FACTS,
    "moveValue": {**_VALUE, "description": "What it is worth to its player."},
    "deltaRemoteness": {"type": "integer"},
}

SCHEMAS: JSON = {
    "UwapiGames": _list(_object({**_NAMED, "type": {"enum": ["onePlayer", "twoPlayer"]}})),
    "UwapiGame": _object(
        {
            **_GAME,
            "variants": _list(_object(_NAMED)),
            "allowCustomVariantCreation": {"type": "boolean"},
            "supportsWinBy": {"type": "boolean"},
        }
    ),
    "UwapiVariant": _object(
        {**_NAMED, "startPosition": _TEXT, "autoguiStartPosition": _TEXT, "imageAutoGUIData": {"type": "object"}}
    ),
    "UwapiPosition": _object({**_FACTS, "moves": _list(_object(_MOVE))}),
    "UwapiInstructions": _object({"instructions": _TEXT}),
}


def _get(summary: str, schema: str, *refusals: int, **more: Any) -> JSON:
    def answer(description: str, name: str) -> JSON:
        return {
            "description": description,
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}},
        }

    responses = {"200": answer("The answer.", schema)}
    responses |= {str(code): answer("Refused, with the reason.", "Error") for code in refusals}
    return {"summary": f"GamesCrafters' universal web API: {summary}", "responses": responses, **more}


def _within(*names: str) -> list[JSON]:
    return [{"name": name, "in": "path", "required": True, "schema": {**_TEXT, "minLength": 1}} for name in names]


_POSITION = {
    "name": "p",
    "in": "query",
    "required": True,
    "description": "A position in any of the game's notations.",
    "schema": {**_TEXT, "maxLength": 1000},
}

PATHS: JSON = {
    "/uwapi/": {"get": _get("all games", "UwapiGames")},
    "/uwapi/{game}/": {"parameters": _within("game"), "get": _get("a game's variants", "UwapiGame", 404)},
    "/uwapi/{game}/{variant}/": {
        "parameters": _within("game", "variant"),
        "get": _get("a variant, and where it begins", "UwapiVariant", 404),
    },
    "/uwapi/{game}/{variant}/positions/": {
        "parameters": _within("game", "variant"),
        "get": _get("a position with its value and its moves", "UwapiPosition", 400, 404, 414, parameters=[_POSITION]),
    },
    "/uwapi/{game}/{variant}/instructions/": {
        "parameters": _within("game", "variant"),
        "get": _get("the rules", "UwapiInstructions", 404),
    },
}
