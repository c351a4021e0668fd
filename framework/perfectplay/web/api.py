"""The JSON interface under /api/: about games and positions, and the game of one session.

Every GET on a game takes `?position=` (any notation) or `?id=`; without either it speaks of the session's game,
which is at the start until a POST has changed it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from perfectplay import wording
from perfectplay.errors import UsageError
from perfectplay.match import Match
from perfectplay.values import value_json
from perfectplay.web import answers
from perfectplay.web.library import Library, ServedGame
from perfectplay.web.openapi import description
from perfectplay.web.requests import Answer, Refusal, asked_position, read_object, read_position, served_game
from perfectplay.web.sessions import MAX_IDLE_SECONDS, MAX_MOVES, Sessions

COOKIE = "perfectplay_session"

JSON = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]


# ---- games ----


async def games(request: Request) -> Response:
    library: Library = request.app.state.library
    found = [_game_json(served) for served in library.games.values()]
    broken = [{"name": name, "state": "broken", "reason": reason} for name, reason in library.broken.items()]
    return Answer({"games": [*found, *broken]})


def _game_json(served: ServedGame) -> JSON:
    table = served.find_table()
    game = served.game
    about: JSON = {"name": game.identity, "version": game.version, "kind": game.kind, "start": str(served.start)}
    if table is None:
        state = "solving" if served.solving else "unsolved"
        return about | {"state": state, "reason": served.problem, "command": game.solve_command()}
    return about | {
        "state": "ready" if table.complete else "unfinished",
        "positions": table.statistics.positions,
        "verdict": answers.verdict(served, served.start, game.board(served.start)),
    }


async def openapi(request: Request) -> Response:
    return Answer(description())


# ---- a position: asked for, or the session's ----


def _about(answer: Callable[[ServedGame, int], JSON]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        position = asked_position(request, served)
        return Answer(answer(served, _session_match(request, served).position if position is None else position))

    return endpoint


def _needs_table(answer: Callable[[ServedGame, int], JSON]) -> Callable[[ServedGame, int], JSON]:
    def checked(served: ServedGame, position: int) -> JSON:
        if served.table is None:
            raise Refusal(
                409, f"there is no table of {served.game.identity} yet: run `{served.game.solve_command()}` first"
            )
        return answer(served, position)

    return checked


def _moves(served: ServedGame, position: int) -> JSON:
    moves = answers.position_answer(served, position)["moves"]
    shown = [{"move": move["move"], "from": move["source"], "to": move["target"], "id": move["id"]} for move in moves]
    return {"game": served.game.identity, "id": str(position), "moves": sorted(shown, key=lambda move: move["move"])}


def _export(served: ServedGame, position: int) -> JSON:
    return {
        "game": served.game.identity,
        "id": str(position),
        "text": served.game.decode(position),
        "notations": served.game.notations(position),
    }


async def check(request: Request) -> Response:
    """Whether a text is a position. That it is none is an answer here, not an error: the editor asks at every key."""
    served = served_game(request)
    text = request.query_params.get("position")
    if text is None:
        raise Refusal(400, "say which text: ?position=…")
    answer: JSON = {"game": served.game.identity, "possible": False, "reason": None, "id": None}
    try:
        return Answer(answer | {"possible": True, "id": str(read_position(served, text))})
    except UsageError as error:
        return Answer(answer | {"reason": str(error.__cause__ or error)})


# ---- the session's game ----


def _session_match(request: Request, served: ServedGame) -> Match:
    sessions: Sessions = request.app.state.sessions
    games = sessions.find(request.cookies.get(COOKIE)) or {}
    return games.get(served.game.identity) or Match(served.game)


def _game_answer(served: ServedGame, match: Match) -> JSON:
    game, position = served.game, match.position
    board = game.board(position)
    result = answers.result(game, position, board)
    if result is None and match.result is not None:
        result = {"winner": None, "text": "Game over: a draw, this position stands for the third time"}
    drawn = None if board is None else answers.board_json(board)
    reserves: dict[str, dict[str, int]] = {}
    for tray in board.trays if board else ():
        owner = "anyone" if tray.piece.owner is None or board is None else board.players[tray.piece.owner]
        reserves.setdefault(owner, {})[tray.piece.label] = tray.count
    return {
        "game": game.identity,
        "id": str(position),
        "text": game.decode(position),
        "board": drawn,
        "reserves": reserves,
        "current_player": wording.player_names(board, start=position == served.start)[0],
        "result": result,
        "ply": len(match.moves),
        "can_undo": bool(match.moves),
        "can_redo": bool(match.undone),
    }


async def current_game(request: Request) -> Response:
    served = served_game(request)
    position = asked_position(request, served)
    match = _session_match(request, served) if position is None else Match(served.game, start=position)
    return Answer(_game_answer(served, match))


async def history(request: Request) -> Response:
    served = served_game(request)
    match = _session_match(request, served)
    game, values = served.game, [answers.value_of(served, position) for position in match.positions]
    entries = []
    for ply, name in enumerate(match.move_names(), start=1):
        before, after = values[ply - 1], values[ply]
        worth = None if after is None else after.for_parent()
        entries.append(
            {
                "ply": ply,
                "move": name,
                "id": str(match.positions[ply]),
                **value_json(worth),
                "changed_outcome": bool(before and worth and before.outcome is not worth.outcome),
            }
        )
    ahead = Match(game, list(reversed(match.undone)), start=match.position).move_names()
    return Answer({"game": game.identity, "start": str(match.positions[0]), "moves": entries, "undone": ahead})


def _changing(change: Callable[[ServedGame, Match, dict[str, str]], Match], *keys: str) -> Endpoint:
    """An endpoint that changes the session's match, or refuses to: then no session is begun."""

    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        body = await read_object(request, *keys)
        match = change(served, _session_match(request, served), body)
        sessions: Sessions = request.app.state.sessions
        token = request.cookies.get(COOKIE)
        games = sessions.find(token)
        if games is None or token is None:
            token, games = sessions.begin()
        games[served.game.identity] = match
        answer = Answer(_game_answer(served, match))
        answer.set_cookie(COOKIE, token, max_age=int(MAX_IDLE_SECONDS), httponly=True, samesite="strict")
        return answer

    return endpoint


