"""The answers of the JSON interface as schemas: what openapi.py's operations give."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}
ID = {"type": "string", "pattern": "^[0-9]{1,20}$", "description": "The game's own 64-bit encoding, in decimal."}
_NOTATIONS = {"type": "object", "additionalProperties": TEXT, "description": "Every notation, by name."}
_VALUE: JSON = {
    "outcome": {
        "enum": ["win", "draw", "loss", None],
        "description": "For the side to move (of a move: for its player); null where the table does not know.",
    },
    "remoteness": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "Plies to the end under perfect play; null for an endless draw, an unknown value, and all over "
        "in a table of outcomes.",
    },
    "score": {"type": "integer", "description": "By how much it is won, where the table has scores; negative: lost."},
}
_VALUES = {
    "enum": ["full", "outcome"],
    "description": "What the table knows of a position; outcome: who wins, no more.",
}


def exactly(properties: JSON, *, required: tuple[str, ...] | None = None) -> JSON:
    """An object of exactly these properties; all of them required, if not said otherwise, but for a score."""
    needed = [name for name in (properties if required is None else required) if name != "score"]
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def list_of(items: JSON) -> JSON:
    return {"type": "array", "items": items}


def _or_null(schema: JSON) -> JSON:
    return {"anyOf": [schema, {"type": "null"}]}


def ref(name: str) -> JSON:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(kind: str) -> JSON:
    return {"type": [kind, "null"]}


_NUMBER = {"type": "number"}
_PLAYERS = {**list_of(TEXT), "minItems": 1, "maxItems": 2}
_TO_MOVE = {"enum": [0, 1, None], "description": "Who is to move, 0 being who begins; null where nobody knows."}
_ABOUT = {"game": TEXT, "id": ID}
_RATED = {"move": TEXT, **_VALUE, "id": ID, "group": {**_COUNT, "description": "Equal for symmetric moves."}}

_JUDGED = {
    "mark": {
        "enum": ["", "?!", "?", "??"],
        "description": "?! a longer way, ? or ?? a score or an outcome given away.",
    },
    "comment": TEXT,
}

SCHEMAS: JSON = {
    "Error": exactly({"error": {"type": "string", "description": "One sentence."}}),
    "Piece": exactly({"owner": {"enum": [0, 1, None]}, "label": TEXT, "size": {"type": "number"}, "shape": TEXT}),
    "Board": exactly(
        {
            "rows": _NUMBER,
            "columns": _NUMBER,
            "cells": list_of(
                exactly(
                    {
                        "id": TEXT,
                        "row": _NUMBER,
                        "column": _NUMBER,
                        "stack": list_of(ref("Piece")),
                        "label": TEXT,
                        "width": _NUMBER,
                        "height": _NUMBER,
                    }
                )
            ),
            "to_move": {"enum": [0, 1]},
            "players": _PLAYERS,
            "colours": {**list_of(TEXT), "minItems": 2, "maxItems": 2},
            "edges": list_of(list_of(TEXT)),
            "zones": list_of(list_of(TEXT)),
            "highlight": list_of(TEXT),
            "row_labels": list_of(TEXT),
            "column_labels": list_of(TEXT),
            "trays": list_of(exactly({"id": TEXT, "piece": ref("Piece"), "count": _COUNT})),
            "blocked": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": TEXT}},
            "warnings": {"type": "object", "additionalProperties": TEXT},
            "spelling": _or_null(
                exactly(
                    {
                        "pieces": list_of(ref("Piece")),
                        "empty": TEXT,
                        "between_cells": TEXT,
                        "between_rows": TEXT,
                        "ending": list_of(TEXT),
                    }
                )
            ),
        }
    ),
    "Result": exactly({"winner": _nullable("string"), "text": TEXT}),
    "Games": exactly(
        {
            "games": list_of(
                exactly(
                    {
                        "name": TEXT,
                        "state": {"enum": ["ready", "unfinished", "unsolved", "solving", "damaged", "broken"]},
                        "title": TEXT,
                        "rules": TEXT,
                        "family": {**TEXT, "description": "The game's name, without its options."},
                        "version": TEXT,
                        "kind": TEXT,
                        "start": ID,
                        "players": _PLAYERS,
                        "variant": {"type": "object", "description": "The value of every option."},
                        "options": list_of(ref("Option")),
                        "reason": _nullable("string"),
                        "command": TEXT,
                        "positions": _COUNT,
                        "values": _VALUES,
                        "verdict": TEXT,
                    },
                    required=("name", "state", "reason"),
                )
            )
        }
    ),
    "RatedMove": exactly(_RATED),
    "Position": exactly(
        {
            **_ABOUT,
            "text": TEXT,
            "notations": _NOTATIONS,
            "solved": _FLAG,
            **_VALUE,
            "verdict": TEXT,
            "result": _or_null(ref("Result")),
            "mover": TEXT,
            "to_move": _TO_MOVE,
            "players": _PLAYERS,
            "board": _or_null(ref("Board")),
            "board_problem": {**_nullable("string"), "description": "Why the plugin's board cannot be drawn."},
            "moves": list_of(
                exactly(
                    {
                        **_RATED,
                        "source": _nullable("string"),
                        "target": {**_nullable("string"), "description": "null: a button beside the board."},
                        "label": TEXT,
                    }
                )
            ),
        }
    ),
    "EvaluatedMoves": exactly({**_ABOUT, **_VALUE, "moves": list_of(ref("RatedMove"))}),
    "Evaluation": exactly({**_ABOUT, **_VALUE, "verdict": TEXT}),
    "BestMove": exactly({**_ABOUT, **_VALUE, "verdict": TEXT, "best": _or_null(ref("RatedMove"))}),
    "Line": exactly(
        {
            **_ABOUT,
            **_VALUE,
            "verdict": TEXT,
            "line": {
                **list_of(exactly({"move": TEXT, **_VALUE, "id": ID})),
                "description": "To the end, or until it repeats; of a table of outcomes, moves that keep the outcome "
                "and need not come nearer to an end.",
            },
        }
    ),
    "Moves": exactly(
        {
            **_ABOUT,
            "moves": list_of(exactly({"move": TEXT, "from": _nullable("string"), "to": _nullable("string"), "id": ID})),
        }
    ),
    "Check": exactly({"game": TEXT, "possible": _FLAG, "reason": _nullable("string"), "id": _or_null(ID)}),
    "State": exactly({**_ABOUT, "text": TEXT, "notations": _NOTATIONS}),
    "Game": exactly(
        {
            **_ABOUT,
            "text": TEXT,
            "board": _or_null(ref("Board")),
            "reserves": {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": _COUNT}},
            "current_player": TEXT,
            "result": _or_null(ref("Result")),
            "ply": _COUNT,
            "can_undo": _FLAG,
            "can_redo": _FLAG,
        }
    ),
    "History": exactly(
        {
            "game": TEXT,
            "start": ID,
            "moves": list_of(
                exactly({"ply": _COUNT, "move": TEXT, "id": ID, **_VALUE, "changed_outcome": _FLAG, **_JUDGED})
            ),
            "undone": list_of(TEXT),
        }
    ),
    "Replay": exactly(
        {
            "game": TEXT,
            "ply": _COUNT,
            "timeline": list_of(
                exactly(
                    {
                        "id": ID,
                        "to_move": _TO_MOVE,
                        **_VALUE,
                        "verdict": TEXT,
                        "move": {**_nullable("string"), "description": "The move that led here."},
                        **_JUDGED,
                        "alternatives": list_of(exactly({"move": TEXT, **_VALUE})),
                    }
                )
            ),
            "occurrences": {**_COUNT, "description": "How often the position has stood on the board."},
            "result": _or_null(ref("Result")),
            "last": _or_null(exactly({"source": _nullable("string"), "target": _nullable("string")})),
            "position": ref("Position"),
        }
    ),
    "Overview": exactly(
        {
            "game": TEXT,
            "complete": _FLAG,
            "positions": _COUNT,
            "wins": _COUNT,
            "losses": _COUNT,
            "draws": _COUNT,
            "ties": {**_nullable("integer"), "description": "Draws that the rules end; null in a table of outcomes."},
            "endless": {**_nullable("integer"), "description": "The other draws; null in a table of outcomes."},
            "values": _VALUES,
            "bytes": _COUNT,
            "moves": {"type": ["number", "null"], "description": "Moves of a position, on average."},
            "histogram": list_of(exactly({"remoteness": _COUNT, "wins": _COUNT, "losses": _COUNT, "ties": _COUNT})),
            "longest": list_of(ref("Found")),
        }
    ),
    "Found": exactly({"id": ID, "text": TEXT, **_VALUE, "verdict": TEXT}),
    "Probed": exactly(
        {
            "game": TEXT,
            "outcomes": list_of(_VALUE["outcome"]),
            "remoteness": list_of(_VALUE["remoteness"]),
            "scores": {**list_of(_nullable("integer")), "description": "Only of a game with scores."},
        },
        required=("game", "outcomes", "remoteness"),
    ),
    "Interface": exactly({"description": TEXT, "openapi": TEXT, "paths": list_of(TEXT)}),
    "Option": exactly(
        {
            "name": TEXT,
            "default": {"type": ["integer", "boolean", "string"]},
            "help": TEXT,
            "minimum": _nullable("integer"),
            "maximum": _nullable("integer"),
            "choices": list_of(TEXT),
        }
    ),
    "Solve": exactly(
        {
            "state": {"enum": ["unsolved", "solving", "done", "failed", "damaged"]},
            "command": TEXT,
            "estimate": {**_nullable("string"), "description": "What a solve takes."},
            "phase": TEXT,
            "fraction": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "text": TEXT,
            "error": _nullable("string"),
        },
        required=("state",),
    ),
}
