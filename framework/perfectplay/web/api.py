"""The JSON interface under /api/: about games and positions, whole tables, and the game of one session.

Every GET about a position takes `?position=` (any notation) or `?id=`; without either it speaks of the session's game,
which is at the start until a POST has changed it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from perfectplay.errors import UsageError
from perfectplay.game.match import Match
from perfectplay.table.table import CompactTable, Table
from perfectplay.web import answers, exploring, games, matches
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.openapi import description, summary
from perfectplay.web.requests import (
    Answer,
    Refusal,
    asked_position,
    read_count,
    read_id,
    read_json,
    read_object,
    read_position,
    read_query,
    served_game,
)
from perfectplay.web.sessions import MAX_GAMES, MAX_IDLE_SECONDS, Sessions

COOKIE = "perfectplay_session"
MAX_PROBED = 10_000

T = TypeVar("T")
JSON = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]


# ---- the interface itself ----


async def about_interface(request: Request) -> Response:
    read_query(request)
    return Answer(summary())


async def openapi(request: Request) -> Response:
    read_query(request)
    return Answer(description(tuple(request.app.state.library.games)))


# ---- a position: asked for, or the session's ----


async def _computed(served: ServedGame, compute: Callable[[], JSON], *, slow: bool = False) -> Response:
    """An answer; what may take long is worked out in a thread, so that others need not wait for it."""
    if slow or isinstance(served.table, CompactTable):
        return Answer(await run_in_threadpool(compute))
    return Answer(await _asked(served, compute))


async def _asked(served: ServedGame, ask: Callable[[], T]) -> T:
    """What a game's hooks answer: in a thread if they are Python's, which may take as long as they like. OpenSpiel's
    games are played through to find a position of which only the number is known."""
    return await run_in_threadpool(ask) if served.game.kernel is None else ask()


def _about(answer: Callable[[ServedGame, int], JSON], *, slow: bool = False) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        query = read_query(request, "id", "position")
        here = served.start if query else _session_match(request, served).position
        return await _computed(served, lambda: answer(served, asked_position(query, served, here)), slow=slow)

    return endpoint


def _table_of(served: ServedGame) -> Table:
    if served.table is None:
        if served.problem is not None:
            raise Refusal(409, f"the table of {served.game.name} cannot be read: {served.problem}")
        raise Refusal(409, f"there is no table of {served.game.name} yet: run `{served.game.command_line()}` first")
    return served.table


def _needs_table(answer: Callable[[ServedGame, int], JSON]) -> Callable[[ServedGame, int], JSON]:
    def checked(served: ServedGame, position: int) -> JSON:
        _table_of(served)
        return answer(served, position)

    return checked


async def check(request: Request) -> Response:
    """Whether a text is a position. That it is none is an answer here, not an error: the editor asks at every key."""
    served = served_game(request)
    text = read_query(request, "position").get("position")
    if text is None:
        raise Refusal(422, "say which text: ?position=…")
    answer: JSON = {"game": served.game.identity, "possible": False, "reason": None, "id": None}
    try:
        position = await _asked(served, lambda: read_position(served, text))
        return Answer(answer | {"possible": True, "id": str(position)})
    except UsageError as error:
        return Answer(answer | {"reason": str(error.__cause__ or error)})


async def probe(request: Request) -> Response:
    """The values of many positions at once."""
    served = served_game(request)
    read_query(request)
    table = _table_of(served)
    wanted = '{"ids": ["…", …]} or {"positions": ["…", …]}'
    data = await read_json(request, wanted)
    (key, texts), *more = data.items() if data else [("", None)]
    if more or key not in ("ids", "positions") or not isinstance(texts, list):
        raise Refusal(400, f"the body must be {wanted}")
    if len(texts) > MAX_PROBED:
        raise Refusal(413, f"at most {MAX_PROBED:,} positions at once")
    if not all(isinstance(text, str) for text in texts):
        raise Refusal(400, f"{key} must be texts: a number in JSON holds only 53 bits")
    read = read_id if key == "ids" else read_position
    return await _computed(
        served,
        lambda: exploring.probe_many(served, table, [read(served, text) for text in texts]),
        slow=len(texts) > 100,
    )


# ---- the whole table ----


async def overview(request: Request) -> Response:
    served = served_game(request)
    read_query(request)
    table = _table_of(served)
    return await _computed(served, lambda: exploring.overview(served, table), slow=True)


async def find(request: Request) -> Response:
    served = served_game(request)
    query = read_query(request, "kind", "remoteness", "seed")
    table = _table_of(served)
    kind = query.get("kind", "any")
    if kind not in exploring.KINDS:
        raise Refusal(422, f"kind is one of {', '.join(exploring.KINDS)}")
    remoteness, seed = read_count(query, "remoteness"), read_count(query, "seed")
    return await _computed(served, lambda: exploring.find(served, table, kind, remoteness, seed), slow=True)


# ---- a whole game: a link's, or the session's ----


async def replay(request: Request) -> Response:
    """The game that begins at `?id=` or `?position=` and has these `?moves=`, looked at after `?ply=` of them."""
    served = served_game(request)
    query = read_query(request, "id", "position", "moves", "ply")
    moves = query.get("moves", "")

    def replayed() -> JSON:
        match = Match(served.game, start=asked_position(query, served, served.start), exploring=True)
        matches.read_moves(match, moves)
        ply = read_count(query, "ply", len(match.moves))
        if ply is None or ply > len(match.moves):
            raise Refusal(422, f"ply is at most the number of moves, {len(match.moves)}")
        return matches.replay_answer(served, match, ply)

    return await _computed(served, replayed, slow=moves.count(" ") > 100)


def _session_match(request: Request, served: ServedGame) -> Match:
    sessions: Sessions = request.app.state.sessions
    own = sessions.find(request.cookies.get(COOKIE)) or {}
    return own.get(served.game.identity) or Match(served.game, start=served.start)


async def current_game(request: Request) -> Response:
    served = served_game(request)
    query = read_query(request, "id", "position")
    mine = _session_match(request, served)

    def answer() -> JSON:
        asked = Match(served.game, start=asked_position(query, served, served.start)) if query else mine
        return matches.game_answer(served, asked)

    return await _computed(served, answer)


async def history(request: Request) -> Response:
    served = served_game(request)
    read_query(request)
    match = _session_match(request, served)
    return await _computed(served, lambda: matches.history_answer(served, match))


def _changing(change: Callable[[ServedGame, Match, dict[str, str]], Match], *keys: str) -> Endpoint:
    """An endpoint that changes the session's match, or refuses to: then no session is begun."""

    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        read_query(request)
        body = await read_object(request, *keys)
        # A copy is changed, which may take long: the session's own match is whole at any time.
        mine = _session_match(request, served).copy()
        match = await _asked(served, lambda: change(served, mine, body))
        sessions: Sessions = request.app.state.sessions
        token = request.cookies.get(COOKIE)
        own = sessions.find(token)
        if own is None or token is None:
            token, own = sessions.begin()
        own.pop(served.game.identity, None)
        own[served.game.identity] = match
        if len(own) > MAX_GAMES:
            del own[next(iter(own))]  # the one that was longest not played
        answer = Answer(await _asked(served, lambda: matches.game_answer(served, match)))
        answer.set_cookie(COOKIE, token, max_age=int(MAX_IDLE_SECONDS), httponly=True, samesite="strict")
        return answer

    return endpoint