def _play(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    result = match.result
    if result is not None and result.repetition:
        raise Refusal(409, "the game is over: this position stands for the third time, which is a draw")
    if len(match.moves) >= MAX_MOVES:
        raise Refusal(409, f"a game has at most {MAX_MOVES:,} moves here: reset it")
    match.play_names([body["move"]])
    return match


def _undo(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    if not match.moves:
        raise Refusal(409, "there is no move to take back")
    match.undo()
    return match


def _redo(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    if not match.undone:
        raise Refusal(409, "there is no move to play again")
    match.redo()
    return match


def _reset(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    return Match(served.game)


def _import(served: ServedGame, match: Match, body: dict[str, str]) -> Match:
    return Match(served.game, start=read_position(served, body["position"]))


# ---- solving ----


async def solve_progress(request: Request) -> Response:
    return Answer(_solve_json(served_game(request)))


async def start_solve(request: Request) -> Response:
    served = served_game(request)
    await read_object(request)
    if not request.app.state.may_solve:
        raise Refusal(403, "this server is open to other machines, so a solve is started on its own machine only")
    if served.table is not None and not served.table.complete:
        raise Refusal(409, f"the table is unfinished: resume it with `{served.table.resume_command}`")
    if served.table is not None:
        raise Refusal(409, f"{served.game.name} is solved already")
    library: Library = request.app.state.library
    if library.start_solving(served) is None:
        raise Refusal(409, "a game is being solved already: one at a time")
    return Answer(_solve_json(served), 202)


async def stop_solve(request: Request) -> Response:
    served = served_game(request)
    if served.job is None or not served.solving:
        raise Refusal(409, "nothing is being solved")
    await run_in_threadpool(served.job.stop)
    return Answer(_solve_json(served))


def _solve_json(served: ServedGame) -> JSON:
    if served.job is None or (served.table is not None and not served.solving):
        return {"state": "done" if served.table else "unsolved", "command": served.game.solve_command()}
    return served.job.report()


def _game_route(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
    return Route("/api/{game}/" + path, endpoint, methods=[method])


ROUTES = [
    Route("/api/games", games),
    Route("/api/openapi.json", openapi),
    # The most asked for first: routes are tried in order.
    _game_route("moves/evaluated", _about(_needs_table(answers.moves_answer))),
    _game_route("position", _about(answers.position_answer)),
    _game_route("evaluate", _about(_needs_table(answers.evaluation))),
    _game_route("best-move", _about(_needs_table(answers.best_move))),
    _game_route("line", _about(_needs_table(answers.best_line))),
    _game_route("moves", _about(_moves)),
    _game_route("state/export", _about(_export)),
    _game_route("check", check),
    _game_route("game", current_game),
    _game_route("history", history),
    _game_route("move", _changing(_play, "move"), "POST"),
    _game_route("reset", _changing(_reset), "POST"),
    _game_route("undo", _changing(_undo), "POST"),
    _game_route("redo", _changing(_redo), "POST"),
    _game_route("state/import", _changing(_import, "position"), "POST"),
    _game_route("solve", solve_progress),
    _game_route("solve", start_solve, "POST"),
    _game_route("solve", stop_solve, "DELETE"),
]
