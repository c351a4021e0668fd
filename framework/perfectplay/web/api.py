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
from perfectplay.web import answers
from perfectplay.web.library import Library, Served
from perfectplay.web.openapi import description
from perfectplay.web.requests import Answer, Refusal, asked_position, read_object, read_position, served_game
from perfectplay.web.sessions import MAX_IDLE_SECONDS, MAX_MOVES, PlayedGame, Sessions

COOKIE = "perfectplay_session"

JSON = dict[str, Any]
Endpoint = Callable[[Request], Awaitable[Response]]


# ---- games ----


async def games(request: Request) -> Response:
    library: Library = request.app.state.library
    found = [_game_json(served) for served in library.games.values()]
    broken = [{"name": name, "state": "broken", "reason": reason} for name, reason in library.broken.items()]
    return Answer({"games": [*found, *broken]})


def _game_json(served: Served) -> JSON:
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


def _about(answer: Callable[[Served, int], JSON]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        position = asked_position(request, served)
        return Answer(answer(served, _session_game(request, served).position if position is None else position))

    return endpoint


def _needs_table(answer: Callable[[Served, int], JSON]) -> Callable[[Served, int], JSON]:
    def checked(served: Served, position: int) -> JSON:
        if served.table is None:
            raise Refusal(
                409, f"there is no table of {served.game.identity} yet: run `{served.game.solve_command()}` first"
            )
        return answer(served, position)

    return checked


def _moves(served: Served, position: int) -> JSON:
    moves = answers.position_answer(served, position)["moves"]
    shown = [{"move": move["move"], "from": move["source"], "to": move["target"], "id": move["id"]} for move in moves]
    return {"game": served.game.identity, "id": str(position), "moves": sorted(shown, key=lambda move: move["move"])}


def _export(served: Served, position: int) -> JSON:
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


def _session_game(request: Request, served: Served) -> PlayedGame:
    sessions: Sessions = request.app.state.sessions
    games = sessions.find(request.cookies.get(COOKIE)) or {}
    return games.get(served.game.identity) or PlayedGame(served.start)


def _game_answer(served: Served, played: PlayedGame) -> JSON:
    game, position = served.game, played.position
    board = game.board(position)
    result = answers.result(game, position, board)
    if result is None and played.repeated:
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
        "ply": len(played.moves),
        "can_undo": bool(played.moves),
        "can_redo": bool(played.undone),
    }


async def current_game(request: Request) -> Response:
    served = served_game(request)
    position = asked_position(request, served)
    played = _session_game(request, served) if position is None else PlayedGame(position)
    return Answer(_game_answer(served, played))


async def history(request: Request) -> Response:
    served = served_game(request)
    played = _session_game(request, served)
    entries = []
    before = answers.value_of(served, played.start)
    for ply, each in enumerate(played.moves, start=1):
        after = answers.value_of(served, each.after)
        worth = None if after is None else after.for_parent()
        entries.append(
            {
                "ply": ply,
                "move": served.game.format_move(each.before, each.move),
                "id": str(each.after),
                **answers.value_json(worth),
                "changed_outcome": bool(before and worth and before.outcome is not worth.outcome),
            }
        )
        before = after
    undone = [served.game.format_move(each.before, each.move) for each in reversed(played.undone)]
    return Answer({"game": served.game.identity, "start": str(played.start), "moves": entries, "undone": undone})


def _changing(change: Callable[[Served, PlayedGame, dict[str, str]], None], *keys: str) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        served = served_game(request)
        body = await read_object(request, *keys)
        sessions: Sessions = request.app.state.sessions
        token = None
        games = sessions.find(request.cookies.get(COOKIE))
        played = (games or {}).get(served.game.identity) or PlayedGame(served.start)
        change(served, played, body)  # may refuse: then no session is begun
        if games is None:
            token, games = sessions.begin()
        games[served.game.identity] = played
        answer = Answer(_game_answer(served, played))
        if token is not None:
            answer.set_cookie(COOKIE, token, max_age=int(MAX_IDLE_SECONDS), httponly=True, samesite="strict")
        return answer

    return endpoint


def _play(served: Served, played: PlayedGame, body: dict[str, str]) -> None:
    if played.repeated:
        raise Refusal(409, "the game is over: this position stands for the third time, which is a draw")
    if len(played.moves) >= MAX_MOVES:
        raise Refusal(409, f"a game has at most {MAX_MOVES:,} moves here: reset it")
    move = served.game.parse_move(played.position, body["move"])
    played.play(move, served.game.apply(played.position, move))


def _undo(served: Served, played: PlayedGame, body: dict[str, str]) -> None:
    if not played.undo():
        raise Refusal(409, "there is no move to take back")


def _redo(served: Served, played: PlayedGame, body: dict[str, str]) -> None:
    if not played.redo():
        raise Refusal(409, "there is no move to play again")


def _reset(served: Served, played: PlayedGame, body: dict[str, str]) -> None:
    _begin_at(played, served.start)


def _import(served: Served, played: PlayedGame, body: dict[str, str]) -> None:
    _begin_at(played, read_position(served, body["position"]))


def _begin_at(played: PlayedGame, position: int) -> None:
    played.start = position
    played.moves.clear()
    played.undone.clear()


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


def _solve_json(served: Served) -> JSON:
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
