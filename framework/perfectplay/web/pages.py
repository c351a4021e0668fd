"""The HTML that the server writes: a game's page with its description for other sites, the API page, and errors.

A link to a game is shown by chats and social sites with a title, a sentence and a picture (Open Graph). They read only
the HTML, so the server writes these for the position in the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from perfectplay.errors import PerfectPlayError
from perfectplay.game.match import Match
from perfectplay.game.wording import headline, sides
from perfectplay.web import answers, catalog, matches
from perfectplay.web.bounded import BoundedError
from perfectplay.web.handlers import run_hooks
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.operations import DESCRIPTION, TAGS, Operation, describe_parameters
from perfectplay.web.requests import EMBED, Refusal, find_game, parse_id, parse_position, site_of

STATIC = Path(__file__).parent / "static"
VOCABULARY = "/static/vocabulary.js"

LATER = ("chooser.js", "editor.js", "explore.js", "games.js", "motion.js", "refutation.js", "summary.js")
"""Modules that the page loads when they are first needed."""

_DESCRIPTION = "Explore solved board games and play against a perfect opponent."


def path_of(name: str) -> str:
    """Return a game's name as part of an address."""
    return quote(name, safe="=")


# ---- the page of a game ----


def read_page() -> str:
    """Return the page with its modules named in the head, so that they all load at once."""
    scripts = [f"/static/{path.name}" for path in sorted(STATIC.glob("*.js")) if path.name not in LATER]
    links = (f'<link rel="modulepreload" href="{script}">' for script in [*scripts, VOCABULARY])
    return (STATIC / "index.html").read_text(encoding="utf-8").replace("<!-- modules -->", "\n  ".join(links))


async def show_page(request: Request) -> Response:
    """Return a game's page. Its head names the first requests of the page, and describes the position."""
    site = site_of(request)
    library = site.library
    requested = request.path_params.get("game")
    embedded = request.url.path.startswith(EMBED)
    try:
        name = _first_game(library) if requested is None else (await find_game(request)).game.identity
    except (Refusal, BoundedError) as refusal:
        return _show_not_found(library, refusal)
    if name is not None and requested not in (None, name):  # default options were omitted
        path = f"{EMBED if embedded else '/'}{path_of(name)}"
        return RedirectResponse(request.url.replace(scheme="", netloc="", path=path))
    lines = _preload_data(name, with_replay=not request.url.query)
    classes = ["embed"] if embedded else []
    if name is not None and (served := library.get(name)) is not None:
        shown = await _find_link(request, served)
        lines += _describe_link(request, served, shown)
        if shown is not None and shown.has_reserves:
            classes.append("reserves")
    page = site.page.replace("<!-- head -->", "\n  ".join(lines))
    return HTMLResponse(page.replace("<body>", f'<body class="{" ".join(classes)}">'))


def _first_game(library: Library) -> str | None:
    """Return the game shown without a path: a solved one if there is one."""
    solved = (name for name, served in library.games.items() if served.find_table() is not None)
    return next(solved, next(iter(library.games), None))


def _preload_data(name: str | None, *, with_replay: bool) -> list[str]:
    paths = ["/api/games"]
    lines = []
    if name is not None:
        lines.append(f'<meta name="game" content="{escape(name)}">')
        if with_replay:
            paths.append(f"/api/{path_of(name)}/replay?ply=0")  # exactly as static/api.js requests it
    return [*lines, *(f'<link rel="preload" as="fetch" crossorigin href="{escape(path)}">' for path in paths)]


# ---- links ----


class _Shown(NamedTuple):
    """The position that a link shows."""

    position: int
    sentence: str
    has_reserves: bool
    """Whether the page needs space for pieces beside the board."""


async def _find_link(request: Request, served: ServedGame) -> _Shown | None:
    """Return the position in the address; None for a wrong link, which the page explains."""
    if served.bounded:
        return None
    query = dict(parse_qsl(request.url.query))
    try:
        return await run_hooks(request, served, lambda: _find_shown(served, query))
    except (PerfectPlayError, Refusal, ValueError):
        return None


