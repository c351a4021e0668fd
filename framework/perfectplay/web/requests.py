"""Reading requests and writing answers: which game, which position, what was sent, and errors as a sentence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from perfectplay.errors import PerfectPlayError, UsageError, did_you_mean
from perfectplay.web.library import Library, ServedGame

MAX_TEXT = 1000
"""Characters of a position or a move: far more than any notation needs."""


TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS
_TRY_AGAIN = {"retry-after": "1"}


class Answer(Response):
    """JSON, as compact as it gets."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        try:
            return orjson.dumps(content)
        except TypeError:  # half a surrogate pair that somebody sent: Python's encoder escapes it
            return json.dumps(content, default=_plain).encode()


def _plain(part: Any) -> Any:
    """What orjson knows how to write, for Python's encoder."""
    return json.loads(orjson.dumps(part)) if isinstance(part, orjson.Fragment) else asdict(part)


class Refusal(Exception):
    """A request that cannot be answered: the status, and a sentence that says why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def served_game(request: Request) -> ServedGame:
    """The game that the path names."""
    library: Library = request.app.state.library
    name = request.path_params["game"]
    served = library.get(name)
    if served is not None:
        served.find_table()
        return served
    if name in library.broken:
        raise Refusal(404, f"the game {name} is installed but broken: {library.broken[name]}")
    raise Refusal(404, f"there is no game called {name[:60]!r}{did_you_mean(name, library.games)}")


def read_query(request: Request, *known: str) -> dict[str, str]:
    """The parameters. One that means nothing here is refused, and one that is given twice: a typing error must not pass
    unseen."""
    pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = dict(pairs)
    for name in query:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise Refusal(422, f"{name[:60]!r} is not a parameter here{did_you_mean(name, known)}; {takes}")
    if len(query) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise Refusal(422, f"{twice!r} is given more than once")
    return query


def asked_position(query: Mapping[str, str], served: ServedGame, default: int) -> int:
    """The position that `?id=` or `?position=` names; `default` where neither is given."""
    number, text = query.get("id"), query.get("position")
    if number is not None and text is not None:
        raise Refusal(422, "say either id or position, not both")
    if number is not None:
        return read_id(served, number)
    return default if text is None else read_position(served, text)


def read_count(query: Mapping[str, str], name: str, default: int | None = None) -> int | None:
    """A parameter that is a whole number; `default` where it is not given."""
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise Refusal(422, f"{name} is a whole number")
    return int(text)


def read_id(served: ServedGame, number: str) -> int:
    """A position by its number, the game's own 64-bit encoding."""
    if not (number.isascii() and number.isdecimal() and len(number) <= 20):
        raise Refusal(400, "an id is a whole number in decimal digits, as the answers give it")
    position = int(number)
    if not served.game.valid(position):
        raise Refusal(400, f"{number} is not a position of {served.game.name}")
    return position


def read_position(served: ServedGame, text: str) -> int:
    """A position in any of the game's notations."""
    if len(text) > MAX_TEXT:
        raise Refusal(400, f"a position is at most {MAX_TEXT:,} characters long")
    return served.game.encode(text)


async def read_object(request: Request, *required: str) -> dict[str, str]:
    """The JSON object in the body: exactly these keys, each with a text."""
    data = await read_json(request, "{" + ", ".join(f'"{key}": "…"' for key in required) + "}", optional=not required)
    if set(data) != set(required):
        raise Refusal(400, "the body must be {" + ", ".join(f'"{key}": "…"' for key in required) + "}")
    for key, value in data.items():
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            raise Refusal(400, f'"{key}" must be a text of at most {MAX_TEXT:,} characters')
    return data


async def read_json(request: Request, wanted: str, *, optional: bool = False) -> dict[str, Any]:
    """The JSON object in the body; `wanted` shows what it should be."""
    body = await request.body()
    if body or not optional:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refusal(415, f"send JSON (Content-Type: application/json): {wanted}")
    try:
        data = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise Refusal(400, f"the body is not JSON: {wanted} was expected") from None
    if not isinstance(data, dict):
        raise Refusal(400, f"the body must be {wanted}")
    return data


def answer_to(error: Exception, method: str) -> Answer | None:
    """What is said instead of an answer, in one sentence; None for an error that nobody foresaw."""
    match error:
        case Refusal(status=status):
            return Answer({"error": str(error)}, status, headers=_TRY_AGAIN if status == TOO_MANY else None)
        case UsageError():
            return Answer({"error": str(error)}, 400)
        case PerfectPlayError():  # a plugin's, or a table's
            return Answer({"error": str(error)}, 500)
        case HTTPException(status_code=status, headers=headers):
            sentence = {404: "there is nothing here: /api lists what there is", 405: f"{method} is not possible here"}
            return Answer({"error": sentence.get(status, HTTPStatus(status).phrase)}, status, headers=headers)
    return None