def _play(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    result = match.result
    if result is not None and result.repetition:
        raise Refusal(409, "the game is over: this position stands for the third time, which is a draw")
    if len(match.moves) >= matches.MAX_MOVES:
        raise Refusal(409, f"a game has at most {matches.MAX_MOVES:,} moves here: reset it")
    match.play_names([body["move"]])
    return match


def _undo(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    if not match.moves:
        raise Refusal(409, "there is no move to undo")
    match.undo()
    return match


def _redo(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    if not match.undone:
        raise Refusal(409, "there is no move to redo")
    match.redo()
    return match


def _reset(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    return Match(served.game)


def _import(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    return Match(served.game, start=read_position(served, body["position"]))


# ---- solving ----


async def solve_progress(request: Request) -> Response:
    read_query(request)
    served = served_game(request)
    # Where nobody may start a solve, nobody need know what it takes: planning it costs half a second.
    plans = bool(request.app.state.may_solve)
    return await _computed(served, lambda: games.solve_json(served, plans=plans), slow=plans and served.job is None)


async def start_solve(request: Request) -> Response:
    served = served_game(request)
    read_query(request)
    await read_object(request)
    if not request.app.state.may_solve:
        raise Refusal(403, "this server is open to other machines, so a solve is started on its own machine only")
    if served.problem is not None:
        raise Refusal(409, f"there is a table already, and it cannot be read: {served.problem}; remove it first")
    if served.table is not None and not served.table.complete:
        raise Refusal(409, f"the table is unfinished: resume it with `{served.table.resume_command}`")
    if served.table is not None:
        raise Refusal(409, f"{served.game.name} is solved already")
    library: Library = request.app.state.library
    if library.start_solving(served) is None:
        raise Refusal(409, "a game is being solved already: one at a time")
    return Answer(games.solve_json(served), 202)


async def stop_solve(request: Request) -> Response:
    served = served_game(request)
    read_query(request)
    if served.job is None or not served.solving:
        raise Refusal(409, "nothing is being solved")
    await run_in_threadpool(served.job.stop)
    return Answer(games.solve_json(served))


async def all_games(request: Request) -> Response:
    read_query(request)
    return Answer(await run_in_threadpool(games.games_json, request.app.state.library))


class _Path:
    """The endpoint of one path with all its methods, so that a wrong one is told all the right ones.

    It is an ASGI application itself: a function would be wrapped in three more.
    """

    def __init__(self, get: Endpoint | None, others: dict[str, Endpoint]) -> None:
        self.by_method = {method.upper(): endpoint for method, endpoint in others.items()}
        if get is not None:
            self.by_method |= {"GET": get, "HEAD": get}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self.by_method[scope["method"]](Request(scope, receive))
        await answer(scope, receive, send)


def _route(path: str, get: Endpoint | None = None, **others: Endpoint) -> Route:
    endpoint = _Path(get, others)
    return Route(path, endpoint, methods=list(endpoint.by_method))


def _game_route(path: str, get: Endpoint | None = None, **others: Endpoint) -> Route:
    return _route("/api/{game}/" + path, get, **others)


ROUTES = [
    # The most asked for first: routes are tried in order.
    _game_route("moves/evaluated", _about(_needs_table(answers.moves_answer))),
    _game_route("position", _about(answers.position_answer)),
    _game_route("evaluate", _about(_needs_table(answers.evaluation))),
    _game_route("replay", replay),
    _route("/api", about_interface),
    _route("/api/games", all_games),
    _route("/api/openapi.json", openapi),
    _game_route("probe", post=probe),
    _game_route("best-move", _about(_needs_table(answers.best_move))),
    _game_route("line", _about(_needs_table(answers.best_line), slow=True)),
    _game_route("moves", _about(answers.legal_moves)),
    _game_route("state/export", _about(answers.export)),
    _game_route("check", check),
    _game_route("overview", overview),
    _game_route("find", find),
    _game_route("game", current_game),
    _game_route("history", history),
    _game_route("move", post=_changing(_play, "move")),
    _game_route("reset", post=_changing(_reset)),
    _game_route("undo", post=_changing(_undo)),
    _game_route("redo", post=_changing(_redo)),
    _game_route("state/import", post=_changing(_import, "position")),
    _game_route("solve", solve_progress, post=start_solve, delete=stop_solve),
]