def _describe_link(request: Request, served: ServedGame, shown: _Shown | None) -> list[str]:
    """Return the Open Graph tags of a game and the position in the address; of a wrong link, those of the game."""
    title, picture = catalog.title_of(served.game), f"/api/{path_of(served.game.identity)}/board.svg"
    if shown is not None:
        picture += f"?id={shown.position}"
    base = str(request.base_url).rstrip("/")
    tags = {
        "og:type": "website",
        "og:site_name": "perfectplay",
        "og:title": title,
        "og:description": _DESCRIPTION if shown is None else shown.sentence,
        "og:url": str(request.url),
        "og:image": f"{base}{picture}",
        "og:image:type": "image/svg+xml",
        "og:image:alt": f"The board of {title}",
    }
    return [f'<meta property="{key}" content="{escape(text)}">' for key, text in tags.items()]


def _find_shown(served: ServedGame, query: dict[str, str]) -> _Shown:
    start = served.start
    if "position" in query:
        start = parse_position(served, query["position"])
    elif "id" in query:
        start = parse_id(served, query["id"])
    match = Match(served.game, start=start, exploring=True)
    matches.read_moves(match, query.get("moves", ""))
    last = len(match.moves)
    position = int(match.positions[max(0, min(int(query.get("ply", last)), last))])
    board, _ = answers.find_board(served.game, position)
    sentence = _describe_shown(served, position, is_puzzle="puzzle" in query)
    return _Shown(position, sentence, board is not None and len(board.trays) > 0)


def _describe_shown(served: ServedGame, position: int, *, is_puzzle: bool) -> str:
    """Return one sentence about a position that reveals no puzzle's solution."""
    mover = served.game.mover(position)
    if is_puzzle:
        name = "the player" if mover is None else sides(served.game, mover)[0]
        return f"Puzzle: {name} to move, only one move wins."
    value = answers.find_value(served, position)
    if value is not None and answers.find_result(served, position, mover) is None:
        return f"{headline(served.game, value, mover)}."
    return f"{answers.verdict(served, position, mover, value)}."


# ---- other pages ----


def _write_plain(title: str, content: str) -> str:
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="stylesheet" href="/static/colours.css"><link rel="stylesheet" href="/static/style.css">'
        '<link rel="stylesheet" href="/static/panels.css">'
        f'</head><body class="plain"><main><h1>{escape(title)}</h1>{content}</main></body></html>'
    )


def _show_not_found(library: Library, refusal: Refusal | BoundedError) -> Response:
    reason = str(refusal)
    items = "".join(f'<li><a href="/{path_of(name)}">{escape(name)}</a></li>' for name in library.games)
    content = (
        f"<p>{escape(reason[:1].upper() + reason[1:])}.</p><p>Available games:</p><ul>{items}</ul>"
        '<p>The JSON API is described at <a href="/api">/api</a>.</p>'
    )
    return HTMLResponse(_write_plain("Not found", content), refusal.status)


def write_api_page(operations: Sequence[Operation], library: Library) -> str:
    """Return the description of the API for people: every operation, its parameters, and an example to try."""
    example = _first_game(library)
    parts = [
        f"<p>{escape(DESCRIPTION)} Answers are JSON, and an error is an object with one sentence, "
        "<code>error</code>. Programs may use everything. Pages of other sites may read everything except sessions and "
        'solves. Client generators read <a href="/api/openapi.json">/api/openapi.json</a>.</p>'
    ]
    for tag, description in TAGS.items():
        rows = "".join(_write_operation(each, example) for each in operations if each.tag == tag)
        parts.append(f"<h2>{escape(description.rstrip('.'))}</h2><dl>{rows}</dl>")
    return _write_plain("perfectplay's API", "".join(parts))


def _write_operation(operation: Operation, example: str | None) -> str:
    name = f"<code>{operation.method} {escape(operation.path)}</code>"
    path = operation.path.replace("{game}", path_of(example or "GAME"))
    needed = any(each["required"] for each in describe_parameters(operation.input)) or "{" in path
    if operation.is_shared and example is not None and not needed:
        name = f'<a href="{escape(path)}">{name}</a>'
    if operation.method == "POST":
        fields = ", ".join(f'"{field}": …' for field in operation.input.__struct_fields__)
        notes = f"Body: {{{fields}}}" if fields else ""
    else:
        notes = "<br>".join(
            f"<code>{each['name']}</code> {escape(each['description'])}"
            for each in describe_parameters(operation.input)
        )
    return f"<dt>{name}</dt><dd>{escape(operation.summary)}.{f'<br><small>{notes}</small>' if notes else ''}</dd>"
